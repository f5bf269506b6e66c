/// The reward in exact thousandths. Table W, W1, W3, C4; W2 is in Siphon.swift.

/// The components in the order of table W.
public enum Component: Int, CaseIterable, Sendable {
    case stepPenalty, stageCompletion, scoreGain, kills, dataSiphon, distanceShaping, victory, deathPenalty
    case resourceGain, resourceHolding, damagePenalty, hpRecovery, siphonQuality, siphonDeathPenalty, programWaste

    /// The key in table W, for example "step_penalty".
    public var name: String { Rules.name(of: self) }

    /// The prices of table W: one, one for every stage, or of victory its base and its price of a score.
    public var prices: [Int] {
        switch self {
        case .stepPenalty: [Price.stepPenalty]
        case .stageCompletion: (1...Stage.last).map(Price.stageCompletion)
        case .scoreGain: [Price.scoreGain]
        case .kills: [Price.kills]
        case .dataSiphon: [Price.dataSiphon]
        case .distanceShaping: [Price.distanceShaping]
        case .victory: [Price.victory, Price.victoryPerScore]
        case .deathPenalty: (1...Stage.last).map(Price.deathPenalty)
        case .resourceGain: [Price.resourceGain]
        case .resourceHolding: [Price.resourceHolding]
        case .damagePenalty: [Price.damagePenalty]
        case .hpRecovery: [Price.hpRecovery]
        case .siphonQuality: [Price.siphonQuality]
        case .siphonDeathPenalty: [Price.siphonDeathPenalty]
        case .programWaste: [Price.programWaste]
        }
    }
}

/// The prices of table W in thousandths, each named after its component.
public enum Price {
    public static let stepPenalty = -10
    public static let scoreGain = 500
    public static let kills = 300
    public static let dataSiphon = 1000
    public static let distanceShaping = 50
    public static let victory = 500_000
    public static let victoryPerScore = 100_000
    public static let resourceGain = 50
    public static let resourceHolding = 10
    public static let damagePenalty = -1000
    public static let hpRecovery = 1000
    public static let siphonQuality = -25
    public static let siphonDeathPenalty = -10_000
    public static let programWaste = -300

    public static func stageCompletion(of stage: Int) -> Int {
        stage < Stage.last ? 1000 << (stage - 1) : 100_000
    }

    /// Half of what the stages before this one gave.
    public static func deathPenalty(in stage: Int) -> Int {
        -(1..<stage).reduce(0) { $0 + stageCompletion(of: $1) } / 2
    }
}

/// A reward: one integer in thousandths for each component.
public struct Reward: Sendable {
    /// A lane for each component; the next larger vector has 32 of them.
    private var values = SIMD16<Int32>()

    public init() {}

    public internal(set) subscript(component: Component) -> Int {
        get { Int(values[component.rawValue]) }
        set { values[component.rawValue] = Int32(clamping: newValue) }
    }

    /// Calls `body` with the thousandths of all components, in the order of table W.
    public func withThousandths<Result>(_ body: (UnsafeBufferPointer<Int32>) -> Result) -> Result {
        withUnsafeBytes(of: values) {
            body(UnsafeBufferPointer(rebasing: $0.assumingMemoryBound(to: Int32.self)[..<Component.allCases.count]))
        }
    }

    /// The sum in thousandths.
    public var total: Int { Component.allCases.reduce(0) { $0 + self[$1] } }

    /// float32(total) / float32(1000), correctly rounded.
    public var float: Float { Float(total) / Float(1000) }
}

/// The outcome of a step besides the new state.
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

/// The events of an action that the reward needs besides the states before and after.
struct StepEvents: Sendable {
    var kills = 0
    var pickups = 0
    var completedStage: Int?
    /// Credits and energy (W2).
    var missedBySiphon = 0
    var undone: Undone?

    /// The counts that an UNDO took back (W3).
    struct Undone: Sendable {
        let kills: Int
        let pickups: Int
        let approach: Int
    }
}

/// The values of the state before the action that the reward needs.
struct Before: Sendable {
    let player: Player
    let stage: Int
    let closestApproach: Int

    init(_ snapshot: Snapshot) {
        player = snapshot.player
        stage = snapshot.stage
        closestApproach = Int(snapshot.closestApproach)
    }
}

extension Game {
    /// The outcome of a valid action that has been performed; lowers the closest approach (W1).
    mutating func settle(_ action: Action, since before: Before) -> Outcome {
        var outcome = Outcome()
        outcome.completedStage = deed.completedStage != nil
        outcome.died = now.player.hp == 0
        outcome.won = deed.completedStage == Stage.last
        outcome.isTerminated = now.isOver
        if outcome.died { fire(.`C4.death`) }
        if outcome.won { fire(.`C4.victory`) }

        let gained = distanceGained(since: before, died: outcome.died)
        outcome.reward = reward(action, since: before, outcome, distanceGained: gained)
        outcome.reward.withThousandths { thousandths in
            for component in Component.allCases where thousandths[component.rawValue] != 0 {
                fire(component)
            }
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
        reward[.stepPenalty] = Price.stepPenalty
        reward[.scoreGain] = Price.scoreGain * (player.score.value - before.player.score.value)
        reward[.kills] = Price.kills * (deed.kills - (deed.undone?.kills ?? 0))
        reward[.dataSiphon] = Price.dataSiphon * (deed.pickups - (deed.undone?.pickups ?? 0))
        reward[.distanceShaping] = Price.distanceShaping * distanceGained
        reward[.resourceGain] = Price.resourceGain * (resources - resourcesBefore)
        reward[.damagePenalty] = Price.damagePenalty * max(-hpChange, 0)
        reward[.hpRecovery] = Price.hpRecovery * max(hpChange, 0)
        reward[.siphonQuality] = Price.siphonQuality * deed.missedBySiphon
        if action == .program(.reset) && before.player.hp == 2 { reward[.programWaste] = Price.programWaste }
        if let stage = deed.completedStage {
            reward[.stageCompletion] = Price.stageCompletion(of: stage)
            reward[.resourceHolding] = Price.resourceHolding * resources
        }
        if outcome.won { reward[.victory] = Price.victory + Price.victoryPerScore * player.score.value }
        if outcome.died {
            reward[.deathPenalty] = Price.deathPenalty(in: before.stage)
            if isSiphonEnemyAdjacent { reward[.siphonDeathPenalty] = Price.siphonDeathPenalty }
        }
        return reward
    }

    /// True where an enemy that came from a siphon stands orthogonally next to the player.
    private var isSiphonEnemyAdjacent: Bool {
        now.player.cell.neighbours.contains { now.enemies[$0]?.origin.fromSiphon == true }
    }

    /// W1 and W3: the cells gained on the closest approach, which becomes the smaller one.
    private mutating func distanceGained(since before: Before, died: Bool) -> Int {
        if let undone = deed.undone {
            fireRepayment(undone)
            return -undone.approach
        }
        if deed.completedStage != nil {
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
    private mutating func fireRepayment(_ undone: StepEvents.Undone) {
        if undone.kills > 0 { fire(.`W3.kills`) }
        if undone.pickups > 0 { fire(.`W3.pickups`) }
        if undone.approach > 0 { fire(.`W3.distance`) }
    }
}
