/// Enemies and transmissions. Rules A5, A6.

/// The enemy types in A5's order, which lists of types are drawn in (R5).
public enum EnemyType: UInt8, CaseIterable, Sendable {
    case virus, daemon, glitch, cryptog

    public var name: String {
        switch self {
        case .virus: "virus"
        case .daemon: "daemon"
        case .glitch: "glitch"
        case .cryptog: "cryptog"
        }
    }

    public var maxHP: UInt8 { self == .daemon ? 3 : 2 }
    /// Movement rounds it takes part in each turn (E4).
    public var speed: Int { self == .virus ? 2 : 1 }
    public var entersBlocks: Bool { self == .glitch }
}

/// Where an enemy or transmission came from; kept for its whole life (A5, A6).
struct Origin: Equatable, Sendable {
    static let stage = Origin()

    var fromSiphon = false
    var fromSchedule = false
}

struct Enemy: Equatable, Sendable {
    var type: EnemyType
    var hp: UInt8
    var disabled: UInt8 = 0
    var isStunned = false
    var origin: Origin
    /// Of a cryptog, the cell where it was last seen; nil for every other type.
    var lastKnown: Cell?
}

struct Transmission: Equatable, Sendable {
    var type: EnemyType
    var turnsRemaining: UInt8
    var origin: Origin

    /// The enemy it becomes (E3).
    func enemy(at cell: Cell) -> Enemy {
        Enemy(type: type, hp: type.maxHP, disabled: 1, origin: origin, lastKnown: type == .cryptog ? cell : nil)
    }
}
