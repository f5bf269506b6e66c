/// Table W, W1.

import Testing

@testable import HackMatrixCore

@Test func `W1: walking to and fro 100 steps costs exactly one`() {
    var game = emptyGame(player: at(0, 0)) { $0.nextScheduledTurn = 1000 }
    game.step(.move(.up))
    var total = 0
    for number in 0..<100 {
        total += game.components(.move(number % 2 == 0 ? .down : .up)).reduce(0, +)
    }
    #expect(total == -1000)
}

@Test func `W1: the closest approach pays once, enemies do not block, blocks do`() {
    var game = emptyGame(player: at(5, 0)) { now in
        now.put(.virus, at(4, 3), disabled: 255)
        now.data(1, at(5, 3))
    }
    #expect(game.now.closestApproach == 7)
    #expect(game.components(.move(.right))[Component.distanceShaping.rawValue] == 50)
    #expect(game.now.closestApproach == 6)
    #expect(game.components(.move(.left))[Component.distanceShaping.rawValue] == 0)
    #expect(game.now.closestApproach == 6)
}

@Test func `W1: without a path nothing is gained and the closest approach stays`() {
    var game = emptyGame(player: at(0, 0)) { now in
        now.data(1, at(4, 5))
        now.data(1, at(5, 4))
    }
    #expect(game.now.closestApproach == 0)
    game.now.closestApproach = 9
    #expect(game.components(.move(.up))[Component.distanceShaping.rawValue] == 0)
    #expect(game.now.closestApproach == 9 && game.fired(.`W1.noPath`))
}

@Test func `W: completing a stage`() {
    var game = emptyGame(player: at(5, 4)) { now in
        now.player.hp = 1
        now.player.credits = Amount(7)
        now.player.energy = Amount(4)
        now.stage = 3
    }
    #expect(game.components(.move(.right)) == [-10, 4000, 0, 0, 0, 50, 0, 0, 0, 110, 0, 1000, 0, 0, 0])
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
        Component.allCases.map { outcome.reward[$0] }
            == [-10, 0, 0, 0, 0, 0, 0, -3500, 0, 0, -1000, 0, 0, -10_000, 0])
}

@Test func `W: the tables as the rules print them`() {
    #expect((1...8).map(Price.completion) == [1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 100_000])
    #expect((1...8).map(Price.death) == [0, -500, -1500, -3500, -7500, -15_500, -31_500, -63_500])
    #expect(
        Component.allCases.map(\.name) == [
            "step_penalty", "stage_completion", "score_gain", "kills", "data_siphon", "distance_shaping", "victory",
            "death_penalty", "resource_gain", "resource_holding", "damage_penalty", "hp_recovery", "siphon_quality",
            "siphon_death_penalty", "program_waste",
        ])
}

@Test func `W: RESET at hp 2 is a waste, at hp 1 it is not`() {
    func reward(hp: UInt8) -> [Int] {
        var game = emptyGame(player: at(0, 0)) { now in
            now.own(.reset)
            now.player.hp = hp
        }
        return game.components(.program(.reset))
    }
    #expect(reward(hp: 2) == [-10, 0, 0, 0, 0, 0, 0, 0, -200, 0, 0, 1000, 0, 0, -300])
    #expect(reward(hp: 1) == [-10, 0, 0, 0, 0, 0, 0, 0, -200, 0, 0, 2000, 0, 0, 0])
}

@Test func `W: score and resources of a siphon`() {
    var game = emptyGame(player: at(0, 0)) { now in
        now.player.dataSiphons = Amount(1)
        now.data(9, at(0, 1))
        now.board.energy[at(0, 0)] = 3
    }
    #expect(game.components(.siphon) == [-10, 0, 4500, 0, 0, 0, 0, 0, 150, 0, 0, 0, 0, 0, 0])
}

@Test func `W: every component has its own mark`() {
    for component in Component.allCases {
        #expect(Mark(component)?.name == "W.\(component.name)")
    }
}
