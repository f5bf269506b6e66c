/// The state that UNDO restores: the game without its history, seed and event number. Rules P-UNDO, A7, C4.

public struct Snapshot: Equatable, Sendable {
    public var player: Player
    public var board: Board
    public var enemies = CellMap<Enemy>()
    public var transmissions = CellMap<Transmission>()
    public var ownedPrograms = ProgramSet()
    /// From 1; one more than `Stage.last` once the game is won (C3).
    public var stage: Int
    public var turn: UInt32 = 0
    public var showActivated = false
    /// True while CALM is on.
    public var scheduledTasksDisabled = false
    /// True while STEP is on.
    public var stepActive = false
    /// Uses of ATK+ in this stage.
    public var atkPlusUses: UInt8 = 0
    public var scheduledTaskInterval: UInt32
    public var nextScheduledTaskTurn: UInt32
    public var pendingSiphonTransmissions = Amount(0)
    public var closestApproach: UInt8 = 0

    /// An empty board with the timers of a stage that has just begun (B2).
    public init(player: Player, exit: Cell, stage: Int = 1) {
        self.player = player
        self.stage = stage
        board = Board(exit: exit)
        scheduledTaskInterval = Stage.scheduledTaskInterval(of: stage)
        nextScheduledTaskTurn = scheduledTaskInterval
    }

    /// The cells of enemies and transmissions.
    public var movers: CellSet { enemies.cells | transmissions.cells }

    /// At hp 0 and after the last stage the game is over (C4).
    var isOver: Bool { player.hp == 0 || stage > Stage.last }

    func enemies(of type: EnemyType) -> CellSet {
        enemies.cells { $0.type == type }
    }
}
