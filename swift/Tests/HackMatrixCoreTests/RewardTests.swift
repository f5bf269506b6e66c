/// Table W, W1.

import TestBoards
import Testing

@testable import HackMatrixCore

@Test func `W1: walking to and fro 100 steps costs exactly one`() {
    var game = emptyGame(player: at(0, 0)) { $0.nextScheduledTaskTurn = 1000 }
    game.step(.move(.up))
    var total = 0
    for number in 0..<100 {
        total += game.components(.move(number % 2 == 0 ? .down : .up)).values.reduce(0, +)
    }
    #expect(total == -1000)
}

@Test func `W1: the closest approach pays once, enemies do not block, blocks do`() {
    var game = emptyGame(player: at(5, 0)) { now in
        now.put(.virus, at(4, 3), disabledTurns: 255)
        now.data(1, at(5, 3))
    }
    #expect(game.now.closestApproach == 7)
    #expect(game.components(.move(.right))[.distanceShaping] == 50)
    #expect(game.now.closestApproach == 6)
    #expect(game.components(.move(.left))[.distanceShaping, default: 0] == 0)
    #expect(game.now.closestApproach == 6)
}

@Test func `W1: without a path nothing is gained and the closest approach stays`() {
    var game = emptyGame(player: at(0, 0)) { now in
        now.data(1, at(4, 5))
        now.data(1, at(5, 4))
    }
    #expect(game.now.closestApproach == 0)
    game.now.closestApproach = 9
    #expect(game.components(.move(.up))[.distanceShaping, default: 0] == 0)
    #expect(game.now.closestApproach == 9 && game.fired(.`W1.noPath`))
}

@Test func `W: completing a stage`() {
    var game = emptyGame(player: at(5, 4)) { now in
        now.player.hp = 1
        now.player.credits = Amount(7)
        now.player.energy = Amount(4)
        now.stage = 3
    }
    #expect(
        game.components(.move(.right)) == [
            .stepPenalty: -10, .stageCompletion: 4000, .distanceShaping: 50, .resourceHolding: 110, .hpRecovery: 1000,
        ])
}

@Test func `W: victory`() {
    var game = emptyGame(player: at(5, 4)) { now in
        now.player.score = Amount(9999)
        now.stage = 8
    }
    let outcome = game.step(.move(.right))
    #expect(outcome.reward[.stageCompletion] == 100_000)
    #expect(outcome.reward[.victory] == 500_000 + 100_000 * 9999)
    #expect(outcome.reward.total == 1_000_500_040)
    #expect(outcome.reward.float == Float(1_000_500_040) / 1000)
}

@Test func `W: death`() {
    var game = emptyGame(player: at(0, 1)) { now in
        now.player.hp = 1
        now.stage = 4
        now.put(.daemon, at(1, 0), origin: Origin(fromSiphon: true))
    }
    let outcome = game.step(.move(.left))
    #expect(outcome.died && outcome.isTerminated)
    #expect(
        outcome.reward.components == [
            .stepPenalty: -10, .deathPenalty: -3500, .damagePenalty: -1000, .siphonDeathPenalty: -10_000,
        ])
}

@Test func `W: the tables as the rules print them`() {
    #expect((1...8).map(Price.stageCompletion) == [1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 100_000])
    #expect((1...8).map(Price.deathPenalty) == [0, -500, -1500, -3500, -7500, -15_500, -31_500, -63_500])
}

@Test func `W: RESET at hp 2 is a waste, at hp 1 it is not`() {
    func reward(hp: UInt8) -> [Component: Int] {
        var game = emptyGame(player: at(0, 0)) { now in
            now.own(.reset)
            now.player.hp = hp
        }
        return game.components(.program(.reset))
    }
    let paid = [Component.stepPenalty: -10, .resourceGain: -200]
    #expect(reward(hp: 2) == paid.merging([.hpRecovery: 1000, .programWaste: -300]) { $1 })
    #expect(reward(hp: 1) == paid.merging([.hpRecovery: 2000]) { $1 })
}

@Test func `W: score and resources of a siphon`() {
    var game = emptyGame(player: at(0, 0)) { now in
        now.player.dataSiphons = Amount(1)
        now.data(9, at(0, 1))
        now.board.energy[at(0, 0)] = 3
    }
    #expect(game.components(.siphon) == [.stepPenalty: -10, .scoreGain: 4500, .resourceGain: 150])
}

@Test func `W: every component has its own mark`() {
    for component in Component.allCases {
        #expect(MarkSet.names[Mark.allCases.count + component.rawValue] == "W.\(component.name)")
    }
}
