/// O of the protocol. Rule O4.

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
