/// The answers of the JSON mode. Field names are the protocol's.

import HackMatrixCore

public struct ResetAnswer: Encodable, Sendable {
    let observation: ObservationMessage
    let seed: UInt64
    let validActions: [Int]

    public init(_ game: Game) {
        observation = ObservationMessage(game)
        seed = game.seed
        validActions = game.validActions.indices
    }
}

public struct StepAnswer: Encodable, Sendable {
    let observation: ObservationMessage
    let reward: Float
    let done: Bool
    let info: InfoMessage
    let validActions: [Int]

    public init(_ game: Game, _ outcome: Outcome) {
        observation = ObservationMessage(game)
        reward = outcome.reward.float
        done = outcome.isTerminated
        info = InfoMessage(outcome)
        validActions = game.validActions.indices
    }
}

public struct SetStateAnswer: Encodable, Sendable {
    let observation: ObservationMessage
    let validActions: [Int]

    public init(_ game: Game) {
        observation = ObservationMessage(game)
        validActions = game.validActions.indices
    }
}

public struct ObservationSpaceAnswer: Encodable, Sendable {
    let gridSize = Cell.side
    let playerFeatures = Observation.player.features.count
    let programFeatures = Observation.programs.count
    let cellFeatures = Observation.cell.features.count

    public init() {}
}
