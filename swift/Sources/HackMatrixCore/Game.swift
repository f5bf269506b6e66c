/// The game: its complete state, start, step and stage completion. Rules B1, C1–C5, R1, R3, R6.

/// One game of HackMatrix: a pure function of its seed and the actions it was given (R1).
public struct Game: Sendable {
    public internal(set) var now: Snapshot
    /// The state before the last turn of this stage (P-UNDO).
    public internal(set) var history: Snapshot?
    public internal(set) var killsSinceHistory = Amount(0)
    public internal(set) var pickupsSinceHistory = Amount(0)
    public let seed: UInt64
    public internal(set) var eventNumber: UInt32 = 0
    /// The events of the last action.
    var events = StepEvents()
    /// The marks of the last step, or of the start of the game.
    public private(set) var firedMarks = MarkSet()

    /// A game in a given state.
    public init(
        now: Snapshot, history: Snapshot?, killsSinceHistory: Amount, pickupsSinceHistory: Amount,
        seed: UInt64, eventNumber: UInt32
    ) {
        self.now = now
        self.history = history
        self.killsSinceHistory = killsSinceHistory
        self.pickupsSinceHistory = pickupsSinceHistory
        self.seed = seed
        self.eventNumber = eventNumber
    }

    /// A new game (B1).
    public init(seed: UInt64) {
        let anywhere = Cell(index: 0)
        now = Snapshot(player: Player(cell: anywhere), exit: anywhere)
        self.seed = seed
        now.player.cell = uniformCell(of: .corners, .start) ?? anywhere
        takeBonus()
        generateStage()
    }

    /// The game that follows this one where no seed is given (R6).
    public func successor(seed given: UInt64? = nil) -> Game {
        var next = Game(seed: given ?? Draws.successor(of: seed))
        if given == nil { next.fire(.`R6`) }
        return next
    }

    public var stage: Int { now.stage }
    public var turn: UInt32 { now.turn }
    public var score: Int { now.player.score.value }
    public var hp: Int { Int(now.player.hp) }

    /// Performs one action (C), rewarded at these prices. An invalid one changes nothing but ends the episode (C1, C4).
    @discardableResult
    public mutating func step(_ action: Action, at prices: Prices = Prices()) -> Outcome {
        events = StepEvents()
        firedMarks = MarkSet()
        guard isValid(action) else {
            fire(.`C1.invalid`)
            fire(.`C4.invalid`)
            fire(now.isOver ? .`C4.afterEnd` : decisiveMark(action))
            return .invalid
        }
        fire(decisiveMark(action))
        let before = Before(now)
        countEvent()
        perform(action)
        if events.completedStage == nil { end(.action) }
        if action.endsTurn && events.completedStage == nil {
            enemyTurn()
        }
        fire(action.endsTurn ? .`C2.turnEnds` : .`C2.turnStays`)
        let outcome = settle(action, since: before, prices)
        if !outcome.completedStage || outcome.won { end(.approach) }
        return outcome
    }

    @inline(__always)
    mutating func fire(_ component: Component) {
        firedMarks.insert(component)
    }

    @inline(__always)
    mutating func fire(_ mark: Mark) {
        firedMarks.insert(mark)
    }

    /// Fires A7's mark when an addition was cut.
    mutating func note(saturated: Bool) {
        if saturated { fire(.`A7.saturated`) }
    }

    private mutating func takeBonus() {
        switch below(3, .bonus, 0) {
        case 0:
            fire(.`B1.credits`)
            now.player.credits = Amount(10)
        case 1:
            fire(.`B1.energy`)
            now.player.energy = Amount(11)
        default:
            fire(.`B1.siphon`)
            now.player.dataSiphons = Amount(1)
        }
    }

    /// R3
    private mutating func countEvent() {
        eventNumber &+= 1
        fire(.`R3`)
        if eventNumber == 0 { fire(.`R3.wrapped`) }
    }

    private mutating func perform(_ action: Action) {
        if action.endsTurn { record() }
        switch action {
        case .move(let direction): move(direction)
        case .siphon: siphon()
        case .program(let program): run(program)
        }
    }

    /// C3: the player has entered the exit.
    mutating func completeStage() {
        events.completedStage = now.stage
        if now.player.hp == Player.maxHP { fire(.`C3.fullHP`) }
        now.player.hp = min(now.player.hp + 1, Player.maxHP)
        now.stage += 1
        end(.action)
        if now.stage > Stage.last {
            fire(.`C3.victory`)
        } else {
            fire(.`C5`)
            forgetHistory()
            generateStage()
            end(.stage)
        }
    }
}

extension Game: Equatable {
    /// True for games in the same complete state, whatever their last actions did.
    public static func == (left: Game, right: Game) -> Bool {
        left.now == right.now && left.history == right.history && left.seed == right.seed
            && left.eventNumber == right.eventNumber && left.killsSinceHistory == right.killsSinceHistory
            && left.pickupsSinceHistory == right.pickupsSinceHistory
    }
}
