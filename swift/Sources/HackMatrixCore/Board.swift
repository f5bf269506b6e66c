/// The board: cells, directions, sets of cells, blocks. Rules A1–A4.

/// The four directions in their fixed order (A2); `rawValue` is also the index of the move action (M1).
public enum Direction: Int, CaseIterable, Sendable {
    case up, down, left, right
}

/// One of the 36 cells; `index` is 6·row + col, row 0 at the bottom (A1).
public struct Cell: Hashable, Comparable, Sendable {
    public static let side = 6
    public static let count = side * side

    private let storage: UInt8
    public var index: Int { Int(storage) }

    /// - Parameter index: 0…35.
    init(index: Int) {
        storage = UInt8(index)
    }

    /// Nil when the coordinates are off the board.
    public init?(row: Int, col: Int) {
        let range = 0..<Cell.side
        guard range.contains(row), range.contains(col) else { return nil }
        self.init(index: Cell.side * row + col)
    }

    public var row: Int { index / Cell.side }
    public var col: Int { index % Cell.side }

    /// All cells of this cell's row, itself included.
    var wholeRow: CellSet { CellSet(bits: 0b11_1111 << UInt64(Cell.side * row)) }
    /// All cells of this cell's column, itself included.
    var wholeColumn: CellSet { CellSet(bits: CellSet.firstColumn.bits << UInt64(col)) }
    /// The orthogonal neighbours on the board (A2).
    var neighbours: CellSet { CellSet(self).neighbours }
    /// The 8 neighbours on the board.
    var surroundings: CellSet { CellSet(self).surroundings }

    /// The next cell in a direction, nil at the edge.
    func neighbour(_ direction: Direction) -> Cell? {
        CellSet(self).shifted(direction).first
    }

    /// Manhattan distance (A2).
    func distance(to other: Cell) -> Int {
        abs(row - other.row) + abs(col - other.col)
    }

    public static func < (left: Cell, right: Cell) -> Bool { left.storage < right.storage }
}

/// A set of cells, one bit each; iterates in row-major order.
public struct CellSet: Equatable, Sendable {
    static let all = CellSet(bits: 0xF_FFFF_FFFF)
    static let corners = CellSet(bits: 0x8_4000_0021)
    static let firstColumn = CellSet(bits: 0x0_4104_1041)
    static let lastColumn = CellSet(bits: 0x8_2082_0820)

    private(set) var bits: UInt64

    init(bits: UInt64 = 0) {
        self.bits = bits
    }

    init(_ cell: Cell) {
        bits = 1 << UInt64(cell.index)
    }

    var isEmpty: Bool { bits == 0 }
    var count: Int { bits.nonzeroBitCount }
    var first: Cell? { bits == 0 ? nil : Cell(index: bits.trailingZeroBitCount) }

    func contains(_ cell: Cell) -> Bool { bits & CellSet(cell).bits != 0 }
    func isSubset(of other: CellSet) -> Bool { (self - other).isEmpty }

    mutating func insert(_ cell: Cell) { bits |= CellSet(cell).bits }
    mutating func remove(_ cell: Cell) { bits &= ~CellSet(cell).bits }

    static func | (left: CellSet, right: CellSet) -> CellSet { CellSet(bits: left.bits | right.bits) }
    static func & (left: CellSet, right: CellSet) -> CellSet { CellSet(bits: left.bits & right.bits) }
    static func - (left: CellSet, right: CellSet) -> CellSet { CellSet(bits: left.bits & ~right.bits) }
    static func |= (left: inout CellSet, right: CellSet) { left.bits |= right.bits }
    static func -= (left: inout CellSet, right: CellSet) { left.bits &= ~right.bits }

    /// The set moved one step; what would leave the board is dropped.
    func shifted(_ direction: Direction) -> CellSet {
        switch direction {
        case .up: CellSet(bits: bits << 6) & .all
        case .down: CellSet(bits: bits >> 6)
        case .left: CellSet(bits: (self - .firstColumn).bits >> 1)
        case .right: CellSet(bits: (self - .lastColumn).bits << 1)
        }
    }

    /// Every cell that is an orthogonal neighbour of a member.
    var neighbours: CellSet {
        shifted(.up) | shifted(.down) | shifted(.left) | shifted(.right)
    }

    /// The members' 8 neighbours, without the members themselves.
    var surroundings: CellSet {
        let rows = self | shifted(.left) | shifted(.right)
        return (rows | rows.shifted(.up) | rows.shifted(.down)) - self
    }
}

extension CellSet: Sequence {
    public struct Iterator: IteratorProtocol {
        var rest: UInt64

        public mutating func next() -> Cell? {
            guard rest != 0 else { return nil }
            defer { rest &= rest &- 1 }
            return Cell(index: rest.trailingZeroBitCount)
        }
    }

    public func makeIterator() -> Iterator { Iterator(rest: bits) }
    public var underestimatedCount: Int { count }
}

/// What a block gives when it is siphoned (A4).
enum BlockContent: Equatable, Sendable {
    case data(points: UInt8)
    case program(Program)

    /// The default spawn count: the points, or the spawn column of table P.
    var spawn: UInt8 {
        switch self {
        case .data(let points): points
        case .program(let program): program.spawn
        }
    }
}

/// A block (A4). A question block is one whose content is hidden.
struct Block: Equatable, Sendable {
    var content: BlockContent
    var isQuestion: Bool
    var spawn: UInt8
}

/// Everything that belongs to the stage's board (A3) except what moves on it.
struct Board: Equatable, Sendable {
    var blocks = CellMap<Block>()
    var credits = CellMap<UInt8>()
    var energy = CellMap<UInt8>()
    var pickups = CellSet()
    var siphoned = CellSet()
    var siphonCentres = CellSet()
    var exit: Cell

    /// The cells that walking may use: those without a block (A4).
    var open: CellSet { .all - blocks.cells }
}
