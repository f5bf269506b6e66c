/// S of the protocol and the ranges of docs/reference/hackmatrix-rules.md.

import HackMatrixProtocol
import TestBoards
import Testing

@testable import HackMatrixCore

@Test func `S: the smallest state takes every default`() throws {
    let game = try game(#"{"player":{"row":1,"col":2}}"#)
    #expect(game == emptyGame(player: at(1, 2)))
    #expect(game.now.closestApproach == 7 && game.hp == 3 && game.stage == 1)
    let later = try HackMatrixProtocolTests.game(#"{"player":{"row":1,"col":2},"stage":4}"#)
    #expect((later.now.scheduledTaskInterval, later.now.nextScheduledTaskTurn) == (9, 9))
}

@Test func `S: defaults of entries`() throws {
    let now = try game(
        """
        {"player":{"row":0,"col":0},
         "enemies":[{"row":1,"col":1,"type":"cryptog","hp":1}],
         "blocks":[{"row":2,"col":0,"type":"data"},{"row":2,"col":2,"type":"question"},
                   {"row":2,"col":4,"type":"question","programType":"atk+","siphoned":true}]}
        """
    ).now
    #expect(now.enemies[at(1, 1)]?.lastKnown == at(1, 1))
    #expect(now.board.blocks[at(2, 0)] == Block(.data(points: 5), isQuestion: false, spawnCount: 5))
    #expect(now.board.blocks[at(2, 2)] == Block(.data(points: 5), isQuestion: true, spawnCount: 5))
    #expect(now.board.blocks[at(2, 4)] == Block(.program(.attackPlus), isQuestion: true, spawnCount: 8))
    #expect(now.board.siphoned == cells(at(2, 4)))
}

@Test func `S: writing and reading a state is the identity, through whole games`() throws {
    for seed in 0..<10 as Range<UInt64> {
        var game = Game(seed: seed &* 0x9E37_79B9_7F4A_7C15)
        for number in 0..<60 {
            let valid = game.validActions.indices
            guard !valid.isEmpty else { break }
            let index = valid[(number * 7919 + Int(seed)) % valid.count]
            game.step(try #require(Action(index: index)))
            #expect(try HackMatrixProtocolTests.game(try text(game)) == game)
        }
    }
}

@Test func `S: numbers are integers, flags are flags, 64-bit seeds are exact`() throws {
    #expect(try game(#"{"player":{"row":3.0,"col":0},"seed":18446744073709551615}"#).seed == .max)
    #expect(try game(#"{"player":{"row":3,"col":0},"seed":9007199254740993}"#).seed == 9_007_199_254_740_993)
    for wrong in ["3.5", "true", "\"3\"", "null", "6", "-1", "1e999", "[]"] {
        #expect(
            refusal(#"{"player":{"row":\#(wrong),"col":0}}"#) == "player.row must be an integer from 0 to 5", "\(wrong)"
        )
    }
    for wrong in ["1", "0", "\"true\"", "null"] {
        #expect(
            refusal(#"{"player":{"row":0,"col":0},"showActivated":\#(wrong)}"#) == "showActivated must be true or false"
        )
    }
    #expect(
        refusal(#"{"player":{"row":0,"col":0},"seed":18446744073709551616}"#)
            == "seed must be an integer from 0 to 18446744073709551615")
}

@Test(arguments: [
    (
        #""enemies":[{"row":0,"col":0,"type":"virus","hp":1}]"#,
        "enemies must not hold an enemy on the player: row 0, col 0"
    ),
    (#""enemies":[{"row":1,"col":0,"type":"virus","hp":3}]"#, "enemies[0].hp must be an integer from 1 to 2"),
    (#""enemies":[{"row":1,"col":0,"type":"virus","hp":0}]"#, "enemies[0].hp must be an integer from 1 to 2"),
    (
        #""enemies":[{"row":1,"col":0,"type":"worm","hp":1}]"#,
        "enemies[0].type must be one of virus, daemon, glitch, cryptog"
    ),
    (
        #""enemies":[{"row":1,"col":0,"type":"virus","hp":1,"lastKnownRow":1,"lastKnownCol":1}]"#,
        "enemies[0].lastKnownRow is only for a cryptog"
    ),
    (
        #""enemies":[{"row":1,"col":0,"type":"virus","hp":1},{"row":1,"col":0,"type":"daemon","hp":1}]"#,
        "enemies must not hold two enemies: row 1, col 0"
    ),
    (
        #""blocks":[{"row":1,"col":0,"type":"data"}],"transmissions":[{"row":1,"col":0,"turnsRemaining":1,"enemyType":"virus"}]"#,
        "transmissions must not hold a transmission on a block: row 1, col 0"
    ),
    (#""blocks":[{"row":5,"col":5,"type":"data"}]"#, "blocks must not hold a block on the exit: row 5, col 5"),
    (#""blocks":[{"row":1,"col":1,"type":"data","points":10}]"#, "blocks[0].points must be an integer from 1 to 9"),
    (
        #""blocks":[{"row":1,"col":1,"type":"question","points":1,"programActionIndex":5}]"#,
        "blocks[0].points does not go with a program"
    ),
    (
        #""blocks":[{"row":1,"col":1,"type":"program","programType":"pull","programActionIndex":5}]"#,
        "blocks[0].programType and programActionIndex name different programs"
    ),
    (
        #""resources":[{"row":5,"col":5,"dataSiphon":true}]"#,
        "resources must not hold a data siphon on the exit: row 5, col 5"
    ),
    (#""exit":{"row":5,"col":4}"#, "exit must be a corner: row and col 0 or 5"),
    (
        #""ownedPrograms":[5,5]"#,
        "ownedPrograms must be a list of distinct action indices from 5 to \(Action.count - 1)"
    ),
    (#""stage":10"#, "stage must be an integer from 1 to 9"),
    (#""killsSinceHistory":1"#, "killsSinceHistory must be 0 without a history"),
    (#""history":{"player":{"row":0,"col":9}}"#, "history.player.col must be an integer from 0 to 5"),
])
func `S: what breaks a rule or a range is refused by name`(fields: String, sentence: String) {
    #expect(refusal(#"{"player":{"row":0,"col":0},\#(fields)}"#) == sentence)
}

@Test func `S: an unknown field is refused, also in the history`() {
    #expect(refusal(#"{"player":{"row":0,"col":0},"stagee":1}"#)?.hasPrefix("unknown field stagee") == true)
    #expect(
        refusal(#"{"player":{"row":0,"col":0},"history":{"player":{"row":0,"col":0},"seed":1}}"#)?
            .hasPrefix("unknown field history.seed") == true)
    #expect(refusal(#"{"stage":1}"#) == "player is missing; it must be an object with row and col")
}

@Test func `S: packed states differ exactly where states do`() {
    var game = Game(seed: 5)
    #expect(game.packed() == Game(seed: 5).packed())
    let before = game.packed()
    game.now.board.credits[at(3, 3)] = 3
    game.now.board.energy[at(3, 3)] = nil
    let changed = game.packed().enumerated().filter { before[$0.offset] != $0.element }.map(\.offset)
    #expect(changed.allSatisfy { [24 + 40 + 3 * 36 + 21, 24 + 40 + 4 * 36 + 21].contains($0) } && !changed.isEmpty)
    game.history = game.now
    let record = game.packed()
    #expect(record[16] == 1 && Array(record[24..<568]) == Array(record[568..<1112]))
}
