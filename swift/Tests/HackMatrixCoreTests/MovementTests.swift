/// Rules V1–V4.

import TestBoards
import Testing

@testable import HackMatrixCore

@Test func `V1, V2: a move attacks the first enemy in the line and the player stays`() {
    var game = emptyGame(player: at(2, 0)) { now in
        now.put(.daemon, at(2, 4))
        now.put(.virus, at(2, 5))
    }
    game.move(.right)
    #expect(game.now.player.cell == at(2, 0))
    #expect(game.now.enemies[at(2, 4)]?.hp == 2)
    #expect(game.now.enemies[at(2, 4)]?.isStunned == true)
    #expect(game.now.enemies[at(2, 5)]?.hp == 2)
    #expect(game.fired(.`V1.distant`) && game.fired(.`V2.stunned`))
}

@Test func `V1: a block without an enemy stops the search, one with an enemy does not`() {
    var game = emptyGame(player: at(2, 0)) { now in
        now.data(1, at(2, 3))
        now.put(.virus, at(2, 4))
    }
    game.move(.right)
    #expect(game.now.player.cell == at(2, 1))
    #expect(game.fired(.`V1.blockStops`))
    game.now.put(.glitch, at(2, 3))
    game.move(.right)
    #expect(game.now.enemies[at(2, 3)]?.hp == 1)
    #expect(game.now.player.cell == at(2, 1))
}

@Test func `V2: attack damage removes at 0, and one hit destroys a transmission`() {
    var game = emptyGame(player: at(2, 0)) { now in
        now.player.attackDamage = 3
        now.put(.daemon, at(2, 4))
        now.transmit(.virus, at(2, 2))
    }
    game.move(.right)
    #expect(game.now.transmissions.cells.isEmpty && game.now.enemies.cells.count == 1)
    game.move(.right)
    #expect(game.now.enemies.cells.isEmpty)
    #expect(game.events.kills == 2)
}

@Test func `V3: walking takes a pickup but no credits or energy`() {
    var game = emptyGame(player: at(2, 0)) { now in
        now.board.pickups.insert(at(2, 1))
        now.board.credits[at(2, 1)] = 3
    }
    let components = game.components(.move(.right))
    #expect(game.now.player.dataSiphons.value == 1 && game.now.player.credits.value == 0)
    #expect(game.now.board.pickups.isEmpty && game.now.board.credits[at(2, 1)] == 3)
    #expect(components[.dataSiphon, default: 0] == Prices.distinct.dataSiphon)
}

@Test func `V4: scheduled enemies are no kills`() {
    var game = emptyGame(player: at(2, 0)) { now in
        now.player.attackDamage = 3
        now.put(.virus, at(2, 2), origin: Origin(fromSchedule: true))
        now.transmit(.virus, at(4, 0), origin: Origin(fromSiphon: true))
    }
    #expect(game.components(.move(.right))[.kills, default: 0] == 0)
    #expect(game.fired(.`V4.scheduled`))
    #expect(game.components(.move(.up))[.kills, default: 0] == Prices.distinct.kills)
}
