/// The game: its complete state, start, step and stage completion. Rules B1, C1–C5, P-UNDO's record, R3, R6.

/// Everything that UNDO brings back (P-UNDO): the game without its history, seed and event number.
struct Position: Equatable, Sendable {
    var player: Player
    var board: Board
    var enemies = CellMap<Enemy>()
    var transmissions = CellMap<Transmission>()
    var owned = ProgramSet()
    /// 1…8, 9 once the game is won (C3).
    var stage = 1
    var turn: UInt32 = 0
    var isShowOn = false
    var isCalmOn = false
    var isStepOn = false
    /// Uses of ATK+ in this stage.
    var attackPlusUses: UInt8 = 0
    var spawnInterval: UInt32
    var nextScheduledTurn: UInt32
    var pendingSiphonSpawns = Amount(0)
    var closestApproach: UInt8 = 0

    /// The cells of enemies and transmissions.
    var movers: CellSet { enemies.cells | transmissions.cells }

    /// At hp 0 and at stage 9 the game is over (C4).
    var isOver: Bool { player.hp == 0 || stage > Stage.last }

    func enemies(of type: EnemyType) -> CellSet {
        enemies.cells { $0.type == type }
    }
}

/// What one step did, kept until the next one.
struct StepLog: Sendable {
    var fired = MarkSet()
    var kills = 0
    var pickups = 0
    var completedStage: Int?
    var missedBySiphon = 0
    var undone: Undone?

    /// What an UNDO took back (W3).
    struct Undone: Sendable {
        let kills: Int
        let pickups: Int
        let approach: Int
    }
}

/// One game of HackMatrix: a pure function of its seed and the actions it was given (R1).
public struct Game: Sendable {
    var now: Position
    /// The state before the last turn of this stage (P-UNDO).
    var history: Position?
    var killsSinceHistory = Amount(0)
    var pickupsSinceHistory = Amount(0)
    public internal(set) var seed: UInt64
    public internal(set) var eventNumber: UInt32 = 0
    var log = StepLog()

    /// A game in a given state.
    init(
        now: Position, history: Position?, killsSinceHistory: Amount, pickupsSinceHistory: Amount,
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
        now = Position(
            player: Player(cell: anywhere), board: Board(exit: anywhere), spawnInterval: 0, nextScheduledTurn: 0)
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

    /// The marks of the last step, or of the start of the game.
    public var firedMarks: MarkSet { log.fired }

    public var stage: Int { now.stage }
    public var turn: UInt32 { now.turn }
    public var score: Int { now.player.score.value }
    public var hp: Int { Int(now.player.hp) }

    /// Performs one action (C). An invalid one changes nothing but ends the episode (C1, C4).
    @discardableResult
    public mutating func step(_ action: Action) -> Outcome {
        log = StepLog()
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
        if action.endsTurn && log.completedStage == nil {
            enemyTurn()
        }
        fire(action.endsTurn ? .`C2.turnEnds` : .`C2.turnStays`)
        return settle(action, since: before)
    }

    @inline(__always)
    mutating func fire(_ mark: Mark) {
        log.fired.insert(mark)
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

    /// P-UNDO: the state just before the turn becomes the history.
    private mutating func record() {
        fire(.`P-UNDO.record`)
        history = now
        killsSinceHistory = Amount(0)
        pickupsSinceHistory = Amount(0)
    }

    /// C3: the player has entered the exit.
    mutating func completeStage() {
        log.completedStage = now.stage
        if now.player.hp == Player.maxHP { fire(.`C3.fullHP`) }
        now.player.hp = min(now.player.hp + 1, Player.maxHP)
        now.stage += 1
        if now.stage > Stage.last {
            fire(.`C3.victory`)
        } else {
            fire(.`C5`)
            forgetHistory()
            generateStage()
        }
    }

    mutating func forgetHistory() {
        history = nil
        killsSinceHistory = Amount(0)
        pickupsSinceHistory = Amount(0)
    }
}

extension Game: Equatable {
    /// Whether two games are in the same complete state; what their last steps did is no part of it.
    public static func == (left: Game, right: Game) -> Bool {
        left.now == right.now && left.history == right.history && left.seed == right.seed
            && left.eventNumber == right.eventNumber && left.killsSinceHistory == right.killsSinceHistory
            && left.pickupsSinceHistory == right.pickupsSinceHistory
    }
}
