/// Rules C1, C2, C4, M1–M3.

import TestBoards
import Testing

@testable import HackMatrixCore

@Test func `M1: an edge and a block stop a move, an enemy on the block does not`() {
    var game = emptyGame(player: at(0, 2)) { now in
        now.data(1, at(0, 1))
        now.data(1, at(0, 3))
        now.put(.glitch, at(0, 3))
    }
    #expect(game.validActions.indices == [0, 3])
    game.now.board.siphoned.insert(at(0, 1))
    #expect(game.validActions.indices == [0, 3])
    #expect(game.decisiveMark(.move(.down)) == .`M1.edge`)
    #expect(game.decisiveMark(.move(.left)) == .`M1.block`)
    #expect(game.decisiveMark(.move(.right)) == .`M1.enemyOnBlock`)
}

@Test func `M2: a siphon needs only a data siphon`() {
    var game = emptyGame(player: at(0, 0))
    #expect(!game.isValid(.siphon))
    game.now.player.dataSiphons = Amount(1)
    #expect(game.isValid(.siphon))
}

@Test(arguments: Program.allCases)
func `M3: a program needs to be owned and paid`(program: Program) {
    var game = emptyGame(player: at(2, 2)) { now in
        now.own(program, credits: program.column.credits, energy: program.column.energy)
        now.player.hp = 2
        now.put(.virus, at(2, 3))
        now.put(.daemon, at(3, 2))
        now.data(5, at(3, 2))
        now.transmit(.virus, at(0, 0))
        now.board.siphoned.insert(at(5, 0))
    }
    game.history = game.now
    #expect(game.isValid(.program(program)))
    #expect(game.validActions.indices.contains(program.rawValue))
    game.now.ownedPrograms.remove(program)
    #expect(!game.isValid(.program(program)))
    game.now.ownedPrograms.insert(program)
    for (credits, energy) in [(-1, 0), (0, -1)] {
        var poor = game
        poor.now.player.credits = Amount(program.column.credits + credits)
        poor.now.player.energy = Amount(program.column.energy + energy)
        let costsThat = credits < 0 ? program.column.credits > 0 : program.column.energy > 0
        #expect(poor.isValid(.program(program)) == !costsThat)
    }
}

@Test func `M3: on an empty board only these programs apply`() {
    let game = emptyGame(player: at(2, 2)) { now in
        for program in Program.allCases { now.own(program) }
    }
    let programs = game.validActions.indices.filter { $0 >= 5 }.compactMap(Program.init(rawValue:))
    #expect(programs == [.wait, .step, .siphonPlus, .exchange, .show, .calm, .score, .attackPlus])
}

@Test func `M3: switches that are on, spent uses and the last stage`() {
    let game = emptyGame(player: at(2, 2)) { now in
        now.own(.show, .calm, .score, .attackPlus, .reset, .reduce, .crash)
        now.showActivated = true
        now.scheduledTasksDisabled = true
        now.stage = 8
        now.atkPlusUses = 2
        now.data(5, at(2, 3), spawnCount: 0)
        now.data(5, at(5, 0))
        now.board.siphoned.insert(at(5, 0))
    }
    #expect(game.validActions.indices.filter { $0 >= 5 } == [Program.crash.rawValue])
}

@Test func `C1: an invalid action changes nothing, rewards nothing and ends the episode`() {
    var game = emptyGame(player: at(0, 0))
    let before = game
    let outcome = game.step(.move(.down))
    #expect(outcome.isInvalid && outcome.isTerminated && !outcome.died)
    #expect(Component.allCases.allSatisfy { outcome.reward[$0] == 0 })
    #expect(game == before)
    #expect(game.fired(.`C1.invalid`) && game.fired(.`M1.edge`))
    #expect(!game.step(.move(.up)).isInvalid)
}

@Test func `C4: at hp 0 and at stage 9 nothing is valid`() {
    var dead = emptyGame(player: at(2, 2)) { $0.player.hp = 0 }
    #expect(dead.validActions.indices.isEmpty)
    #expect(dead.step(.move(.up)).isInvalid)
    #expect(dead.fired(.`C4.afterEnd`))
    let won = emptyGame(player: at(2, 2)) { $0.stage = 9 }
    #expect(won.validActions.indices.isEmpty)
}

@Test func `C2: only moves, attacks, siphons and WAIT end the turn`() {
    var game = emptyGame(player: at(2, 2)) { now in
        now.own(.show, .wait)
        now.player.dataSiphons = Amount(1)
    }
    game.step(.program(.show))
    #expect(game.turn == 0 && game.fired(.`C2.turnStays`))
    game.step(.program(.wait))
    #expect(game.turn == 1 && game.fired(.`C2.turnEnds`))
    game.step(.siphon)
    #expect(game.turn == 2)
    game.step(.move(.up))
    #expect(game.turn == 3)
}

@Test func `C1: the moves, the siphon, then the programs`() {
    #expect((0..<Action.count).allSatisfy { Action(index: $0) != nil })
    #expect(Action(index: -1) == nil && Action(index: Action.count) == nil)
    #expect(Action(index: 4) == .siphon && Action(index: 5) == .program(.push))
}
