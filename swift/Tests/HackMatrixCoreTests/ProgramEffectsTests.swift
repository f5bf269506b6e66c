/// Table P, P-PUSH, P-PULL, P-UNDO, W3.

import TestBoards
import Testing

@testable import HackMatrixCore

/// Runs a program on a board where it may run.
private func running(_ program: Program, player: Cell = at(2, 2), _ change: (inout Snapshot) -> Void) -> Game {
    var game = emptyGame(player: player) { now in
        now.own(program)
        change(&now)
    }
    let outcome = game.step(.program(program))
    #expect(!outcome.isInvalid)
    #expect(game.now.player.credits.value <= 50 - program.column.credits || program == .undo)
    return game
}

@Test func `P-PUSH: the farthest go first, diagonally where they can`() {
    let game = running(.push) { now in
        now.put(.virus, at(2, 3))
        now.put(.daemon, at(2, 4))
        now.put(.glitch, at(3, 3))
        now.put(.cryptog, at(5, 2))
        now.data(1, at(4, 4))
    }
    #expect(game.now.enemies[at(2, 5)]?.type == .daemon)
    #expect(game.now.enemies[at(2, 4)]?.type == .virus)
    #expect(game.now.enemies[at(4, 4)]?.type == .glitch)
    #expect(game.now.enemies[at(5, 2)]?.type == .cryptog)
    #expect(game.fired(.`P-PUSH.ontoBlock`) && game.fired(.`P-PUSH.edge`) && game.fired(.`P-PUSH.stayed`))
}

@Test func `P-PUSH: at an edge the remaining component is taken, and what is taken may be occupied`() {
    let game = running(.push) { now in
        now.put(.virus, at(5, 4))
        now.put(.daemon, at(3, 2))
        now.transmit(.virus, at(4, 2))
    }
    #expect(game.now.enemies[at(5, 5)]?.type == .virus)
    #expect(game.now.enemies[at(3, 2)]?.type == .daemon)
}

@Test func `P-PULL: the nearest go first, never onto the player`() {
    let game = running(.pull) { now in
        now.put(.virus, at(2, 3))
        now.put(.daemon, at(3, 3))
        now.put(.glitch, at(5, 5))
        now.put(.cryptog, at(2, 0))
    }
    #expect(game.now.enemies[at(2, 3)]?.type == .virus)
    #expect(game.now.enemies[at(3, 3)]?.type == .daemon, "of two equally near cells the first, which is taken")
    #expect(game.now.enemies[at(4, 4)]?.type == .glitch)
    #expect(game.now.enemies[at(2, 1)]?.type == .cryptog)
    #expect(game.now.enemies[at(2, 1)]?.lastKnown == at(2, 0), "E9: a pull is no move of its own")
}

@Test func `P-CRASH: everything around goes, the ground stays`() {
    let game = running(.crash) { now in
        now.data(3, at(3, 3))
        now.board.siphoned.insert(at(3, 3))
        now.board.credits[at(3, 3)] = 2
        now.put(.virus, at(1, 1))
        now.put(.virus, at(1, 2), origin: Origin(fromSchedule: true))
        now.transmit(.daemon, at(2, 1))
        now.put(.daemon, at(4, 2))
    }
    #expect(game.now.board.blocks.cells.isEmpty)
    #expect(game.now.movers == cells(at(4, 2)))
    #expect(game.now.board.siphoned == cells(at(3, 3)) && game.now.board.credits[at(3, 3)] == 2)
    #expect(game.events.kills == 2)
}

@Test func `P-WARP: onto a block, and no pickup is taken`() {
    let game = running(.warp) { now in
        now.put(.glitch, at(4, 4))
        now.data(3, at(4, 4))
    }
    #expect(game.now.player.cell == at(4, 4) && game.now.movers.isEmpty && game.events.kills == 1)
    let other = running(.warp) { now in
        now.transmit(.glitch, at(4, 4), origin: Origin(fromSchedule: true))
        now.board.pickups.insert(at(4, 4))
    }
    #expect(other.now.player.dataSiphons.value == 0 && other.now.board.pickups == cells(at(4, 4)))
    #expect(other.events.kills == 0)
}

@Test func `P-WARP: onto the exit completes the stage`() {
    let game = running(.warp) { $0.put(.glitch, at(5, 5)) }
    #expect(game.stage == 2 && game.now.player.cell == at(5, 5) && game.fired(.`P-WARP.exit`))
}

@Test(arguments: 0..<40 as Range<UInt64>)
func `P-POLY: another type, the damage carries over`(seed: UInt64) throws {
    var game = emptyGame(player: at(2, 2), seed: seed) { now in
        now.own(.poly)
        now.put(.daemon, at(4, 4), hp: 1, disabledTurns: 3, stunned: true, origin: Origin(fromSiphon: true))
        now.put(.cryptog, at(0, 4), hp: 1)
        now.put(.virus, at(0, 0))
    }
    game.step(.program(.poly))
    #expect(game.now.enemies[at(4, 4)] == nil, "two hp lost kill every other type")
    #expect(game.events.kills == 1)
    let second = try #require(game.now.enemies[at(0, 4)])
    #expect(second.type != .cryptog && second.hp == second.type.maxHP - 1 && second.lastKnown == nil)
    let third = try #require(game.now.enemies[at(0, 0)])
    #expect(third.type != .virus && third.hp == third.type.maxHP)
    #expect(third.lastKnown == (third.type == .cryptog ? at(0, 0) : nil))
    let word = Draws(seed: seed, eventNumber: 1).word(.poly, 0)
    let others: [EnemyType] = [.daemon, .glitch, .cryptog]
    #expect(third.type == others[Int((UInt64(word) * 3) >> 32)])
}

@Test func `P-DEBUG, P-ROW, P-COL, P-ANTI-V, P-HACK: whom they hit`() {
    let enemies: (inout Snapshot) -> Void = { now in
        now.player.attackDamage = 1
        now.put(.daemon, at(2, 5))
        now.put(.daemon, at(5, 2))
        now.put(.virus, at(4, 4))
        now.put(.glitch, at(0, 0))
        now.data(1, at(0, 0))
        now.board.siphoned.insert(at(5, 2))
    }
    func hurt(_ program: Program) -> CellSet {
        running(program, enemies).now.enemies.cells { $0.hp < $0.type.maxHP && $0.isStunned }
    }
    #expect(hurt(.debug) == cells(at(0, 0)))
    #expect(hurt(.row) == cells(at(2, 5)))
    #expect(hurt(.col) == cells(at(5, 2)))
    #expect(hurt(.antiV) == cells(at(4, 4)))
    #expect(hurt(.hack) == cells(at(5, 2)))
}

@Test func `P-ANTI-V: hits 1 whatever the attack, ROW hits with it`() {
    let antiV = running(.antiV) { now in
        now.player.attackDamage = 3
        now.put(.virus, at(4, 4))
    }
    #expect(antiV.now.enemies[at(4, 4)]?.hp == 1)
    let row = running(.row) { now in
        now.player.attackDamage = 3
        now.put(.daemon, at(2, 4))
    }
    #expect(row.now.enemies.cells.isEmpty && row.events.kills == 1)
}

@Test func `P-D_BOM: the nearest daemon, ties in row-major order, and its surroundings`() {
    let game = running(.dBomb) { now in
        now.put(.daemon, at(4, 2))
        now.put(.daemon, at(0, 2))
        now.put(.virus, at(1, 3))
        now.put(.cryptog, at(0, 1), hp: 1)
    }
    #expect(game.now.enemies.cells == cells(at(4, 2), at(1, 3)))
    #expect(game.now.enemies[at(1, 3)]?.hp == 1 && game.events.kills == 2)
    #expect(game.fired(.`P-D_BOM.tie`))
}

@Test func `P-DELAY: three turns more, at most 255`() {
    let game = running(.delay) { now in
        now.transmit(.virus, at(4, 4), turns: 1)
        now.transmit(.virus, at(4, 5), turns: 254)
    }
    #expect(game.now.transmissions[at(4, 4)]?.turnsRemaining == 4)
    #expect(game.now.transmissions[at(4, 5)]?.turnsRemaining == 255)
}

@Test func `P: counters and switches`() {
    #expect(running(.siphonPlus) { _ in }.now.player.dataSiphons.value == 1)
    let exchange = running(.exchange) { $0.player.energy = Amount(9998) }
    #expect(exchange.now.player.energy.value == 9999 && exchange.now.player.credits.value == 46)
    #expect(exchange.fired(.`A7.saturated`))
    #expect(running(.show) { _ in }.now.showActivated)
    #expect(running(.calm) { _ in }.now.scheduledTasksDisabled)
    #expect(running(.step) { _ in }.now.stepActive)
    #expect(running(.reset) { $0.player.hp = 1 }.hp == 3)
    #expect(running(.score) { $0.stage = 3 }.score == 5)
    let sharp = running(.attackPlus) { _ in }
    #expect(sharp.now.player.attackDamage == 2 && sharp.now.atkPlusUses == 1)
}

@Test func `P-REDUC: only unsiphoned blocks, not below 0`() {
    let game = running(.reduce) { now in
        now.data(5, at(0, 0))
        now.data(5, at(0, 1), spawnCount: 0)
        now.data(5, at(0, 2))
        now.board.siphoned.insert(at(0, 2))
    }
    #expect(game.now.board.blocks[at(0, 0)]?.spawnCount == 4)
    #expect(game.now.board.blocks[at(0, 1)]?.spawnCount == 0)
    #expect(game.now.board.blocks[at(0, 2)]?.spawnCount == 5)
}

@Test func `P-UNDO, W3: the turn comes back whole and doing and undoing earns nothing`() {
    var game = emptyGame(player: at(0, 0)) { now in
        now.own(.undo, .show, credits: 9, energy: 0)
        now.board.pickups.insert(at(0, 1))
        now.stepActive = true
    }
    let before = game.now
    let walked = game.components(.move(.right))
    #expect(game.pickupsSinceHistory.value == 1 && game.history == before)
    game.step(.program(.show))
    let undone = game.components(.program(.undo))
    var restored = before
    restored.player.credits.spend(1)
    #expect(game.now == restored)
    #expect(game.history == nil && game.pickupsSinceHistory.value == 0 && game.eventNumber == 3)
    for component in [Component.dataSiphon, .distanceShaping, .kills] {
        #expect(walked[component, default: 0] + undone[component, default: 0] == 0)
    }
    #expect(walked[.distanceShaping] == Prices.distinct.distanceShaping)
    #expect(walked[.dataSiphon] == Prices.distinct.dataSiphon)
}

@Test func `P-UNDO: the cost is taken from the restored credits, not below 0`() {
    var game = emptyGame(player: at(0, 0)) { now in
        now.own(.undo, credits: 0, energy: 0)
        now.player.dataSiphons = Amount(1)
        now.board.credits[at(0, 0)] = 2
    }
    game.step(.siphon)
    #expect(game.now.player.credits.value == 2)
    game.step(.program(.undo))
    #expect(game.now.player.credits.value == 0 && game.fired(.`P-UNDO.unpaid`))
}

@Test func `P-UNDO: kills of programs count while there is a record, WAIT records before its cost`() {
    var game = emptyGame(player: at(0, 0)) { now in
        now.own(.undo, .wait, .crash)
        now.put(.virus, at(1, 1), disabledTurns: 200)
    }
    game.step(.program(.wait))
    #expect(game.history?.player.energy.value == 50)
    game.step(.program(.crash))
    #expect(game.killsSinceHistory.value == 1)
    #expect(game.components(.program(.undo))[.kills, default: 0] == -Prices.distinct.kills)
    #expect(game.now.player.energy.value == 50 && game.now.enemies.cells == cells(at(1, 1)))
}
