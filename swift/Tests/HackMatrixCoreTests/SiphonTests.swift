/// Rules S1–S5, W2.

import TestBoards
import Testing

@testable import HackMatrixCore

@Test func `S1–S5: one siphon over every kind of cell`() {
    var game = emptyGame(player: at(2, 2)) { now in
        now.player.dataSiphons = Amount(2)
        now.data(4, at(3, 2))
        now.program(.crash, at(1, 2), question: true)
        now.board.credits[at(2, 1)] = 3
        now.board.pickups.insert(at(2, 1))
        now.board.energy[at(2, 2)] = 2
        now.board.credits[at(3, 2)] = 1
        now.board.energy[at(2, 3)] = 3
        now.board.siphoned.insert(at(2, 3))
    }
    game.siphon()
    let now = game.now
    #expect(now.player.score.value == 4 && now.ownedPrograms.contains(.crash))
    #expect(now.player.credits.value == 3 && now.player.energy.value == 2)
    #expect(now.pendingSiphonTransmissions.value == 10)
    #expect(now.board.blocks[at(3, 2)] == Block(.data(points: 4), isQuestion: false, spawnCount: 0))
    #expect(now.board.blocks[at(1, 2)] == Block(.program(.crash), isQuestion: false, spawnCount: 0))
    #expect(now.board.credits[at(3, 2)] == 1 && now.board.energy[at(2, 3)] == 3)
    #expect(now.board.credits[at(2, 1)] == nil && now.board.pickups == cells(at(2, 1)))
    #expect(now.board.siphoned == at(2, 2).cross && now.board.siphonCenters == cells(at(2, 2)))
    #expect(now.player.dataSiphons.value == 1)
    #expect((now.scheduledTaskInterval, now.nextScheduledTaskTurn) == (11, 17))
}

@Test func `S5: the interval does not fall below 4`() {
    var game = emptyGame(player: at(0, 0)) { $0.player.dataSiphons = Amount(2) }
    game.now.scheduledTaskInterval = 5
    game.siphon()
    #expect(game.now.scheduledTaskInterval == 4)
    game.siphon()
    #expect(game.now.scheduledTaskInterval == 4 && game.fired(.`S5.floor`) && game.fired(.`S4.centreAgain`))
    game.now.scheduledTaskInterval = 0
    game.now.nextScheduledTaskTurn = .max
    game.siphon()
    #expect(game.now.scheduledTaskInterval == 4 && game.now.nextScheduledTaskTurn == 4)
}

@Test func `S2: an owned program gives nothing new but still spawns`() {
    var game = emptyGame(player: at(0, 0)) { now in
        now.player.dataSiphons = Amount(1)
        now.own(.push, credits: 0, energy: 0)
        now.program(.push, at(0, 1))
    }
    game.siphon()
    #expect(game.now.pendingSiphonTransmissions.value == 4 && game.fired(.`S2.alreadyOwned`))
}

@Test func `W2: the best cell with the same blocks counts, each resource by itself`() {
    var game = emptyGame(player: at(0, 0)) { now in
        now.player.dataSiphons = Amount(1)
        now.board.credits[at(0, 0)] = 1
        now.board.credits[at(4, 1)] = 3
        now.board.credits[at(1, 4)] = 1
        now.board.energy[at(1, 4)] = 2
    }
    #expect(game.components(.siphon)[.siphonQuality, default: 0] == Prices.distinct.siphonQuality * (2 + 2))
}

@Test func `W2: a cell with fewer of one resource is no better`() {
    var game = emptyGame(player: at(0, 0)) { now in
        now.player.dataSiphons = Amount(1)
        now.board.energy[at(0, 0)] = 1
        now.board.credits[at(4, 1)] = 3
    }
    #expect(game.components(.siphon)[.siphonQuality, default: 0] == 0)
    #expect(game.fired(.`W2.best`))
}

@Test func `W2: with points or new programs the better cross must hold the same blocks`() {
    func quality(blockElsewhere: Bool) -> Int {
        var game = emptyGame(player: at(0, 0)) { now in
            now.player.dataSiphons = Amount(1)
            now.data(2, at(0, 1))
            now.board.credits[at(0, 2)] = 3
            if blockElsewhere {
                now.data(2, at(4, 4))
                now.board.energy[at(4, 3)] = 3
            }
        }
        return game.components(.siphon)[.siphonQuality, default: 0]
    }
    let missed = 3 * Prices.distinct.siphonQuality
    #expect(quality(blockElsewhere: false) == missed)
    #expect(quality(blockElsewhere: true) == missed, "equal points at another block do not count")
}

@Test func `W2: on a block the current yield is empty`() {
    var game = emptyGame(player: at(0, 0)) { now in
        now.player.dataSiphons = Amount(1)
        now.data(2, at(0, 0))
        now.board.credits[at(0, 1)] = 3
        now.board.credits[at(4, 4)] = 2
    }
    #expect(game.components(.siphon)[.siphonQuality, default: 0] == Prices.distinct.siphonQuality * 3)
    #expect(game.fired(.`W2.onBlock`) && game.now.player.score.value == 2)
}
