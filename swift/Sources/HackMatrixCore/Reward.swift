/// The reward in exact thousandths. Table W, W1, W3, C4; W2 is in Siphon.swift.

/// The components in the order of table W.
public enum Component: Int, CaseIterable, Sendable {
    case stepPenalty, stageCompletion, scoreGain, kills, dataSiphon, distanceShaping, victory, deathPenalty
    case resourceGain, resourceHolding, damagePenalty, hpRecovery, siphonQuality, siphonDeathPenalty, programWaste

    /// The key in table W, for example "step_penalty".
    public var name: String { Rules.name(of: self) }

    /// The names of its prices: a single one, one for each stage, or for victory the base and the price per score.
    public var priceNames: [String] {
        switch self {
        case .stageCompletion, .deathPenalty: (1...Stage.last).map { "\(name)_\($0)" }
        case .victory: [name, "victory_per_score"]
        default: [name]
        }
    }

    /// Key paths of its prices, in the order of `priceNames`.
    fileprivate var prices: [WritableKeyPath<Prices, Int>] {
        switch self {
        case .stepPenalty: [\.stepPenalty]
        case .stageCompletion: (0..<Stage.last).map { \.stageCompletion[$0] }
        case .scoreGain: [\.scoreGain]
        case .kills: [\.kills]
        case .dataSiphon: [\.dataSiphon]
        case .distanceShaping: [\.distanceShaping]
        case .victory: [\.victory, \.victoryPerScore]
        case .deathPenalty: (0..<Stage.last).map { \.deathPenalty[$0] }
        case .resourceGain: [\.resourceGain]
        case .resourceHolding: [\.resourceHolding]
        case .damagePenalty: [\.damagePenalty]
        case .hpRecovery: [\.hpRecovery]
        case .siphonQuality: [\.siphonQuality]
        case .siphonDeathPenalty: [\.siphonDeathPenalty]
        case .programWaste: [\.programWaste]
        }
    }
}

/// The prices of table W in thousandths, each named after its component; those of the game unless they are changed.
public struct Prices: Equatable, Sendable {
    public var stepPenalty = -10
    /// For completing stages 1…8.
    public var stageCompletion: SIMD8<Int> = [1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 100_000]
    public var scoreGain = 500
    public var kills = 300
    public var dataSiphon = 1000
    public var distanceShaping = 50
    public var victory = 500_000
    public var victoryPerScore = 100_000
    /// For death in stages 1…8.
    public var deathPenalty: SIMD8<Int> = [0, -500, -1500, -3500, -7500, -15_500, -31_500, -63_500]
    public var resourceGain = 50
    public var resourceHolding = 10
    public var damagePenalty = -1000
    public var hpRecovery = 1000
    public var siphonQuality = -25
    public var siphonDeathPenalty = -10_000
    public var programWaste = -300

    public init() {}

    /// The names of all prices, in the order of table W.
    public static var names: [String] { Component.allCases.flatMap(\.priceNames) }

    /// All prices, in the order of their names.
    public var thousandths: [Int32] {
        get { Component.allCases.flatMap(thousandths(of:)).map(Int32.init(clamping:)) }
        set {
            for (price, value) in zip(Component.allCases.flatMap(\.prices), newValue) {
                self[keyPath: price] = Int(value)
            }
        }
    }

    /// The prices of one component.
    public func thousandths(of component: Component) -> [Int] {
        component.prices.map { self[keyPath: $0] }
    }
}

/// A reward: one integer in thousandths for each component.
public struct Reward: Sendable {
    /// One lane per component; more than 16 components need a larger vector.
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
    mutating func settle(_ action: Action, since before: Before, _ prices: Prices) -> Outcome {
        var outcome = Outcome()
        outcome.completedStage = events.completedStage != nil
        outcome.died = now.player.hp == 0
        outcome.won = events.completedStage == Stage.last
        outcome.isTerminated = now.isOver
        if outcome.died { fire(.`C4.death`) }
        if outcome.won { fire(.`C4.victory`) }

        let gained = distanceGained(since: before, died: outcome.died)
        outcome.reward = reward(action, since: before, outcome, distanceGained: gained, prices)
        outcome.reward.withThousandths { thousandths in
            for component in Component.allCases where thousandths[component.rawValue] != 0 {
                fire(component)
            }
        }
        return outcome
    }

    /// Table W. Mutating, because a nonmutating method would be called on a copy of the game.
    private mutating func reward(
        _ action: Action, since before: Before, _ outcome: Outcome, distanceGained: Int, _ prices: Prices
    ) -> Reward {
        let player = now.player
        let hpChange = Int(player.hp) - Int(before.player.hp)
        let resources = player.credits.value + player.energy.value
        let resourcesBefore = before.player.credits.value + before.player.energy.value

        var reward = Reward()
        reward[.stepPenalty] = prices.stepPenalty
        reward[.scoreGain] = prices.scoreGain * (player.score.value - before.player.score.value)
        reward[.kills] = prices.kills * (events.kills - (events.undone?.kills ?? 0))
        reward[.dataSiphon] = prices.dataSiphon * (events.pickups - (events.undone?.pickups ?? 0))
        reward[.distanceShaping] = prices.distanceShaping * distanceGained
        reward[.resourceGain] = prices.resourceGain * (resources - resourcesBefore)
        reward[.damagePenalty] = prices.damagePenalty * max(-hpChange, 0)
        reward[.hpRecovery] = prices.hpRecovery * max(hpChange, 0)
        reward[.siphonQuality] = prices.siphonQuality * events.missedBySiphon
        if action == .program(.reset) && before.player.hp == 2 { reward[.programWaste] = prices.programWaste }
        if let stage = events.completedStage {
            reward[.stageCompletion] = prices.stageCompletion[stage - 1]
            reward[.resourceHolding] = prices.resourceHolding * resources
        }
        if outcome.won { reward[.victory] = prices.victory + prices.victoryPerScore * player.score.value }
        if outcome.died {
            reward[.deathPenalty] = prices.deathPenalty[before.stage - 1]
            if isSiphonEnemyAdjacent { reward[.siphonDeathPenalty] = prices.siphonDeathPenalty }
        }
        return reward
    }

    /// True where an enemy that came from a siphon stands orthogonally next to the player.
    private var isSiphonEnemyAdjacent: Bool {
        now.player.cell.neighbours.contains { now.enemies[$0]?.origin.fromSiphon == true }
    }

    /// W1 and W3: the cells gained on the closest approach, which becomes the smaller one.
    private mutating func distanceGained(since before: Before, died: Bool) -> Int {
        if let undone = events.undone {
            fireRepayment(undone)
            return -undone.approach
        }
        if events.completedStage != nil {
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
