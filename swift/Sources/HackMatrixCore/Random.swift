/// Random draws: every word is a pure function of (seed, event number, site, index). Rules R2–R6.

/// Threefry-2x32 with 20 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11; R4).
enum Threefry {
    /// - Parameters:
    ///   - key: low and high word of the key.
    ///   - counter: first and second word of the counter.
    /// - Returns: the two output words.
    static func block(key: (UInt32, UInt32), counter: (UInt32, UInt32)) -> (UInt32, UInt32) {
        let third = key.0 ^ key.1 ^ 0x1BD1_1BDA
        var x = (counter.0 &+ key.0, counter.1 &+ key.1)
        fourRounds(&x, 13, 15, 26, 6)
        x = (x.0 &+ key.1, x.1 &+ third &+ 1)
        fourRounds(&x, 17, 29, 16, 24)
        x = (x.0 &+ third, x.1 &+ key.0 &+ 2)
        fourRounds(&x, 13, 15, 26, 6)
        x = (x.0 &+ key.0, x.1 &+ key.1 &+ 3)
        fourRounds(&x, 17, 29, 16, 24)
        x = (x.0 &+ key.1, x.1 &+ third &+ 4)
        fourRounds(&x, 13, 15, 26, 6)
        return (x.0 &+ third, x.1 &+ key.0 &+ 5)
    }

    @inline(__always)
    private static func fourRounds(
        _ x: inout (UInt32, UInt32), _ first: UInt32, _ second: UInt32, _ third: UInt32, _ fourth: UInt32
    ) {
        round(&x, first)
        round(&x, second)
        round(&x, third)
        round(&x, fourth)
    }

    @inline(__always)
    private static func round(_ x: inout (UInt32, UInt32), _ rotation: UInt32) {
        x.0 = x.0 &+ x.1
        x.1 = ((x.1 << rotation) | (x.1 >> (32 - rotation))) ^ x.0
    }
}

/// The purpose of a word (the table of R5).
public enum Site: UInt32, CaseIterable, Sendable {
    case start = 1
    case bonus, exit, blockCount, blockCell, question, data, points, program, amount, resource
    case stageCell, stageType, scheduleCell, scheduleType, siphonCell, siphonType
    case warp, poly, order, step

    /// The name in the table of R5, for example "STAGE_CELL".
    public var name: String { Rules.name(of: self).uppercased() }
}

/// The words of one event of one game.
struct Draws: Sendable {
    private let key: (UInt32, UInt32)
    private let eventNumber: UInt32

    init(seed: UInt64, eventNumber: UInt32) {
        key = Draws.key(seed)
        self.eventNumber = eventNumber
    }

    /// The word at an address (R4).
    func word(_ site: Site, _ index: Int) -> UInt32 {
        let pair = pair(site, index / 2)
        return index % 2 == 0 ? pair.0 : pair.1
    }

    /// An integer in 0..<count (R5).
    func below(_ count: Int, _ site: Site, _ index: Int) -> Int {
        Int((UInt64(word(site, index)) * UInt64(count)) >> 32)
    }

    /// The cell of a set with the smallest word at `offset` + cell, ties by cell (R5); nil for an empty set.
    func cell(of cells: CellSet, _ site: Site, offset: Int) -> Cell? {
        var words = RowOfWords(draws: self, site: site)
        var best: (cell: Cell, word: UInt32)?
        for cell in cells {
            let word = words[offset + cell.index]
            if best.map({ word < $0.word }) ?? true { best = (cell, word) }
        }
        return best?.cell
    }

    /// The cells of a set by ascending word at `offset` + cell, ties by cell (R5).
    func order(of cells: CellSet, _ site: Site, offset: Int) -> CellList {
        var words = RowOfWords(draws: self, site: site)
        return CellList(cells) { words[offset + $0.index] }
    }

    /// The seed of the next game if none is given (R6).
    static func successor(of seed: UInt64) -> UInt64 {
        let words = Threefry.block(key: key(seed), counter: (UInt32.max, 0))
        return UInt64(words.1) << 32 | UInt64(words.0)
    }

    private static func key(_ seed: UInt64) -> (UInt32, UInt32) {
        (UInt32(truncatingIfNeeded: seed), UInt32(truncatingIfNeeded: seed >> 32))
    }

    fileprivate func pair(_ site: Site, _ half: Int) -> (UInt32, UInt32) {
        Threefry.block(key: key, counter: (eventNumber, site.rawValue << 16 &+ UInt32(truncatingIfNeeded: half)))
    }
}

/// The words of one site for rising indices; neighbours share a block, which is computed once.
private struct RowOfWords {
    let draws: Draws
    let site: Site
    private var half = -1
    private var words = (UInt32(0), UInt32(0))

    init(draws: Draws, site: Site) {
        self.draws = draws
        self.site = site
    }

    subscript(index: Int) -> UInt32 {
        mutating get {
            if index / 2 != half {
                half = index / 2
                words = draws.pair(site, half)
            }
            return index % 2 == 0 ? words.0 : words.1
        }
    }
}

/// A sequence of cells, stored inline.
struct CellList: Sendable {
    private var indices = PerCell<UInt8>()
    let count: Int

    /// The members of a set by ascending key, ties by cell.
    init(_ cells: CellSet, by key: (Cell) -> UInt32) {
        count = cells.count
        var keys = PerCell<UInt32>()
        indices.withWords { indices in
            keys.withWords { keys in
                for (end, cell) in cells.enumerated() {
                    let own = key(cell)
                    var place = end
                    while place > 0 && keys[place - 1] > own {
                        keys[place] = keys[place - 1]
                        indices[place] = indices[place - 1]
                        place -= 1
                    }
                    keys[place] = own
                    indices[place] = UInt8(cell.index)
                }
            }
        }
    }

    /// The first `length` cells, all when there are fewer, as a set.
    func leading(_ length: Int) -> CellSet {
        var set = CellSet()
        for place in 0..<Swift.min(length, count) { set.insert(Cell(index: Int(indices[place]))) }
        return set
    }
}

extension CellList: RandomAccessCollection {
    var startIndex: Int { 0 }
    var endIndex: Int { count }
    subscript(place: Int) -> Cell { Cell(index: Int(indices[place])) }
}

extension Game {
    /// The words of the current event (R3).
    private var draws: Draws { Draws(seed: seed, eventNumber: eventNumber) }

    /// An integer in 0..<count (R5).
    mutating func below(_ count: Int, _ site: Site, _ index: Int) -> Int {
        fire(.`R5.below`)
        note(site, [index])
        return draws.below(count, site, index)
    }

    /// A uniform cell of a set (R5), nil when it is empty.
    mutating func uniformCell(of cells: CellSet, _ site: Site, offset: Int = 0) -> Cell? {
        fire(.`R5.cell`)
        note(site, cells.map { offset + $0.index })
        return draws.cell(of: cells, site, offset: offset)
    }

    /// `count` distinct cells of a set, all of it when it has no more (R5).
    mutating func distinctCells(_ count: Int, of cells: CellSet, _ site: Site, offset: Int) -> CellSet {
        fire(.`R5.distinct`)
        note(site, cells.map { offset + $0.index })
        return draws.order(of: cells, site, offset: offset).leading(count)
    }

    /// The cells of a set in uniform order (R5).
    mutating func uniformOrder(of cells: CellSet, _ site: Site, offset: Int) -> CellList {
        fire(.`R5.order`)
        note(site, cells.map { offset + $0.index })
        return draws.order(of: cells, site, offset: offset)
    }
}
