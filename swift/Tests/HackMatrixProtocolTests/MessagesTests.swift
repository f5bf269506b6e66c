/// O of the protocol, and its prices. Rule O4, table W.

import TestBoards
import Testing

@testable import HackMatrixCore
@testable import HackMatrixProtocol

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
    game.now.showActivated = true
    let shown = ObservationMessage(game)
    #expect(shown.cells[3][3].enemy?.type == "cryptog" && shown.cryptogHints.isEmpty)
    #expect(shown.cells[4][4].transmission?.enemyType == "virus")
}

@Test func `W: setPrices names prices in thousandths`() throws {
    let command = try JSONText.read(Command.self, from: Array(#"{"action":"setPrices","prices":{"kills":-7}}"#.utf8))
    guard case .setPrices(let changes) = command else { throw ProtocolFault("another command") }
    #expect(changes.thousandths == [Prices.names.firstIndex(of: "kills"): -7])
}

@Test(arguments: [
    (#"{"kill":1}"#, "unknown field prices.kill; the fields are damage_penalty, "),
    (#"{"kills":2147483648}"#, "prices.kills must be an integer from -2147483648 to 2147483647"),
    (#"{"kills":0.5}"#, "prices.kills must be an integer"), (#"{"kills":null}"#, "prices.kills must be an integer"),
    ("[1]", "prices must be an object"), ("null", "prices must be an object"),
])
func `setPrices refuses what is no price`(_ prices: String, fault: String) {
    let text = Array(#"{"action":"setPrices","prices":\#(prices)}"#.utf8)
    let thrown = #expect(throws: ProtocolFault.self) { try JSONText.read(Command.self, from: text) }
    #expect(thrown?.description.hasPrefix(fault) == true)
}

@Test func `a frame of prices has all of them and no more`() throws {
    func read(_ count: Int) throws -> FrameRequest {
        let values = Prices.distinct.thousandths.prefix(count)
        let bytes = values.flatMap { withUnsafeBytes(of: $0.littleEndian, Array.init) }
        return try FrameRequest(.setPrices, from: ByteReader(bytes + (count > 30 ? [0] : [])), games: 0)
    }
    guard case .setPrices(let values) = try read(30) else { throw ProtocolFault("another request") }
    #expect(values == Prices.distinct.thousandths)
    #expect(throws: ProtocolFault.self) { try read(29) }
    #expect(throws: ProtocolFault.self) { try read(31) }
}

@Test func `getRules tells the prices in use`() {
    let told = RulesMessage(.distinct).rewards.prices
    #expect(told["victory"] == [Prices.distinct.victory, Prices.distinct.victoryPerScore])
    #expect(told.values.reduce(0) { $0 + $1.count } == 30 && told.count == Component.allCases.count)
}
