/// The board: cells, directions, sets of cells, blocks. Rules A1–A4.

/// The four directions in their fixed order (A2); `rawValue` is also the index of the move action (M1).
public enum Direction: Int, CaseIterable, Sendable {
    case up, down, left, right
}

/// A cell of the square board; `index` is `side`·row + col, row 0 at the bottom (A1).
public struct Cell: Hashable, Comparable, Sendable, BitwiseCopyable {
    public static let side = 6
    public static let count = side * side

    @usableFromInline let storage: UInt8
    @inlinable public var index: Int { Int(storage) }

    /// - Parameter index: from 0, below `count`.
    @inlinable public init(index: Int) {
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
    var wholeRow: CellSet { CellSet(bits: CellSet.firstRow.bits << UInt64(Cell.side * row)) }
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
    public static var all: CellSet { CellSet(bits: 1 << UInt64(Cell.count) - 1) }
    public static var corners: CellSet { (firstColumn | lastColumn) & (firstRow | lastRow) }
    static var firstRow: CellSet { CellSet(bits: 1 << UInt64(Cell.side) - 1) }
    /// Dividing the full board by a full row leaves one bit in each row.
    static var firstColumn: CellSet { CellSet(bits: all.bits / firstRow.bits) }
    static var lastColumn: CellSet { CellSet(bits: firstColumn.bits << UInt64(Cell.side - 1)) }
    private static var lastRow: CellSet { CellSet(bits: firstRow.bits << UInt64(Cell.count - Cell.side)) }

    @usableFromInline var bits: UInt64

    public init(bits: UInt64 = 0) {
        self.bits = bits
    }

    @inlinable public init(_ cell: Cell) {
        bits = 1 << UInt64(cell.index)
    }

    public var isEmpty: Bool { bits == 0 }
    public var count: Int { bits.nonzeroBitCount }
    public var first: Cell? { bits == 0 ? nil : Cell(index: bits.trailingZeroBitCount) }

    @inlinable public func contains(_ cell: Cell) -> Bool { bits & CellSet(cell).bits != 0 }
    public func isSubset(of other: CellSet) -> Bool { (self - other).isEmpty }

    public mutating func insert(_ cell: Cell) { bits |= CellSet(cell).bits }
    public mutating func remove(_ cell: Cell) { bits &= ~CellSet(cell).bits }

    public static func | (left: CellSet, right: CellSet) -> CellSet { CellSet(bits: left.bits | right.bits) }
    public static func & (left: CellSet, right: CellSet) -> CellSet { CellSet(bits: left.bits & right.bits) }
    public static func - (left: CellSet, right: CellSet) -> CellSet { CellSet(bits: left.bits & ~right.bits) }
    public static func |= (left: inout CellSet, right: CellSet) { left.bits |= right.bits }
    public static func -= (left: inout CellSet, right: CellSet) { left.bits &= ~right.bits }

    /// The set moved one step; cells that would leave the board are dropped.
    public func shifted(_ direction: Direction) -> CellSet {
        switch direction {
        case .up: CellSet(bits: bits << UInt64(Cell.side)) & .all
        case .down: CellSet(bits: bits >> UInt64(Cell.side))
        case .left: CellSet(bits: (self - .firstColumn).bits >> 1)
        case .right: CellSet(bits: (self - .lastColumn).bits << 1)
        }
    }

    /// Every cell that is an orthogonal neighbour of a member.
    public var neighbours: CellSet {
        shifted(.up) | shifted(.down) | shifted(.left) | shifted(.right)
    }

    /// The members' 8 neighbours, without the members themselves.
    public var surroundings: CellSet {
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

/// The content of a block, received when it is siphoned (A4).
public enum BlockContent: Equatable, Sendable, BitwiseCopyable {
    case data(points: UInt8)
    case program(Program)

    /// The spawn count that a new block has: the points, or the spawn column of table P.
    public var spawnCount: UInt8 {
        switch self {
        case .data(let points): points
        case .program(let program): program.spawn
        }
    }
}

/// A block (A4). A question block is one whose content is hidden.
public struct Block: CellValue {
    public typealias Word = UInt32

    public static let mostPoints: UInt8 = 9
    public static let mostSpawnCount: UInt8 = 9

    public let content: BlockContent
    public var isQuestion: Bool
    public var spawnCount: UInt8

    /// - Parameter spawnCount: that of a new block if it is not given.
    public init(_ content: BlockContent, isQuestion: Bool, spawnCount: UInt8? = nil) {
        self.content = content
        self.isQuestion = isQuestion
        self.spawnCount = spawnCount ?? content.spawnCount
    }
}

/// The stage's board (A3) without the player, enemies and transmissions.
public struct Board: Equatable, Sendable {
    /// The most credits or energy of a cell.
    public static let mostResource: UInt8 = 3

    public var blocks = CellMap<Block>()
    public var credits = CellMap<UInt8>()
    public var energy = CellMap<UInt8>()
    public var pickups = CellSet()
    public var siphoned = CellSet()
    public var siphonCenters = CellSet()
    public var exit: Cell

    public init(exit: Cell) {
        self.exit = exit
    }

    /// The cells that walking may use: those without a block (A4).
    var open: CellSet { .all - blocks.cells }
}
