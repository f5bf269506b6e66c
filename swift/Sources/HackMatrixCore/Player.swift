/// The player and its counters. Rule A7.

/// A counter that saturates at 0 and at `most` (A7).
public struct Amount: Equatable, Comparable, Sendable {
    public static let most = 9999

    public private(set) var value: Int

    /// Clamps to 0…`most`.
    public init(_ value: Int) {
        self.value = min(max(value, 0), Amount.most)
    }

    /// Adds and reports whether the counter was cut at `most`.
    mutating func add(_ gain: Int) -> Bool {
        let sum = value + gain
        self = Amount(sum)
        return sum > Amount.most
    }

    /// Subtracts, not below 0.
    public mutating func spend(_ cost: Int) {
        self = Amount(value - cost)
    }

    public static func < (left: Amount, right: Amount) -> Bool { left.value < right.value }
}

/// The player (A7); the programs it owns are kept beside it in `Snapshot`.
public struct Player: Equatable, Sendable {
    public static let maxHP: UInt8 = 3
    public static let maxAttackDamage: UInt8 = 3

    public var cell: Cell
    public var hp = Player.maxHP
    public var attackDamage: UInt8 = 1
    public var credits = Amount(0)
    public var energy = Amount(0)
    public var dataSiphons = Amount(0)
    public var score = Amount(0)

    public init(cell: Cell) {
        self.cell = cell
    }

    /// True for a cell in the player's row or column.
    func sharesLine(with cell: Cell) -> Bool {
        line.contains(cell)
    }

    /// The player's row and column.
    var line: CellSet { cell.wholeRow | cell.wholeColumn }
}
