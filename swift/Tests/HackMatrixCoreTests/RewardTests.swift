/// Table W, W1.

import TestBoards
import Testing

@testable import HackMatrixCore

private let prices = Prices.distinct

@Test func `W1: walking to and fro 100 steps costs the steps alone`() {
    var game = emptyGame(player: at(0, 0)) { $0.nextScheduledTaskTurn = 1000 }
    game.step(.move(.up))
    var total = 0
    for number in 0..<100 {
        total += game.components(.move(number % 2 == 0 ? .down : .up)).values.reduce(0, +)
    }
    #expect(total == 100 * prices.stepPenalty)
}

@Test func `W1: the closest approach pays once, enemies do not block, blocks do`() {
    var game = emptyGame(player: at(5, 0)) { now in
        now.put(.virus, at(4, 3), disabledTurns: 255)
        now.data(1, at(5, 3))
    }
    #expect(game.now.closestApproach == 7)
    #expect(game.components(.move(.right))[.distanceShaping] == prices.distanceShaping)
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
            .stepPenalty: prices.stepPenalty, .stageCompletion: prices.stageCompletion[2],
            .distanceShaping: prices.distanceShaping, .resourceHolding: 11 * prices.resourceHolding,
            .hpRecovery: prices.hpRecovery,
        ])
}

@Test func `W: victory`() {
    var game = emptyGame(player: at(5, 4)) { now in
        now.player.score = Amount(9999)
        now.stage = 8
    }
    let reward = game.step(.move(.right), at: prices).reward
    #expect(reward[.stageCompletion] == prices.stageCompletion[7])
    #expect(reward[.victory] == prices.victory + 9999 * prices.victoryPerScore)
    let others = prices.stepPenalty + prices.stageCompletion[7] + prices.distanceShaping
    #expect(reward.total == reward[.victory] + others)
    #expect(reward.float == Float(reward.total) / 1000)
}

@Test func `W: death`() {
    var game = emptyGame(player: at(0, 1)) { now in
        now.player.hp = 1
        now.stage = 4
        now.put(.daemon, at(1, 0), origin: Origin(fromSiphon: true))
    }
    let outcome = game.step(.move(.left), at: prices)
    #expect(outcome.died && outcome.isTerminated)
    #expect(
        outcome.reward.components == [
            .stepPenalty: prices.stepPenalty, .deathPenalty: prices.deathPenalty[3],
            .damagePenalty: prices.damagePenalty, .siphonDeathPenalty: prices.siphonDeathPenalty,
        ])
}

@Test func `W: a reward is paid at the prices of its step, the game's own where none are given`() {
    var changed = Prices()
    changed.stepPenalty = 7
    #expect(Prices().stepPenalty != 7)
    var game = emptyGame(player: at(2, 2))
    #expect(game.step(.move(.left), at: changed).reward.components == [.stepPenalty: 7])
    #expect(game.step(.move(.left)).reward.components == [.stepPenalty: Prices().stepPenalty])
}

@Test func `W: a component beyond 32 bits is cut there`() {
    var highest = Prices()
    highest.victoryPerScore = Int(Int32.max)
    var game = emptyGame(player: at(5, 4)) { now in
        now.player.score = Amount(2)
        now.stage = 8
    }
    #expect(game.step(.move(.right), at: highest).reward[.victory] == Int(Int32.max))
}

@Test func `W: prices have a place and a name each, in the order of table W`() {
    #expect(Prices.names.count == 30 && Set(Prices.names).count == 30)
    #expect(prices.thousandths == Prices.names.indices.map { 10_007 + 101 * Int32($0) })
    #expect(Prices.names[1] == "stage_completion_1" && prices.stageCompletion[0] == 10_108)
    #expect(Prices.names[29] == "program_waste" && prices.programWaste == 12_936)
    #expect(Component.allCases.flatMap(prices.thousandths(of:)).map(Int32.init) == prices.thousandths)
}

@Test func `W: RESET at hp 2 is a waste, at hp 1 it is not`() {
    func reward(hp: UInt8) -> [Component: Int] {
        var game = emptyGame(player: at(0, 0)) { now in
            now.own(.reset)
            now.player.hp = hp
        }
        return game.components(.program(.reset))
    }
    let paid = [Component.stepPenalty: prices.stepPenalty, .resourceGain: -4 * prices.resourceGain]
    #expect(reward(hp: 2) == paid.merging([.hpRecovery: prices.hpRecovery, .programWaste: prices.programWaste]) { $1 })
    #expect(reward(hp: 1) == paid.merging([.hpRecovery: 2 * prices.hpRecovery]) { $1 })
}

@Test func `W: score and resources of a siphon`() {
    var game = emptyGame(player: at(0, 0)) { now in
        now.player.dataSiphons = Amount(1)
        now.data(9, at(0, 1))
        now.board.energy[at(0, 0)] = 3
    }
    let gained = [Component.scoreGain: 9 * prices.scoreGain, .resourceGain: 3 * prices.resourceGain]
    #expect(game.components(.siphon) == gained.merging([.stepPenalty: prices.stepPenalty]) { $1 })
}

@Test func `W: every component has its own mark`() {
    for component in Component.allCases {
        #expect(MarkSet.names[Mark.allCases.count + component.rawValue] == "W.\(component.name)")
    }
}
