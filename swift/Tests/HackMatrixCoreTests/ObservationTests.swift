/// Rules O1–O4.

import TestBoards
import Testing

@testable import HackMatrixCore

private let grid = Observation.player.features.count + Program.allCases.count
private let channels = 19 + Program.allCases.count
/// The channel after those of the programs.
private let spawn = 12 + Program.allCases.count

/// The observation as exact small integers.
private func observe(_ game: Game) -> [UInt8] {
    var output = [UInt8](repeating: 0xFF, count: Observation.size)
    var marks = MarkSet()
    output.withUnsafeMutableBufferPointer { game.observe(into: $0, marks: &marks) }
    return output
}

/// The features of one cell that are not 0.
private func features(_ observation: [UInt8], _ cell: Cell) -> [Int: UInt8] {
    let start = grid + channels * cell.index
    return (0..<channels).reduce(into: [:]) { found, feature in
        if observation[start + feature] != 0 { found[feature] = observation[start + feature] }
    }
}

@Test func `O: the values and their divisors`() {
    #expect(Observation.size == grid + 36 * channels && Observation.divisors.count == Observation.size)
    #expect(Array(Observation.divisors[..<10]) == [5, 5, 3, 50, 50, 7, 10, 2, 1, 1])
    #expect(Observation.divisors[10..<grid].allSatisfy { $0 == 1 })
    let cell = Array(Observation.divisors[grid..<(grid + channels)])
    let expected: [Int: UInt8] = [4: 3, 10: 9, spawn: 9, spawn + 1: 4, spawn + 2: 3, spawn + 3: 3]
    #expect(cell.enumerated().allSatisfy { $0.element == expected[$0.offset] ?? 1 })
    #expect(Array(Observation.divisors[(Observation.size - channels)...]) == cell)
}

@Test func `O1, O2: the player and its programs, capped`() {
    let game = emptyGame(player: at(4, 1)) { now in
        now.own(.push, .hack, credits: 60, energy: 7)
        now.player.dataSiphons = Amount(12)
        now.player.attackDamage = 3
        now.player.hp = 2
        now.stage = 9
        now.scheduledTasksDisabled = true
    }
    let values = observe(game)
    #expect(Array(values[..<10]) == [4, 1, 2, 50, 7, 7, 10, 2, 0, 1])
    let owned = Program.allCases.map { [.push, .hack].contains($0) ? UInt8(1) : 0 }
    #expect(Array(values[10..<grid]) == owned)
}

@Test func `O3: what a cell shows`() {
    let game = emptyGame(player: at(0, 0)) { now in
        now.put(.daemon, at(3, 3), hp: 2, stunned: true, origin: Origin(fromSiphon: true))
        now.data(7, at(1, 1), spawnCount: 4)
        now.program(.hack, at(1, 2))
        now.board.siphoned.insert(at(1, 2))
        now.transmit(.virus, at(2, 2), turns: 9)
        now.board.credits[at(2, 3)] = 2
        now.board.energy[at(2, 4)] = 3
        now.board.pickups.insert(at(2, 4))
        now.board.siphonCenters.insert(at(2, 5))
        now.board.siphoned.insert(at(2, 5))
    }
    let values = observe(game)
    #expect(features(values, at(3, 3)) == [1: 1, 4: 2, 5: 1, 6: 1])
    #expect(features(values, at(1, 1)) == [7: 1, 10: 7, spawn: 4])
    #expect(features(values, at(1, 2)) == [8: 1, 11: 1, 12 + Program.hack.place: 1, spawn: 4])
    #expect(features(values, at(2, 2)) == [spawn + 1: 4])
    #expect(features(values, at(2, 3)) == [spawn + 2: 2])
    #expect(features(values, at(2, 4)) == [spawn + 3: 3, spawn + 4: 1])
    #expect(features(values, at(2, 5)) == [spawn + 6: 1])
    #expect(features(values, at(5, 5)) == [spawn + 5: 1])
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
    #expect(features(values, at(4, 4)) == [7: 1, 10: 2, spawn: 2])
    game.now.showActivated = true
    game.now.board.siphoned.insert(at(4, 4))
    values = observe(game)
    #expect(features(values, at(3, 3)) == [3: 1, 4: 2])
    #expect(features(values, at(4, 4)) == [7: 1, 10: 2, 11: 1, spawn: 2, spawn + 2: 3])
}
