/// S as text and back, for tests.

import Foundation
import HackMatrixCore
import HackMatrixProtocol

/// A game from the JSON text of S.
func game(_ json: String) throws -> Game {
    try JSONDecoder().decode(Game.self, from: Data(json.utf8))
}

/// The sentence with which S is refused, nil when it is accepted.
func refusal(_ json: String) -> String? {
    do {
        _ = try game(json)
        return nil
    } catch {
        return (error as? ProtocolFault)?.description ?? "\(error)"
    }
}

func text(_ game: Game) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return String(decoding: try encoder.encode(game), as: UTF8.self)
}
