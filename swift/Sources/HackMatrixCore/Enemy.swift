/// Enemies and transmissions. Rules A5, A6.

/// The enemy types in A5's order, which lists of types are drawn in (R5).
public enum EnemyType: UInt8, CaseIterable, Sendable, BitwiseCopyable {
    case virus, daemon, glitch, cryptog

    public var name: String { String(describing: self) }
    public var maxHP: UInt8 { self == .daemon ? 3 : 2 }
    /// Movement rounds it takes part in each turn (E4).
    public var speed: Int { self == .virus ? 2 : 1 }
    public var entersBlocks: Bool { self == .glitch }
}

/// The origin of an enemy or transmission, which never changes (A5, A6).
public struct Origin: Equatable, Sendable, BitwiseCopyable {
    public static let stage = Origin()

    public let fromSiphon: Bool
    public let fromSchedule: Bool

    public init(fromSiphon: Bool = false, fromSchedule: Bool = false) {
        self.fromSiphon = fromSiphon
        self.fromSchedule = fromSchedule
    }
}

public struct Enemy: CellValue {
    public typealias Word = UInt64

    public var type: EnemyType
    public var hp: UInt8
    public var disabledTurns: UInt8
    public var isStunned: Bool
    public let origin: Origin
    /// Of a cryptog, the cell where it was last seen; nil for every other type.
    public var lastKnown: Cell?

    public init(
        type: EnemyType, hp: UInt8, disabledTurns: UInt8 = 0, isStunned: Bool = false, origin: Origin,
        lastKnown: Cell? = nil
    ) {
        self.type = type
        self.hp = hp
        self.disabledTurns = disabledTurns
        self.isStunned = isStunned
        self.origin = origin
        self.lastKnown = lastKnown
    }
}

public struct Transmission: CellValue {
    public typealias Word = UInt32

    public let type: EnemyType
    public var turnsRemaining: UInt8
    public let origin: Origin

    public init(type: EnemyType, turnsRemaining: UInt8, origin: Origin) {
        self.type = type
        self.turnsRemaining = turnsRemaining
        self.origin = origin
    }

    /// The enemy it becomes (E3).
    func enemy(at cell: Cell) -> Enemy {
        Enemy(
            type: type, hp: type.maxHP, disabledTurns: 1, origin: origin, lastKnown: type == .cryptog ? cell : nil)
    }
}
