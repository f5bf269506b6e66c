/// The phases of one step and the words that they draw, for debuggers.

/// A phase of a step: a chapter of the rules, as far as it changes the state.
public enum Phase: String, Sendable {
    case action = "action (V, S, P)"
    case turn = "turn (E1, E2)"
    case arrivals = "arrivals (E3)"
    case moves = "moves (E4-E9)"
    case spawns = "spawns (E10, E11)"
    case recovery = "recovery (E12)"
    case stage = "stage (B2-B8)"
    case approach = "approach (W1)"
}

/// What a step did, one phase after the other.
public struct StepTrace: Sendable {
    /// A random word and its address (R4).
    public struct Draw: Sendable {
        public let eventNumber: UInt32
        public let site: Site
        public let index: Int
        public let word: UInt32
    }

    /// A phase, the game after it and the words that it drew.
    public struct Entry: Sendable {
        public let phase: Phase
        public let game: Game
        public let draws: [Draw]
    }

    public private(set) var entries: [Entry] = []
    private var draws: [Draw] = []

    /// Records a step of a copy of `game`. The record is global: record one step at a time, while no other game plays.
    public init(of game: Game, _ action: Action) {
        var game = game
        StepTrace.isRecording = true
        StepTrace.current = StepTrace()
        game.step(action)
        StepTrace.isRecording = false
        self = StepTrace.current
    }

    private init() {}

    nonisolated(unsafe) fileprivate static var isRecording = false
    nonisolated(unsafe) private static var current = StepTrace()

    // The game is `inout`, so that it is copied only while a step is recorded.
    @inline(never)
    fileprivate static func append(_ phase: Phase, _ game: inout Game) {
        current.entries.append(Entry(phase: phase, game: game, draws: current.draws))
        current.draws = []
    }

    @inline(never)
    fileprivate static func append(_ site: Site, _ indices: [Int], _ game: inout Game) {
        let draws = Draws(seed: game.seed, eventNumber: game.eventNumber)
        current.draws += indices.map {
            Draw(eventNumber: game.eventNumber, site: site, index: $0, word: draws.word(site, $0))
        }
    }
}

extension Game {
    /// Notes the end of a phase, if a step is recorded.
    @inline(__always)
    mutating func end(_ phase: Phase) {
        if StepTrace.isRecording { StepTrace.append(phase, &self) }
    }

    /// Notes words that are drawn, if a step is recorded.
    @inline(__always)
    mutating func note(_ site: Site, _ indices: @autoclosure () -> [Int]) {
        if StepTrace.isRecording { StepTrace.append(site, indices(), &self) }
    }
}
