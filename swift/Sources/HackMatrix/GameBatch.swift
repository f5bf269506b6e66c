/// The games of the binary mode and the rows they give, many of them on all cores. Rules R3, R6 for the games.

import Dispatch
import HackMatrixCore
import HackMatrixProtocol

/// Many games, and the counts of their marks.
struct GameBatch {
    private(set) var games: [Game] = []
    /// The prices of the reward in all games.
    var prices = Prices()
    private(set) var marks = [UInt64](repeating: 0, count: MarkSet.names.count)

    /// The least number of games for which using all cores pays, given the cost of waking and joining them.
    private static let fewestForAllCores = 1024
    /// The number of games that a core plays at a time.
    private static let share = 128

    /// Replaces all games by new ones.
    mutating func open(_ seeds: [UInt64]) {
        games = seeds.map(Game.init(seed:))
        for game in games { game.firedMarks.count(in: &marks) }
    }

    mutating func start(_ number: Int, _ game: Game) {
        games[number] = game
        game.firedMarks.count(in: &marks)
    }

    mutating func set(_ number: Int, _ game: Game) {
        games[number] = game
    }

    mutating func resetMarks() {
        marks = [UInt64](repeating: 0, count: marks.count)
    }

    /// Performs one action in every game and writes the outcomes and the observations after them.
    mutating func step(_ step: StepRequest, into rows: RowWriter) {
        rows.writeHead()
        let prices = prices
        inShares(of: games.count) { range, games, marks in
            for number in range {
                let outcome = games[number].step(step.actions[number], at: prices)
                games[number].firedMarks.count(in: &marks)
                let ends = outcome.isTerminated && step.autoReset[number]
                rows.writeOutcome(number, outcome, EpisodeFacts(games[number]), wasReset: ends)
                if ends {
                    games[number] = games[number].successor(seed: step.seeds?[number])
                    games[number].firedMarks.count(in: &marks)
                }
                rows.writeView(number, games[number], counting: &marks)
            }
        }
    }

    /// Writes the rows of some games as they stand.
    mutating func look(at numbers: [Int], into rows: RowWriter) {
        rows.writeHead()
        inShares(of: numbers.count) { range, games, marks in
            for row in range {
                let game = games[numbers[row]]
                rows.writeOutcome(row, nil, EpisodeFacts(game), wasReset: false)
                rows.writeView(row, game, counting: &marks)
            }
        }
    }

    /// Calls `play` with ranges that split `0..<count`, on all cores if there are many; each counts its own marks.
    private mutating func inShares(
        of count: Int, _ play: @Sendable (Range<Int>, UnsafeMutableBufferPointer<Game>, inout [UInt64]) -> Void
    ) {
        if count < GameBatch.fewestForAllCores {
            return games.withUnsafeMutableBufferPointer { play(0..<count, $0, &marks) }
        }
        let shares = (count + GameBatch.share - 1) / GameBatch.share
        let nothing = [UInt64](repeating: 0, count: marks.count)
        var counted = [[UInt64]](repeating: nothing, count: shares)
        games.withUnsafeMutableBufferPointer { games in
            counted.withUnsafeMutableBufferPointer { counted in
                // no two shares access the same games or counts
                nonisolated(unsafe) let (games, counted) = (games, counted)
                DispatchQueue.concurrentPerform(iterations: shares) { share in
                    let start = share * GameBatch.share
                    play(start..<min(start + GameBatch.share, count), games, &counted[share])
                }
            }
        }
        for own in counted {
            for index in marks.indices { marks[index] &+= own[index] }
        }
    }
}
