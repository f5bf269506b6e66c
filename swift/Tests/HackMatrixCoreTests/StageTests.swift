/// Rules A1–A3, B1–B8, C6.

import TestBoards
import Testing

@testable import HackMatrixCore

@Test func `A1: cells are numbered row by row from the bottom left`() {
    #expect(at(2, 3).index == 15)
    #expect(Cell(row: 5, col: 5)?.index == 35)
    #expect(Cell(row: 6, col: 0) == nil)
    #expect(Cell(row: 0, col: -1) == nil)
}

@Test func `A2: neighbours stop at the edges`() {
    #expect(at(0, 0).neighbours == cells(at(1, 0), at(0, 1)))
    #expect(at(2, 5).neighbours == cells(at(3, 5), at(1, 5), at(2, 4)))
    #expect(at(5, 0).surroundings == cells(at(5, 1), at(4, 0), at(4, 1)))
    #expect(at(2, 2).surroundings.count == 8)
    #expect(at(3, 3).neighbour(.up) == at(4, 3))
    #expect(at(3, 3).neighbour(.left) == at(3, 2))
    #expect(at(3, 5).neighbour(.right) == nil)
}

@Test(arguments: 0..<200 as Range<UInt64>)
func `B1–B8: what every new game has`(seed: UInt64) {
    let game = Game(seed: seed)
    let now = game.now
    #expect(CellSet.corners.contains(now.player.cell))
    #expect(
        [now.player.credits.value, now.player.energy.value, now.player.dataSiphons.value].sorted().dropLast() == [0, 0])
    #expect(now.player.credits.value == 10 || now.player.energy.value == 11 || now.player.dataSiphons.value == 1)
    #expect(now.board.exit != now.player.cell)
    #expect(now.board.pickups == CellSet.corners - cells(now.player.cell, now.board.exit))
    #expect((5...11).contains(now.board.blocks.cells.count))
    #expect((now.board.blocks.cells & .corners).isEmpty)
    #expect(Stage.isValidPlacement(now.board.blocks.cells, exit: now.board.exit))
    let resources = now.board.credits.cells | now.board.energy.cells
    #expect(resources == now.board.open - CellSet(now.board.exit))
    #expect((now.board.credits.cells & now.board.energy.cells).isEmpty)
    #expect(now.transmissions.cells.count == 1)
    #expect(now.transmissions.cells.allSatisfy { now.transmissions[$0]?.turnsRemaining == 1 })
    #expect((now.scheduledTaskInterval, now.nextScheduledTaskTurn) == (12, 12))
    #expect(Int(now.closestApproach) == now.distanceToExit)
    let programs = now.board.blocks.cells.compactMap { cell -> Program? in
        if case .program(let program) = now.board.blocks[cell]?.content { program } else { nil }
    }
    #expect(Set(programs).count == programs.count)
}

@Test func `B4: fewer blocks when free cells run out`() {
    var game = emptyGame(player: at(0, 0))
    let free = cells(at(2, 2), at(2, 4), at(4, 2))
    for cell in CellSet.all - free - .corners { game.now.put(.virus, cell) }
    game.generateStage()
    #expect(game.now.board.blocks.cells == free)
    #expect(game.fired(.`B4.fewer`))
}

@Test func `B6: after 100 invalid placements there are no blocks`() {
    var game = emptyGame(player: at(0, 0))
    for cell in CellSet.all - cells(at(0, 1), at(1, 0)) - .corners { game.now.put(.virus, cell) }
    game.generateStage()
    #expect(game.now.board.blocks.cells.isEmpty)
    #expect(game.fired(.`B6.exhausted`))
    #expect(!game.fired(.`B6.valid`))
}

@Test func `B6: what makes a placement invalid`() {
    #expect(Stage.isValidPlacement(cells(at(2, 2)), exit: at(5, 5)))
    #expect(!Stage.isValidPlacement(cells(at(5, 4), at(4, 5)), exit: at(5, 5)), "the exit is walled in")
    #expect(!Stage.isValidPlacement(cells(at(0, 1), at(1, 0)), exit: at(5, 5)), "a corner is cut off")
    #expect(
        !Stage.isValidPlacement(cells(at(4, 4), at(5, 3)), exit: at(5, 5)),
        "a cell can only be reached through the exit")
    #expect(
        !Stage.isValidPlacement(cells(at(2, 2), at(1, 2), at(3, 2), at(2, 1), at(2, 3)), exit: at(5, 5)),
        "a block has no free neighbour")
    #expect(
        Stage.isValidPlacement(cells(at(2, 0), at(2, 1), at(2, 2), at(2, 3), at(2, 4)), exit: at(5, 5)),
        "a gap is enough")
}

@Test func `C3, B2, C5: completing a stage keeps the player, enemies and transmissions and resets the rest`() {
    var game = emptyGame(player: at(5, 4)) { now in
        now.player.hp = 2
        now.player.attackDamage = 3
        now.player.score = Amount(7)
        now.showActivated = true
        now.scheduledTasksDisabled = true
        now.stepActive = true
        now.atkPlusUses = 2
        now.pendingSiphonTransmissions = Amount(4)
        now.turn = 9
        now.put(.virus, at(0, 0))
        now.transmit(.daemon, at(1, 1))
        now.data(3, at(2, 2))
        now.board.siphoned.insert(at(0, 3))
    }
    let outcome = game.step(.move(.right))
    #expect(outcome.completedStage && !outcome.isTerminated)
    #expect(game.stage == 2 && game.hp == 3 && game.turn == 0 && game.score == 7)
    #expect(game.now.player.cell == at(5, 5) && game.now.player.attackDamage == 3)
    #expect(game.now.enemies[at(0, 0)]?.type == .virus)
    #expect(game.now.transmissions[at(1, 1)]?.turnsRemaining == 9)
    #expect(game.now.transmissions.cells.count == 3)
    #expect(!game.now.showActivated && !game.now.scheduledTasksDisabled && !game.now.stepActive)
    #expect(game.now.atkPlusUses == 0 && game.now.pendingSiphonTransmissions.value == 0)
    #expect((game.now.scheduledTaskInterval, game.now.nextScheduledTaskTurn) == (11, 11))
    #expect(game.now.board.siphoned.isEmpty && game.history == nil)
    #expect(game.now.board.exit != at(5, 5) && CellSet.corners.contains(game.now.board.exit))
    #expect(game.fired(.`B2.survivors`) && game.fired(.`B3.occupied`))
}

@Test func `C3: hp stays at 3 and stage 8 ends in victory with the board as it was`() {
    var game = emptyGame(player: at(5, 4)) { now in
        now.stage = 8
        now.data(3, at(2, 2))
        now.showActivated = true
    }
    let outcome = game.step(.move(.right))
    #expect(outcome.won && outcome.isTerminated && outcome.completedStage)
    #expect(game.stage == 9 && game.hp == 3)
    #expect(game.now.board.blocks.cells == cells(at(2, 2)) && game.now.showActivated)
    #expect(game.history?.player.cell == at(5, 4))
    #expect(game.validActions.indices.isEmpty)
}

@Test func `C6: the line of fire ends at the first enemy or block, not at a transmission`() {
    let game = emptyGame(player: at(2, 2)) { now in
        now.put(.virus, at(2, 4))
        now.data(1, at(4, 2))
        now.transmit(.virus, at(1, 2))
    }
    let line = game.now.lineOfFire
    #expect(line == cells(at(2, 3), at(2, 4), at(3, 2), at(4, 2), at(1, 2), at(0, 2), at(2, 1), at(2, 0)))
}

@Test func `C6: covered cells first, then any empty cell, then nothing`() {
    var game = emptyGame(player: at(0, 0))
    let sites = (cell: Site.stageCell, type: Site.stageType)
    for cell in CellSet.all - cells(at(0, 0), at(0, 1), at(3, 3)) { game.now.put(.virus, cell) }
    let both = (0..<3).map { game.spawn(.stage, at: sites, number: $0) }
    #expect(both == [true, true, false])
    #expect(game.now.transmissions.cells == cells(at(0, 1), at(3, 3)))
    #expect(game.fired(.`C6.covered`) && game.fired(.`C6.exposed`) && game.fired(.`C6.dropped`))

    game.now.transmissions[at(0, 1)] = nil
    game.now.transmissions[at(3, 3)] = nil
    _ = game.spawn(.stage, at: sites)
    #expect(game.now.transmissions.cells == cells(at(3, 3)))
}

@Test func `A1: cells have a place each in what is kept for every cell`() {
    #expect(MemoryLayout<PerCell<UInt8>>.size == Cell.count)
    #expect(MemoryLayout<PerCell<UInt32>>.size == 4 * Cell.count)
    var words = PerCell<UInt64>()
    for place in 0..<Cell.count { words[place] = UInt64(place) << 40 }
    #expect((0..<Cell.count).allSatisfy { words[$0] == UInt64($0) << 40 })
    #expect(words.withWords { $0.map { $0 } } == (0..<Cell.count).map { UInt64($0) << 40 })
    #expect(MemoryLayout<Enemy>.size <= MemoryLayout<Enemy.Word>.size)
    #expect(MemoryLayout<Block>.size <= MemoryLayout<Block.Word>.size)
    #expect(MemoryLayout<Transmission>.size <= MemoryLayout<Transmission.Word>.size)
}
