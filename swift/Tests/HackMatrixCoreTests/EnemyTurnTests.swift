/// Rules E1–E12.

import TestBoards
import Testing

@testable import HackMatrixCore

/// The board after an enemy turn.
private func afterTurn(player: Cell = at(0, 0), seed: UInt64 = 0, _ change: (inout Snapshot) -> Void) -> Game {
    var game = emptyGame(player: player, seed: seed, change)
    game.enemyTurn()
    return game
}

@Test func `E1: STEP skips everything once`() {
    let game = afterTurn { now in
        now.stepActive = true
        now.pendingSiphonTransmissions = Amount(2)
        now.transmit(.virus, at(3, 3), turns: 1)
        now.put(.daemon, at(0, 1), stunned: true)
    }
    #expect(!game.now.stepActive && game.turn == 0 && game.hp == 3 && game.now.pendingSiphonTransmissions.value == 2)
    #expect(game.now.transmissions[at(3, 3)]?.turnsRemaining == 1)
    #expect(game.now.enemies[at(0, 1)]?.isStunned == true)
}

@Test func `E2: the turn number wraps at 32 bits`() {
    let game = afterTurn { now in
        now.turn = .max
        now.nextScheduledTaskTurn = .max
    }
    #expect(game.turn == 0 && game.now.movers.isEmpty)
}

@Test func `E3, E12: an arrival is healthy, keeps its origin and cannot act yet`() {
    let game = afterTurn { now in
        now.transmit(.cryptog, at(0, 1), turns: 1, origin: Origin(fromSiphon: true))
        now.transmit(.daemon, at(5, 0), turns: 0)
        now.transmit(.virus, at(4, 4), turns: 2)
    }
    #expect(game.hp == 3)
    #expect(
        game.now.enemies[at(0, 1)]
            == Enemy(type: .cryptog, hp: 2, origin: Origin(fromSiphon: true), lastKnown: at(0, 1)))
    #expect(game.now.enemies[at(5, 0)]?.type == .daemon)
    #expect(game.now.transmissions[at(4, 4)]?.turnsRemaining == 1)
}

@Test func `E4: a virus moves twice, the others once, the disabled and stunned not at all`() {
    let game = afterTurn { now in
        now.put(.virus, at(5, 0))
        now.put(.daemon, at(0, 5))
        now.put(.daemon, at(3, 3), disabledTurns: 2)
        now.put(.virus, at(4, 4), stunned: true)
    }
    #expect(game.now.enemies[at(3, 0)]?.type == .virus)
    #expect(game.now.enemies[at(0, 4)]?.type == .daemon)
    #expect(game.now.enemies[at(3, 3)]?.disabledTurns == 1)
    #expect(game.now.enemies[at(4, 4)]?.isStunned == false)
}

@Test func `E4, E5: a virus attacks once a turn`() {
    let game = afterTurn { now in now.put(.virus, at(0, 1)) }
    #expect(game.hp == 2 && game.now.enemies.cells == cells(at(0, 1)))
    #expect(game.fired(.`E4.attacked`))
    let arriving = afterTurn { now in now.put(.virus, at(0, 2)) }
    #expect(arriving.hp == 2 && arriving.now.enemies.cells == cells(at(0, 1)))
}

@Test func `E5: after hp 0 the turn runs to its end and hp stays 0`() {
    let game = afterTurn { now in
        now.player.hp = 1
        now.put(.daemon, at(0, 1))
        now.put(.daemon, at(1, 0))
        now.put(.daemon, at(5, 5), disabledTurns: 1)
        now.pendingSiphonTransmissions = Amount(1)
    }
    #expect(game.hp == 0 && game.fired(.`E5.lethal`) && game.fired(.`E5.afterDeath`))
    #expect(game.now.enemies[at(5, 5)]?.disabledTurns == 0 && game.now.transmissions.cells.count == 1)
}

@Test func `E6: the only shortest path is taken, around blocks and others`() {
    let game = afterTurn { now in
        now.put(.daemon, at(0, 3))
        now.data(1, at(0, 2))
    }
    #expect(game.now.enemies.cells == cells(at(1, 3)))
    let past = afterTurn { now in
        now.put(.daemon, at(0, 3))
        now.transmit(.virus, at(0, 2))
    }
    #expect(past.now.enemies.cells == cells(at(1, 3)))
}

@Test func `E6: a glitch goes through blocks and prefers them`() {
    for seed in 0..<20 as Range<UInt64> {
        let game = afterTurn(seed: seed) { now in
            now.put(.glitch, at(3, 3))
            now.data(1, at(3, 2))
        }
        #expect(game.now.enemies.cells == cells(at(3, 2)))
    }
}

@Test func `E6, E9: a cryptog prefers cells out of the player's lines; entering one updates its last known cell`() {
    for seed in 0..<20 as Range<UInt64> {
        let game = afterTurn(seed: seed) { now in now.put(.cryptog, at(1, 3)) }
        #expect(game.now.enemies.cells == cells(at(1, 2)), "down would enter the player's row")
        #expect(game.now.enemies[at(1, 2)]?.lastKnown == at(1, 3))
    }
    let game = afterTurn { now in
        now.put(.cryptog, at(1, 3))
        now.data(1, at(1, 2))
    }
    #expect(game.now.enemies[at(0, 3)]?.lastKnown == at(0, 3) && game.fired(.`E9`))
}

@Test func `E6: otherwise the first steps are equally likely, drawn at the mover's cell`() {
    var seen = CellSet()
    for seed in 0..<40 as Range<UInt64> {
        let game = afterTurn(seed: seed) { now in now.put(.daemon, at(3, 3)) }
        let down = (UInt64(Draws(seed: seed, eventNumber: 0).word(.step, 21)) * 2) >> 32 == 0
        #expect(game.now.enemies.cells == cells(down ? at(2, 3) : at(3, 2)))
        seen |= game.now.enemies.cells
    }
    #expect(seen == cells(at(2, 3), at(3, 2)))
}

@Test func `E6: the player's cell ends a path even where it is a block`() {
    let game = afterTurn { now in
        now.data(1, at(0, 0))
        now.put(.daemon, at(0, 3))
    }
    #expect(game.now.enemies.cells == cells(at(0, 2)))
}

@Test func `E7: without a path the others are ignored, and what they occupy is dropped`() {
    let game = afterTurn { now in
        now.put(.daemon, at(0, 1), disabledTurns: 9)
        now.put(.daemon, at(1, 0), disabledTurns: 9)
        now.put(.daemon, at(0, 4))
    }
    #expect(game.now.enemies.cells == cells(at(0, 1), at(1, 0), at(0, 3)))
    #expect(game.fired(.`E7.moved`))
}

@Test func `E8: walled off, an enemy takes the enterable cell nearest to the player, even a farther one`() {
    let walled = afterTurn { now in
        for cell in [at(0, 1), at(1, 0)] { now.data(1, cell) }
        now.put(.daemon, at(3, 3))
    }
    #expect(walled.now.enemies.cells == cells(at(2, 3)), "down comes before left")
    let queue = afterTurn { now in
        for cell in [at(1, 0), at(1, 1), at(1, 2), at(1, 3), at(1, 4)] { now.data(1, cell) }
        now.put(.daemon, at(0, 1), disabledTurns: 9)
        now.put(.daemon, at(0, 2))
    }
    #expect(queue.now.enemies.cells == cells(at(0, 1), at(0, 3)))
    #expect(queue.fired(.`E8.moved`))
}

@Test func `E8: with nowhere to go it stays`() {
    let game = afterTurn { now in
        for cell in [at(0, 4), at(1, 5)] { now.data(1, cell) }
        now.put(.daemon, at(0, 5))
    }
    #expect(game.now.enemies.cells == cells(at(0, 5)) && game.fired(.`E8.stayed`))
}

@Test func `E10: one scheduled transmission, then the interval again`() {
    let game = afterTurn { now in
        now.turn = 11
        now.scheduledTaskInterval = 7
    }
    let cell = game.now.transmissions.cells.first
    let transmission = cell.flatMap { game.now.transmissions[$0] }
    #expect(game.now.transmissions.cells.count == 1)
    #expect(transmission?.origin == Origin(fromSchedule: true) && transmission?.turnsRemaining == 1)
    #expect(game.now.nextScheduledTaskTurn == 19)
    let calm = afterTurn { now in
        now.turn = 11
        now.scheduledTasksDisabled = true
    }
    #expect(calm.now.transmissions.cells.isEmpty && calm.now.nextScheduledTaskTurn == 12 && calm.fired(.`E10.calm`))
}

@Test func `E10, E11: on a full board spawns are dropped for good`() {
    let game = afterTurn { now in
        for cell in CellSet.all - cells(at(0, 0)) { now.put(.daemon, cell, disabledTurns: 9) }
        now.turn = 11
        now.pendingSiphonTransmissions = Amount(9999)
    }
    #expect(game.now.transmissions.cells.isEmpty && game.now.pendingSiphonTransmissions.value == 0)
    #expect(game.now.nextScheduledTaskTurn == 24 && game.fired(.`E10.dropped`))
}

@Test func `E11: pending spawns come out of the line of fire, marked as a siphon's`() {
    let game = afterTurn { now in now.pendingSiphonTransmissions = Amount(3) }
    #expect(game.now.transmissions.cells.count == 3 && game.now.pendingSiphonTransmissions.value == 0)
    for cell in game.now.transmissions.cells {
        #expect(game.now.transmissions[cell]?.origin == Origin(fromSiphon: true))
        #expect(cell.row != 0 && cell.col != 0)
    }
}
