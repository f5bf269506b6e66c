/// The rows of a reply, one for each of some games. docs/reference/protocol.md holds the layout.

import HackMatrixCore

/// The facts of an episode that every row holds, in the order of the row.
enum EpisodeFact: Int, CaseIterable {
    case stage, score, hp, turn, flags
}

/// The facts of a game, copied out of it because a game is large and copied whenever it is passed on.
public struct EpisodeFacts {
    let stage, score, hp, turn: UInt32

    public init(_ game: Game) {
        stage = UInt32(game.stage)
        score = UInt32(game.score)
        hp = UInt32(game.hp)
        turn = game.turn
    }
}

/// The offsets of the arrays within the body of a reply with rows, and their sizes in each row, in bytes.
public struct RowLayout: Equatable, Sendable {
    let rows: Int
    let mode: ObservationMode
    /// Status, rows, mode and a zero that keeps the arrays aligned.
    private static let head = 4 * FrameProtocol.wordSize

    let seeds, rewards, facts, floats, masks, terminated, compact: Span
    /// The bytes of the whole body.
    public let size: Int

    /// One array of the body.
    struct Span: Equatable {
        let start: Int
        let rowSize: Int

        func row(_ row: Int) -> Int { start + rowSize * row }
    }

    public init(rows: Int, mode: ObservationMode) {
        self.rows = rows
        self.mode = mode
        var end = RowLayout.head
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
        size = end
    }
}

/// Writes the rows of one reply. Threads may write different rows at the same time.
public struct RowWriter: @unchecked Sendable {
    private let layout: RowLayout
    private let body: UnsafeMutableRawPointer

    /// - Parameter body: `layout.size` bytes, which outlive the writer.
    public init(_ layout: RowLayout, to body: UnsafeMutableRawPointer) {
        self.layout = layout
        self.body = body
    }

    /// Writes the head before the rows.
    public func writeHead() {
        let head = [Status.done.rawValue, UInt32(layout.rows), layout.mode.rawValue, 0]
        for (place, word) in head.enumerated() { store(word, at: FrameProtocol.wordSize * place) }
    }

    /// Writes the outcome of the step; the facts are those of the game before an automatic reset.
    public func writeOutcome(_ row: Int, _ outcome: Outcome?, _ facts: EpisodeFacts, wasReset: Bool) {
        let reward = outcome?.reward ?? Reward()
        reward.withThousandths { thousandths in
            for (place, value) in thousandths.enumerated() {
                store(value, at: layout.rewards.row(row) + MemoryLayout<Int32>.size * place)
            }
        }
        store(.stage, facts.stage, row)
        store(.score, facts.score, row)
        store(.hp, facts.hp, row)
        store(.turn, facts.turn, row)
        store(.flags, RowWriter.flags(outcome, wasReset: wasReset), row)
        store(UInt8(outcome?.isTerminated == true ? 1 : 0), at: layout.terminated.row(row))
    }

    private static func flags(_ outcome: Outcome?, wasReset: Bool) -> UInt32 {
        var flags: UInt32 = wasReset ? 16 : 0
        guard let outcome else { return flags }
        if outcome.isInvalid { flags |= 1 }
        if outcome.completedStage { flags |= 2 }
        if outcome.died { flags |= 4 }
        if outcome.won { flags |= 8 }
        return flags
    }

    /// Writes the seed, the mask and the observation.
    /// - Parameter marks: counts the marks of the O rules.
    public func writeView(_ row: Int, _ game: Game, counting marks: inout [UInt64]) {
        var seen = MarkSet()
        writeView(row, game, &seen)
        seen.count(in: &marks)
    }

    private func writeView(_ row: Int, _ game: Game, _ marks: inout MarkSet) {
        store(game.seed, at: layout.seeds.row(row))
        let mask = game.validActions.bits
        let start = layout.masks.row(row)
        for index in 0..<layout.masks.rowSize {
            store(UInt8(truncatingIfNeeded: mask >> UInt32(index)) & 1, at: start + index)
        }
        switch layout.mode {
        case .none: break
        case .floats: game.observe(into: place(of: Float.self, layout.floats, row), marks: &marks)
        case .compact: game.observe(into: place(of: UInt8.self, layout.compact, row), marks: &marks)
        }
    }

    /// The place of an observation.
    private func place<Number>(
        of type: Number.Type, _ span: RowLayout.Span, _ row: Int
    ) -> UnsafeMutableBufferPointer<Number> {
        let start = body.advanced(by: span.row(row)).assumingMemoryBound(to: Number.self)
        return UnsafeMutableBufferPointer(start: start, count: Observation.size)
    }

    private func store(_ fact: EpisodeFact, _ value: UInt32, _ row: Int) {
        store(value, at: layout.facts.row(row) + MemoryLayout<UInt32>.size * fact.rawValue)
    }

    private func store<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number, at offset: Int) {
        body.storeBytes(of: number.littleEndian, toByteOffset: offset, as: Number.self)
    }
}
