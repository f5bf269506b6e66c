/// The bytes of binary frames: reading a request, laying out a reply. docs/protocol.md holds the layout.

import HackMatrixCore

/// Reads a request's little-endian fields from front to back.
struct RequestReader {
    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// - Throws: `ProtocolFault` when the request is too short.
    mutating func integer<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
        let size = MemoryLayout<Number>.size
        let start = place
        try advance(size)
        return bytes.withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(fromByteOffset: start, as: type)) }
    }

    /// - Throws: `ProtocolFault` when fewer than `count` follow.
    mutating func integers<Number: FixedWidthInteger>(_ type: Number.Type, _ count: Int) throws -> [Number] {
        let (size, overflow) = count.multipliedReportingOverflow(by: MemoryLayout<Number>.size)
        guard !overflow, size <= bytes.count - place else { throw RequestReader.short }
        return try (0..<count).map { _ in try integer(type) }
    }

    mutating func text(_ count: Int) throws -> [UInt8] {
        let start = place
        try advance(count)
        return Array(bytes[start..<place])
    }

    /// - Throws: `ProtocolFault` when bytes are left.
    func finish() throws {
        guard place == bytes.count else {
            throw ProtocolFault("the frame goes on after its command; bytes left over: \(bytes.count - place)")
        }
    }

    private mutating func advance(_ count: Int) throws {
        guard count <= bytes.count - place else { throw RequestReader.short }
        place += count
    }

    private static let short = ProtocolFault("the frame ends before its command does")
}

/// A reply without arrays, built from front to back.
struct ReplyWriter {
    private(set) var bytes: [UInt8] = []

    mutating func integer(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
    }

    mutating func text(_ text: [UInt8]) { bytes += text }
}

/// How observations are sent.
enum ObservationMode: UInt32 {
    case none, floats, compact
}

/// The reply that carries one row for each of some games, in a buffer that is used again for the next one.
struct BatchReply {
    static let facts = 5

    /// The frame with its length prefix.
    private(set) var bytes: [UInt8] = []
    private var layout = Layout(rows: 0, mode: .none)
    private var compact = [UInt8](repeating: 0, count: Observation.size)

    private static let divisors = Observation.divisors.map(Float.init)

    /// Byte offsets within the frame.
    private struct Layout: Equatable {
        let rows: Int
        let mode: ObservationMode

        /// After the length prefix, status, rows, mode and a zero that keeps what follows aligned.
        var seeds: Int { 4 + 16 }
        var rewards: Int { seeds + 8 * rows }
        var facts: Int { rewards + 4 * Component.allCases.count * rows }
        var floats: Int { facts + 4 * BatchReply.facts * rows }
        var masks: Int { floats + (mode == .floats ? 4 * Observation.size * rows : 0) }
        var terminated: Int { masks + Action.count * rows }
        var compact: Int { terminated + rows }
        var end: Int { compact + (mode == .compact ? Observation.size * rows : 0) }
    }

    mutating func begin(rows: Int, mode: ObservationMode) {
        let next = Layout(rows: rows, mode: mode)
        if next == layout && !bytes.isEmpty { return }
        layout = next
        bytes = [UInt8](repeating: 0, count: layout.end)
        store(UInt32(layout.end - 4), at: 0)
        store(Status.done.rawValue, at: 4)
        store(UInt32(rows), at: 8)
        store(mode.rawValue, at: 12)
    }

    /// What the step answered; the facts are those of the game before an automatic reset.
    mutating func setOutcome(_ row: Int, _ outcome: Outcome?, of game: Game, wasReset: Bool) {
        for place in 0..<Component.allCases.count {
            store(outcome?.reward[place: place] ?? 0, at: layout.rewards + 4 * (Component.allCases.count * row + place))
        }
        let flags: [Bool] = [
            outcome?.isInvalid ?? false, outcome?.completedStage ?? false, outcome?.died ?? false,
            outcome?.won ?? false, wasReset,
        ]
        let facts = layout.facts + 4 * BatchReply.facts * row
        store(UInt32(game.stage), at: facts)
        store(UInt32(game.score), at: facts + 4)
        store(UInt32(game.hp), at: facts + 8)
        store(game.turn, at: facts + 12)
        store(flags.enumerated().reduce(UInt32(0)) { $0 | ($1.element ? 1 << UInt32($1.offset) : 0) }, at: facts + 16)
        bytes[layout.terminated + row] = outcome?.isTerminated == true ? 1 : 0
    }

    /// What the player sees now.
    mutating func setView(_ row: Int, _ game: Game, marks: inout MarkSet) {
        store(game.seed, at: layout.seeds + 8 * row)
        let mask = game.validActions
        for index in 0..<Action.count {
            bytes[layout.masks + Action.count * row + index] = UInt8(truncatingIfNeeded: mask.bits >> UInt32(index)) & 1
        }
        switch layout.mode {
        case .none: break
        case .floats: setFloats(row, game, &marks)
        case .compact:
            let start = layout.compact + Observation.size * row
            bytes.withUnsafeMutableBufferPointer { bytes in
                game.observe(
                    into: UnsafeMutableBufferPointer(rebasing: bytes[start..<start + Observation.size]), marks: &marks)
            }
        }
    }

    private mutating func setFloats(_ row: Int, _ game: Game, _ marks: inout MarkSet) {
        compact.withUnsafeMutableBufferPointer { game.observe(into: $0, marks: &marks) }
        let start = layout.floats + 4 * Observation.size * row
        bytes.withUnsafeMutableBytes { bytes in
            let floats = UnsafeMutableRawBufferPointer(rebasing: bytes[start..<start + 4 * Observation.size])
                .assumingMemoryBound(to: Float.self)
            for index in 0..<Observation.size {
                floats[index] = Float(compact[index]) / BatchReply.divisors[index]
            }
        }
    }

    private mutating func store(_ number: some FixedWidthInteger & BitwiseCopyable, at offset: Int) {
        bytes.withUnsafeMutableBytes { $0.store(number, at: offset) }
    }
}

/// The first word of every reply.
enum Status: UInt32 {
    case done, refused
}
