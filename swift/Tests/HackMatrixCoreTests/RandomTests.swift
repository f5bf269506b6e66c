/// Rules R2–R6.

import TestBoards
import Testing

@testable import HackMatrixCore

@Test func `R4: Threefry's published known-answer vectors`() {
    #expect(Threefry.block(key: (0, 0), counter: (0, 0)) == (0x6B20_0159, 0x99BA_4EFE))
    #expect(
        Threefry.block(key: (.max, .max), counter: (.max, .max)) == (0x1CB9_96FC, 0xBB00_2BE7))
    #expect(
        Threefry.block(key: (0x1319_8A2E, 0x0370_7344), counter: (0x243F_6A88, 0x85A3_08D3))
            == (0xC492_3A9C, 0x483D_F7A0))
}

@Test func `R4: key and counter are built from seed, event, site and index`() {
    let draws = Draws(seed: 0x0123_4567_89AB_CDEF, eventNumber: 77)
    let pair = Threefry.block(key: (0x89AB_CDEF, 0x0123_4567), counter: (77, 5 * 65_536 + 20))
    #expect(draws.word(.blockCell, 40) == pair.0)
    #expect(draws.word(.blockCell, 41) == pair.1)
}

@Test func `R5: below, uniform cell, distinct cells and order follow the words`() {
    let draws = Draws(seed: 9, eventNumber: 3)
    let set = CellSet.firstColumn | CellSet.lastColumn
    let byWord = set.map { $0 }.sorted { draws.word(.warp, $0.index) < draws.word(.warp, $1.index) }
    #expect(draws.cell(of: set, .warp, offset: 0) == byWord.first)
    #expect(Array(draws.order(of: set, .warp, offset: 0)) == byWord)
    #expect(
        draws.order(of: set, .warp, offset: 0).leading(4) == byWord.prefix(4).reduce(into: CellSet()) { $0.insert($1) })
    for index in 0..<50 {
        let exact = (UInt64(draws.word(.poly, index)) * 3) >> 32
        #expect(draws.below(3, .poly, index) == Int(exact))
    }
    #expect(draws.cell(of: CellSet(), .warp, offset: 0) == nil)
}

@Test func `R5: equal keys are ordered by cell`() {
    #expect(Array(CellList(CellSet.corners) { _ in 7 }) == [at(0, 0), at(0, 5), at(5, 0), at(5, 5)])
}

@Test func `R6: the next seed has the first output as its low word`() {
    let words = Threefry.block(key: (0x89AB_CDEF, 0x0123_4567), counter: (.max, 0))
    let next = Game(seed: 0x0123_4567_89AB_CDEF).successor()
    #expect(next.seed == UInt64(words.0) + UInt64(words.1) << 32)
    #expect(next.fired(.`R6`))
    #expect(Game(seed: 1).successor(seed: 5) == Game(seed: 5))
}

@Test func `R3: only valid actions count as events, and the number wraps`() {
    var game = emptyGame(player: at(0, 0))
    game.step(.siphon)
    #expect(game.eventNumber == 0)
    game.step(.move(.up))
    #expect(game.eventNumber == 1)
    game.eventNumber = .max
    game.step(.move(.up))
    #expect(game.eventNumber == 0)
    #expect(game.fired(.`R3.wrapped`))
}
