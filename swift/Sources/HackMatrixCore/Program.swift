/// The programs: names, costs and spawn counts. Table P, M3's action indices, C2; the columns "applicable when" and
/// "effect" are in ProgramEffects.swift.

/// Programs in table order; `rawValue` is the action index.
public enum Program: Int, CaseIterable, Sendable, BitwiseCopyable {
    case push = 5
    case pull, crash, warp, poly, wait, debug, row, col, undo, step, siphonPlus
    case exchange, show, reset, calm, dBomb, delay, antiV, score, reduce, attackPlus, hack

    public static let actionIndices = (Action.count - allCases.count)...(Action.count - 1)
    public static let mostATKPlusUses: UInt8 = 2

    public struct Column: Sendable {
        public let name: String
        public let credits: Int
        public let energy: Int
        public let spawn: UInt8
    }

    /// The program's line of table P.
    public var column: Column {
        switch self {
        case .push: Column(name: "push", credits: 0, energy: 2, spawn: 4)
        case .pull: Column(name: "pull", credits: 0, energy: 2, spawn: 4)
        case .crash: Column(name: "crash", credits: 3, energy: 2, spawn: 6)
        case .warp: Column(name: "warp", credits: 2, energy: 2, spawn: 5)
        case .poly: Column(name: "poly", credits: 1, energy: 1, spawn: 3)
        case .wait: Column(name: "wait", credits: 0, energy: 1, spawn: 1)
        case .debug: Column(name: "debug", credits: 3, energy: 0, spawn: 4)
        case .row: Column(name: "row", credits: 3, energy: 1, spawn: 2)
        case .col: Column(name: "col", credits: 3, energy: 1, spawn: 2)
        case .undo: Column(name: "undo", credits: 1, energy: 0, spawn: 3)
        case .step: Column(name: "step", credits: 0, energy: 3, spawn: 4)
        case .siphonPlus: Column(name: "siph+", credits: 5, energy: 0, spawn: 7)
        case .exchange: Column(name: "exch", credits: 4, energy: 0, spawn: 3)
        case .show: Column(name: "show", credits: 2, energy: 0, spawn: 2)
        case .reset: Column(name: "reset", credits: 0, energy: 4, spawn: 2)
        case .calm: Column(name: "calm", credits: 2, energy: 4, spawn: 6)
        case .dBomb: Column(name: "d_bom", credits: 3, energy: 0, spawn: 4)
        case .delay: Column(name: "delay", credits: 1, energy: 2, spawn: 4)
        case .antiV: Column(name: "anti-v", credits: 3, energy: 0, spawn: 4)
        case .score: Column(name: "score", credits: 0, energy: 5, spawn: 5)
        case .reduce: Column(name: "reduc", credits: 2, energy: 1, spawn: 3)
        case .attackPlus: Column(name: "atk+", credits: 4, energy: 4, spawn: 8)
        case .hack: Column(name: "hack", credits: 2, energy: 2, spawn: 4)
        }
    }

    public var name: String { column.name }
    public var spawn: UInt8 { column.spawn }
    /// The place in table P, from 0.
    var place: Int { rawValue - Program.push.rawValue }
    /// True for programs whose use ends the player's turn (C2).
    var endsTurn: Bool { self == .wait }
}

/// A set of programs, one bit per action index; iterates in table order.
public struct ProgramSet: Equatable, Sendable {
    static let all = Program.allCases.reduce(into: ProgramSet()) { $0.insert($1) }

    public private(set) var bits: UInt32 = 0

    public init() {}

    var isEmpty: Bool { bits == 0 }
    var count: Int { bits.nonzeroBitCount }

    public func contains(_ program: Program) -> Bool { bits & ProgramSet.bit(program) != 0 }
    public mutating func insert(_ program: Program) { bits |= ProgramSet.bit(program) }
    mutating func remove(_ program: Program) { bits &= ~ProgramSet.bit(program) }

    /// The member at a place in table order.
    /// - Parameter place: 0..<count.
    func entry(_ place: Int) -> Program {
        var rest = bits
        for _ in 0..<place { rest &= rest &- 1 }
        return Program(rawValue: rest.trailingZeroBitCount) ?? .push
    }

    private static func bit(_ program: Program) -> UInt32 { 1 << UInt32(program.rawValue) }
}

extension ProgramSet: Sequence {
    public struct Iterator: IteratorProtocol {
        var rest: UInt32

        public mutating func next() -> Program? {
            guard rest != 0 else { return nil }
            defer { rest &= rest &- 1 }
            return Program(rawValue: rest.trailingZeroBitCount)
        }
    }

    public func makeIterator() -> Iterator { Iterator(rest: bits) }
}
