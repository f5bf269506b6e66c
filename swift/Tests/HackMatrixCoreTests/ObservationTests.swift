/// Rules O1–O4.

import Testing

@testable import HackMatrixCore

/// The observation as exact small integers.
private func observe(_ game: Game) -> [UInt8] {
    var output = [UInt8](repeating: 0xFF, count: Observation.size)
    var marks = MarkSet()
    output.withUnsafeMutableBufferPointer { game.observe(into: $0, marks: &marks) }
    return output
}

/// The features of one cell that are not 0.
private func features(_ observation: [UInt8], _ cell: Cell) -> [Int: UInt8] {
    let start = 33 + 42 * cell.index
    return (0..<42).reduce(into: [:]) { found, feature in
        if observation[start + feature] != 0 { found[feature] = observation[start + feature] }
    }
}

@Test func `O: 1545 values with these divisors`() {
    #expect(Observation.size == 1545 && Observation.divisors.count == 1545)
    #expect(Array(Observation.divisors[..<10]) == [5, 5, 3, 50, 50, 7, 10, 2, 1, 1])
    #expect(Observation.divisors[10..<33].allSatisfy { $0 == 1 })
    let cell = Array(Observation.divisors[33..<75])
    let expected: [Int: UInt8] = [4: 3, 10: 9, 35: 9, 36: 4, 37: 3, 38: 3]
    #expect(cell.enumerated().allSatisfy { $0.element == expected[$0.offset] ?? 1 })
    #expect(Array(Observation.divisors[(1545 - 42)...]) == cell)
}

@Test func `O1, O2: the player and its programs, capped`() {
    let game = emptyGame(player: at(4, 1)) { now in
        now.own(.push, .hack, credits: 60, energy: 7)
        now.player.dataSiphons = Amount(12)
        now.player.attack = 3
        now.player.hp = 2
        now.stage = 9
        now.isCalmOn = true
    }
    let values = observe(game)
    #expect(Array(values[..<10]) == [4, 1, 2, 50, 7, 7, 10, 2, 0, 1])
    #expect(values[10] == 1 && values[32] == 1 && values[11..<32].allSatisfy { $0 == 0 })
}

@Test func `O3: what a cell shows`() {
    let game = emptyGame(player: at(0, 0)) { now in
        now.put(.daemon, at(3, 3), hp: 2, stunned: true, origin: Origin(fromSiphon: true))
        now.data(7, at(1, 1), spawn: 4)
        now.program(.hack, at(1, 2))
        now.board.siphoned.insert(at(1, 2))
        now.transmit(.virus, at(2, 2), turns: 9)
        now.board.credits[at(2, 3)] = 2
        now.board.energy[at(2, 4)] = 3
        now.board.pickups.insert(at(2, 4))
        now.board.siphonCentres.insert(at(2, 5))
        now.board.siphoned.insert(at(2, 5))
    }
    let values = observe(game)
    #expect(features(values, at(3, 3)) == [1: 1, 4: 2, 5: 1, 6: 1])
    #expect(features(values, at(1, 1)) == [7: 1, 10: 7, 35: 4])
    #expect(features(values, at(1, 2)) == [8: 1, 11: 1, 34: 1, 35: 4])
    #expect(features(values, at(2, 2)) == [36: 4])
    #expect(features(values, at(2, 3)) == [37: 2])
    #expect(features(values, at(2, 4)) == [38: 3, 39: 1])
    #expect(features(values, at(2, 5)) == [41: 1])
    #expect(features(values, at(5, 5)) == [40: 1])
}

@Test func `O4: hidden cryptogs, question blocks and covered resources`() {
    var game = emptyGame(player: at(0, 0)) { now in
        now.put(.cryptog, at(3, 3))
        now.put(.cryptog, at(0, 3))
        now.data(7, at(1, 1), question: true)
        now.data(2, at(4, 4))
        now.board.credits[at(4, 4)] = 3
    }
    var values = observe(game)
    #expect(features(values, at(3, 3)).isEmpty)
    #expect(features(values, at(0, 3)) == [3: 1, 4: 2])
    #expect(features(values, at(1, 1)) == [9: 1])
    #expect(features(values, at(4, 4)) == [7: 1, 10: 2, 35: 2])
    game.now.isShowOn = true
    game.now.board.siphoned.insert(at(4, 4))
    values = observe(game)
    #expect(features(values, at(3, 3)) == [3: 1, 4: 2])
    #expect(features(values, at(4, 4)) == [7: 1, 10: 2, 11: 1, 35: 2, 37: 3])
}

@Test func `O4: the JSON observation hides what the array hides`() {
    var game = emptyGame(player: at(0, 0)) { now in
        now.put(.cryptog, at(3, 3))
        now.enemies[at(3, 3)]?.lastKnown = at(5, 1)
        now.transmit(.virus, at(4, 4))
        now.data(7, at(1, 1), question: true)
        now.board.credits[at(1, 1)] = 1
    }
    let hidden = ObservationMessage(game)
    #expect(hidden.cells[3][3].enemy == nil && hidden.cryptogHints == [at(5, 1)])
    #expect(hidden.cells[4][4].transmission?.enemyType == nil)
    #expect(hidden.cells[1][1].block?.blockType == "question")
    #expect(hidden.cells[1][1].block?.transmissionSpawnCount == nil && hidden.cells[1][1].credits == nil)
    game.now.isShowOn = true
    let shown = ObservationMessage(game)
    #expect(shown.cells[3][3].enemy?.type == "cryptog" && shown.cryptogHints.isEmpty)
    #expect(shown.cells[4][4].transmission?.enemyType == "virus")
}
