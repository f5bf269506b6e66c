/// The reply that carries one row for each of some games. docs/protocol.md holds the layout.

import HackMatrixCore

/// The facts of an episode that every row holds, in the order of the row.
enum EpisodeFact: Int, CaseIterable {
    case stage, score, hp, turn, flags
}

/// The frame, in a buffer that is used again for the next one.
public struct BatchReply {
    /// The frame with its length prefix.
    public private(set) var bytes: [UInt8] = []
    private var layout = Layout(rows: 0, mode: .none)
    private var compact = [UInt8](repeating: 0, count: Observation.size)

    private static let divisors = Observation.divisors.map(Float.init)

    public init() {}

    /// Where the arrays begin within the frame, in bytes, and how much of them each row takes.
    private struct Layout {
        let rows: Int
        let mode: ObservationMode
        /// The prefix: length, status, rows, mode and a zero that keeps what follows aligned in the frame's body.
        static let prefix = 5 * FrameProtocol.wordSize

        let seeds, rewards, facts, floats, masks, terminated, compact: Span
        let end: Int

        /// One array of the frame.
        struct Span {
            let start: Int
            let rowSize: Int

            func row(_ row: Int) -> Int { start + rowSize * row }
            func range(_ row: Int) -> Range<Int> { self.row(row)..<self.row(row + 1) }
        }

        init(rows: Int, mode: ObservationMode) {
            self.rows = rows
            self.mode = mode
            var end = Layout.prefix
            func span<Number>(_ type: Number.Type, _ columns: Int) -> Span {
                let span = Span(start: end, rowSize: MemoryLayout<Number>.size * columns)
                end = span.row(rows)
                return span
            }
            seeds = span(UInt64.self, 1)
            rewards = span(Int32.self, Component.allCases.count)
            facts = span(UInt32.self, EpisodeFact.allCases.count)
            floats = span(Float.self, mode == .floats ? Observation.size : 0)
            masks = span(UInt8.self, Action.count)
            terminated = span(UInt8.self, 1)
            compact = span(UInt8.self, mode == .compact ? Observation.size : 0)
            self.end = end
        }
    }

    public mutating func begin(rows: Int, mode: ObservationMode) {
        if rows == layout.rows && mode == layout.mode && !bytes.isEmpty { return }
        layout = Layout(rows: rows, mode: mode)
        bytes = [UInt8](repeating: 0, count: layout.end)
        let prefix = [UInt32(layout.end - FrameProtocol.wordSize), Status.done.rawValue, UInt32(rows), mode.rawValue]
        for (place, word) in prefix.enumerated() { store(word, at: FrameProtocol.wordSize * place) }
    }

    /// What the step answered; the facts are those of the game before an automatic reset.
    public mutating func setOutcome(_ row: Int, _ outcome: Outcome?, of game: Game, wasReset: Bool) {
        let reward = outcome?.reward ?? Reward()
        reward.withThousandths { thousandths in
            for (place, value) in thousandths.enumerated() {
                store(value, at: layout.rewards.row(row) + MemoryLayout<Int32>.size * place)
            }
        }
        let flags = [
            outcome?.isInvalid ?? false, outcome?.completedStage ?? false, outcome?.died ?? false,
            outcome?.won ?? false, wasReset,
        ]
        store(.stage, UInt32(game.stage), row)
        store(.score, UInt32(game.score), row)
        store(.hp, UInt32(game.hp), row)
        store(.turn, game.turn, row)
        store(.flags, flags.reversed().reduce(0) { 2 * $0 + ($1 ? 1 : 0) }, row)
        bytes[layout.terminated.row(row)] = outcome?.isTerminated == true ? 1 : 0
    }

    /// What the player sees now.
    public mutating func setView(_ row: Int, _ game: Game, marks: inout MarkSet) {
        store(game.seed, at: layout.seeds.row(row))
        let mask = game.validActions.bits
        let start = layout.masks.row(row)
        for index in 0..<layout.masks.rowSize {
            bytes[start + index] = UInt8(truncatingIfNeeded: mask >> UInt32(index)) & 1
        }
        switch layout.mode {
        case .none: break
        case .floats: setFloats(row, game, &marks)
        case .compact:
            let range = layout.compact.range(row)
            bytes.withUnsafeMutableBufferPointer { bytes in
                game.observe(into: UnsafeMutableBufferPointer(rebasing: bytes[range]), marks: &marks)
            }
        }
    }

    private mutating func setFloats(_ row: Int, _ game: Game, _ marks: inout MarkSet) {
        compact.withUnsafeMutableBufferPointer { game.observe(into: $0, marks: &marks) }
        let range = layout.floats.range(row)
        bytes.withUnsafeMutableBytes { bytes in
            let floats = UnsafeMutableRawBufferPointer(rebasing: bytes[range]).assumingMemoryBound(to: Float.self)
            for index in compact.indices {
                floats[index] = Float(compact[index]) / BatchReply.divisors[index]
            }
        }
    }

    private mutating func store(_ fact: EpisodeFact, _ value: UInt32, _ row: Int) {
        store(value, at: layout.facts.row(row) + MemoryLayout<UInt32>.size * fact.rawValue)
    }

    private mutating func store<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number, at offset: Int) {
        bytes.withUnsafeMutableBytes {
            $0.storeBytes(of: number.littleEndian, toByteOffset: offset, as: Number.self)
        }
    }
}
