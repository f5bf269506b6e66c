/// Every table of the rules as this engine holds it, for clients to compare. Table P, A5, B2, table W, O, R5's sites.

import HackMatrixCore

/// The answer of `getRules`.
public struct RulesMessage: Encodable, Sendable {
    let rulesVersion = Rules.version
    let actionSpaceSize = Action.count
    let programs = Program.allCases.map(ProgramMessage.init)
    let enemies = EnemyType.allCases.map(EnemyMessage.init)
    let rewards: RewardsMessage
    let observation = LayoutMessage()
    let stages = (1...Stage.last).map(StageMessage.init)
    let sites = Dictionary(uniqueKeysWithValues: Site.allCases.map { ($0.name, $0.rawValue) })
    let marks = MarkSet.names

    /// - Parameter prices: those in use.
    public init(_ prices: Prices) {
        rewards = RewardsMessage(prices)
    }

    struct ProgramMessage: Encodable, Sendable {
        let actionIndex: Int
        let name: String
        let credits: Int
        let energy: Int
        let spawn: UInt8

        init(_ program: Program) {
            actionIndex = program.rawValue
            name = program.name
            credits = program.column.credits
            energy = program.column.energy
            spawn = program.spawn
        }
    }

    struct EnemyMessage: Encodable, Sendable {
        let type: String
        let maxHP: UInt8
        let speed: Int
        let entersBlocks: Bool

        init(_ enemy: EnemyType) {
            type = enemy.name
            maxHP = enemy.maxHP
            speed = enemy.speed
            entersBlocks = enemy.entersBlocks
        }
    }

    /// All in thousandths.
    struct RewardsMessage: Encodable, Sendable {
        let components = Component.allCases.map(\.name)
        let prices: [String: [Int]]

        init(_ prices: Prices) {
            self.prices = Dictionary(
                uniqueKeysWithValues: Component.allCases.map { ($0.name, prices.thousandths(of: $0)) })
        }
    }

    struct LayoutMessage: Encodable, Sendable {
        let size = Observation.size
        let player = Observation.player.features.map(FeatureMessage.init)
        let programs = Observation.programs.map(FeatureMessage.init)
        let cell = Observation.cell.features.map(FeatureMessage.init)
    }

    struct FeatureMessage: Encodable, Sendable {
        let name: String
        let divisor: UInt8

        init(_ feature: Feature) {
            name = feature.name
            divisor = feature.divisor
        }
    }

    struct StageMessage: Encodable, Sendable {
        let stage: Int
        let transmissions: Int
        let scheduledTaskInterval: UInt32

        init(_ stage: Int) {
            self.stage = stage
            transmissions = stage
            scheduledTaskInterval = Stage.scheduledTaskInterval(of: stage)
        }
    }
}
