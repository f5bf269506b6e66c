/// The player and its counters. Rule A7.

/// A counter in 0…9999 that saturates at both ends (A7).
public struct Amount: Equatable, Comparable, Sendable {
    static let most = 9999

    private(set) var value: Int

    /// Clamps to 0…9999.
    init(_ value: Int) {
        self.value = min(max(value, 0), Amount.most)
    }

    /// Adds at most 9999 and reports whether the counter was cut at 9999.
    mutating func add(_ gain: Int) -> Bool {
        let sum = value + gain
        self = Amount(sum)
        return sum > Amount.most
    }

    /// Takes away, not below 0.
    mutating func spend(_ cost: Int) {
        self = Amount(value - cost)
    }

    public static func < (left: Amount, right: Amount) -> Bool { left.value < right.value }
}

/// The player (A7); owned programs are kept beside it in `Position`.
struct Player: Equatable, Sendable {
    static let maxHP: UInt8 = 3
    static let maxAttack: UInt8 = 3

    var cell: Cell
    var hp = Player.maxHP
    var attack: UInt8 = 1
    var credits = Amount(0)
    var energy = Amount(0)
    var dataSiphons = Amount(0)
    var score = Amount(0)

    /// Whether a cell lies in the player's row or column.
    func sharesLine(with cell: Cell) -> Bool {
        line.contains(cell)
    }

    /// The player's row and column.
    var line: CellSet { cell.wholeRow | cell.wholeColumn }
}
