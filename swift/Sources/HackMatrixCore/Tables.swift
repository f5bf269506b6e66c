/// Every table of the rules as this engine holds it, for clients to compare. Table P, A5, table W, O, R5's sites.

/// The version of the rules that this engine implements; it changes whenever a game could differ.
public enum Rules {
    public static let version = "1"
}

/// The answer of `getRules`.
public struct RulesMessage: Encodable, Sendable {
    let rulesVersion = Rules.version
    let actionSpaceSize = Action.count
    let programs = Program.allCases.map(ProgramMessage.init)
    let enemies = EnemyType.allCases.map(EnemyMessage.init)
    let rewards = RewardsMessage()
    let observation = LayoutMessage()
    let stages = (1...Stage.last).map(StageMessage.init)
    let sites = Dictionary(uniqueKeysWithValues: Site.allCases.map { ($0.name, $0.rawValue) })
    let marks = Mark.allCases.map(\.name)

    public init() {}

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
        let stepPenalty = Price.step
        let stageCompletion = (1...Stage.last).map(Price.completion)
        let deathPenalty = (1...Stage.last).map(Price.death)
        let scoreGain = Price.score
        let kill = Price.kill
        let dataSiphon = Price.pickup
        let distanceShaping = Price.approach
        let victory = Price.victory
        let victoryPerScore = Price.victoryScore
        let resourceGain = Price.resource
        let resourceHolding = Price.holding
        let hp = Price.hp
        let siphonQuality = Price.missed
        let siphonDeathPenalty = Price.siphonDeath
        let programWaste = Price.waste
    }

    struct LayoutMessage: Encodable, Sendable {
        let size = Observation.size
        let player = Observation.player.map(FeatureMessage.init)
        let programs = Observation.programs.map(FeatureMessage.init)
        let cell = Observation.cell.map(FeatureMessage.init)
    }

    struct FeatureMessage: Encodable, Sendable {
        let name: String
        let divisor: UInt8

        init(_ feature: Observation.Feature) {
            name = feature.name
            divisor = feature.divisor
        }
    }

    struct StageMessage: Encodable, Sendable {
        let stage: Int
        let transmissions: Int
        let spawnInterval: UInt32

        init(_ stage: Int) {
            self.stage = stage
            transmissions = stage
            spawnInterval = Stage.interval(of: stage)
        }
    }
}
