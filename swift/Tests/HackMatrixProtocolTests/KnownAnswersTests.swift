/// The words and whole games that come with the rules.

import Foundation
import HackMatrixProtocol
import TestBoards
import Testing

@testable import HackMatrixCore

private struct KnownAnswers: Decodable {
    struct Word: Decodable {
        let seed: String
        let event: UInt32
        let site: UInt32
        let index: Int
        let word: UInt32
    }

    struct Episode: Decodable {
        let seed: String
        let first: Game
        let actions: [Int]
        let components: [[Int]]
        let last: Game
    }

    let words: [Word]
    let games: [Episode]

    static func load() throws -> KnownAnswers {
        let file = try #require(
            Bundle.module.url(forResource: "known-answers", withExtension: "json", subdirectory: "Fixtures"))
        return try JSONDecoder().decode(KnownAnswers.self, from: Data(contentsOf: file))
    }
}

@Test func `R4: the words that come with the rules`() throws {
    let words = try KnownAnswers.load().words
    #expect(words.count == 5)
    for known in words {
        let seed = try #require(UInt64(known.seed))
        let site = try #require(Site(rawValue: known.site))
        #expect(Draws(seed: seed, eventNumber: known.event).word(site, known.index) == known.word)
    }
}

@Test func `R1: the games that come with the rules, whole`() throws {
    let episodes = try KnownAnswers.load().games
    #expect(episodes.count == 6)
    for episode in episodes {
        var game = Game(seed: try #require(UInt64(episode.seed)))
        #expect(game == episode.first)
        for (number, (index, known)) in zip(episode.actions, episode.components).enumerated() {
            let action = try #require(Action(index: index))
            let reward = game.step(action).reward
            #expect(Component.allCases.map { reward[$0] } == known, "seed \(episode.seed), step \(number)")
        }
        #expect(game == episode.last)
        #expect(try text(game) == text(episode.last))
    }
}
