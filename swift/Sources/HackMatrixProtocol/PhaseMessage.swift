/// The phases of a step as JSON text. docs/reference/protocol.md has their form.

import HackMatrixCore

/// A phase, the complete state after it and the words that it drew.
struct PhaseMessage: Encodable {
    struct Draw: Encodable {
        let event: UInt32
        let site: String
        let index: Int
        let word: UInt32
    }

    let phase: String
    let state: Game
    let draws: [Draw]

    init(_ entry: StepTrace.Entry) {
        phase = entry.phase.rawValue
        state = entry.game
        draws = entry.draws.map { Draw(event: $0.eventNumber, site: $0.site.name, index: $0.index, word: $0.word) }
    }
}
