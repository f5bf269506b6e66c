/// The reward in exact thousandths. Table W, W1, W3; W2 is in Siphon.swift.

/// The 15 components in the order of table W; `name` is the key there.
public enum Component: Int, CaseIterable, Sendable {
    case stepPenalty, stageCompletion, scoreGain, kills, dataSiphon, distanceShaping, victory, deathPenalty
    case resourceGain, resourceHolding, damagePenalty, hpRecovery, siphonQuality, siphonDeathPenalty, programWaste

    public var name: String {
        switch self {
        case .stepPenalty: "step_penalty"
        case .stageCompletion: "stage_completion"
        case .scoreGain: "score_gain"
        case .kills: "kills"
        case .dataSiphon: "data_siphon"
        case .distanceShaping: "distance_shaping"
        case .victory: "victory"
        case .deathPenalty: "death_penalty"
        case .resourceGain: "resource_gain"
        case .resourceHolding: "resource_holding"
        case .damagePenalty: "damage_penalty"
        case .hpRecovery: "hp_recovery"
        case .siphonQuality: "siphon_quality"
        case .siphonDeathPenalty: "siphon_death_penalty"
        case .programWaste: "program_waste"
        }
    }
}

/// The prices of table W in thousandths.
enum Price {
    static let step = -10
    static let score = 500
    static let kill = 300
    static let pickup = 1000
    static let approach = 50
    static let victory = 500_000
    static let victoryScore = 100_000
    static let resource = 50
    static let holding = 10
    static let hp = 1000
    static let missed = -25
    static let siphonDeath = -10_000
    static let waste = -300

    /// For completing stage 1…8.
    static func completion(of stage: Int) -> Int {
        stage < Stage.last ? 1000 << (stage - 1) : 100_000
    }

    /// For dying in a stage: half of what the stages before it gave.
    static func death(in stage: Int) -> Int {
        -(1..<stage).reduce(0) { $0 + completion(of: $1) } / 2
    }
}

/// A reward: 15 integers in thousandths.
public struct Reward: Sendable {
    private var values = InlineArray<15, Int32>(repeating: 0)

    public internal(set) subscript(component: Component) -> Int {
        get { Int(values[component.rawValue]) }
        set { values[component.rawValue] = Int32(clamping: newValue) }
    }

    /// The component at a place of table W, in thousandths.
    public subscript(place place: Int) -> Int32 { values[place] }

    /// The sum in thousandths.
    public var total: Int { values.indices.reduce(0) { $0 + Int(values[$1]) } }

    /// float32(total) / float32(1000), correctly rounded.
    public var float: Float { Float(total) / Float(1000) }
}

/// What a step answers besides the new state.
public struct Outcome: Sendable {
    static let invalid = Outcome(isTerminated: true, isInvalid: true)

    public internal(set) var reward = Reward()
    /// C4
    public internal(set) var isTerminated = false
    /// C1
    public internal(set) var isInvalid = false
    public internal(set) var completedStage = false
    public internal(set) var died = false
    public internal(set) var won = false
}

/// What the reward needs to know about the state before the action.
struct Before: Sendable {
    let player: Player
    let stage: Int
    let closestApproach: Int

    init(_ position: Position) {
        player = position.player
        stage = position.stage
        closestApproach = Int(position.closestApproach)
    }
}

extension Game {
    /// The outcome of a valid action that has been performed; lowers the closest approach (W1).
    mutating func settle(_ action: Action, since before: Before) -> Outcome {
        var outcome = Outcome()
        outcome.completedStage = log.completedStage != nil
        outcome.died = now.player.hp == 0
        outcome.won = log.completedStage == Stage.last
        outcome.isTerminated = now.isOver
        if outcome.died { fire(.`C4.death`) }
        if outcome.won { fire(.`C4.victory`) }

        let gained = distanceGained(since: before, died: outcome.died)
        outcome.reward = reward(action, since: before, outcome, distanceGained: gained)
        for component in Component.allCases where outcome.reward[component] != 0 {
            if let mark = Mark(component) { fire(mark) }
        }
        return outcome
    }

    /// Table W.
    private func reward(
        _ action: Action, since before: Before, _ outcome: Outcome, distanceGained: Int
    ) -> Reward {
        let player = now.player
        let hpChange = Int(player.hp) - Int(before.player.hp)
        let resources = player.credits.value + player.energy.value
        let resourcesBefore = before.player.credits.value + before.player.energy.value

        var reward = Reward()
        reward[.stepPenalty] = Price.step
        reward[.scoreGain] = Price.score * (player.score.value - before.player.score.value)
        reward[.kills] = Price.kill * (log.kills - (log.undone?.kills ?? 0))
        reward[.dataSiphon] = Price.pickup * (log.pickups - (log.undone?.pickups ?? 0))
        reward[.distanceShaping] = Price.approach * distanceGained
        reward[.resourceGain] = Price.resource * (resources - resourcesBefore)
        reward[.damagePenalty] = Price.hp * min(hpChange, 0)
        reward[.hpRecovery] = Price.hp * max(hpChange, 0)
        reward[.siphonQuality] = Price.missed * log.missedBySiphon
        if action == .program(.reset) && before.player.hp == 2 { reward[.programWaste] = Price.waste }
        if let stage = log.completedStage {
            reward[.stageCompletion] = Price.completion(of: stage)
            reward[.resourceHolding] = Price.holding * resources
        }
        if outcome.won { reward[.victory] = Price.victory + Price.victoryScore * player.score.value }
        if outcome.died {
            reward[.deathPenalty] = Price.death(in: before.stage)
            if isSiphonEnemyAdjacent { reward[.siphonDeathPenalty] = Price.siphonDeath }
        }
        return reward
    }

    /// Whether an enemy that came from a siphon stands orthogonally next to the player.
    private var isSiphonEnemyAdjacent: Bool {
        now.player.cell.neighbours.contains { now.enemies[$0]?.origin.fromSiphon == true }
    }

    /// W1 and W3: the cells gained on the closest approach, which becomes the smaller one.
    private mutating func distanceGained(since before: Before, died: Bool) -> Int {
        if let undone = log.undone {
            fireRepayment(undone)
            return -undone.approach
        }
        if log.completedStage != nil {
            fire(.`W1.completed`)
            return before.closestApproach
        }
        if died {
            fire(.`W1.death`)
            return 0
        }
        guard let distance = now.distanceToExit else {
            fire(.`W1.noPath`)
            return 0
        }
        let gained = max(0, before.closestApproach - distance)
        if gained > 0 { fire(.`W1.closer`) }
        now.closestApproach = UInt8(min(before.closestApproach, distance))
        return gained
    }

    /// W3
    private mutating func fireRepayment(_ undone: StepLog.Undone) {
        if undone.kills > 0 { fire(.`W3.kills`) }
        if undone.pickups > 0 { fire(.`W3.pickups`) }
        if undone.approach > 0 { fire(.`W3.distance`) }
    }
}
