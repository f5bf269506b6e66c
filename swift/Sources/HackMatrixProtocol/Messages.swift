/// The contents of the JSON mode's answers: O, I and the internal state of the protocol. Rules O3, O4, W.

import HackMatrixCore

/// O: the observation as the player sees it (O4).
public struct ObservationMessage: Encodable, Sendable {
    let playerRow: Int
    let playerCol: Int
    let playerHP: UInt8
    let credits: Int
    let energy: Int
    let stage: Int
    let turn: UInt32
    let dataSiphons: Int
    let baseAttack: UInt8
    let score: Int
    let showActivated: Bool
    let scheduledTasksDisabled: Bool
    let ownedPrograms: [Int]
    let cells: [[CellMessage]]
    let cryptogHints: [Cell]

    public init(_ game: Game) {
        let now = game.now
        playerRow = now.player.cell.row
        playerCol = now.player.cell.col
        playerHP = now.player.hp
        credits = now.player.credits.value
        energy = now.player.energy.value
        stage = now.stage
        turn = now.turn
        dataSiphons = now.player.dataSiphons.value
        baseAttack = now.player.attackDamage
        score = now.player.score.value
        showActivated = now.showActivated
        scheduledTasksDisabled = now.scheduledTasksDisabled
        ownedPrograms = now.ownedPrograms.map(\.rawValue)
        cells = (0..<Cell.side).map { row in
            (0..<Cell.side).map { CellMessage(Cell(index: Cell.side * row + $0), now) }
        }
        cryptogHints = now.hiddenCryptogs.compactMap { now.enemies[$0]?.lastKnown }
    }

    struct CellMessage: Encodable, Sendable {
        let row: Int
        let col: Int
        let isDataSiphon: Bool
        let isExit: Bool
        let siphonCenter: Bool
        let enemy: EnemyMessage?
        let block: BlockMessage?
        let transmission: TransmissionMessage?
        let credits: UInt8?
        let energy: UInt8?

        init(_ cell: Cell, _ now: Snapshot) {
            row = cell.row
            col = cell.col
            isDataSiphon = now.board.pickups.contains(cell)
            isExit = now.board.exit == cell
            siphonCenter = now.board.siphonCenters.contains(cell)
            enemy = now.hiddenCryptogs.contains(cell) ? nil : now.enemies[cell].map { EnemyMessage($0) }
            block = now.board.blocks[cell].map { BlockMessage($0, isSiphoned: now.board.siphoned.contains(cell)) }
            transmission = now.transmissions[cell].map { TransmissionMessage($0, showsType: now.showActivated) }
            let isUncovered = now.uncovered.contains(cell)
            credits = isUncovered ? now.board.credits[cell] : nil
            energy = isUncovered ? now.board.energy[cell] : nil
        }
    }

    struct EnemyMessage: Encodable, Sendable {
        let type: String
        let hp: UInt8
        let isStunned: Bool
        let spawnedFromSiphon: Bool

        init(_ enemy: Enemy) {
            type = enemy.type.name
            hp = enemy.hp
            isStunned = enemy.isStunned
            spawnedFromSiphon = enemy.origin.fromSiphon
        }
    }

    struct BlockMessage: Encodable, Sendable {
        let blockType: String
        let isSiphoned: Bool
        let points: UInt8?
        let programType: String?
        let programActionIndex: Int?
        let transmissionSpawnCount: UInt8?

        init(_ block: Block, isSiphoned: Bool) {
            self.isSiphoned = isSiphoned
            transmissionSpawnCount = block.isQuestion ? nil : block.spawnCount
            switch block.content {
            case _ where block.isQuestion:
                blockType = "question"
                (points, programType, programActionIndex) = (nil, nil, nil)
            case .data(let value):
                blockType = "data"
                (points, programType, programActionIndex) = (value, nil, nil)
            case .program(let program):
                blockType = "program"
                (points, programType, programActionIndex) = (nil, program.name, program.rawValue)
            }
        }
    }

    struct TransmissionMessage: Encodable, Sendable {
        let turnsUntilSpawn: UInt8
        let enemyType: String?

        init(_ transmission: Transmission, showsType: Bool) {
            turnsUntilSpawn = transmission.turnsRemaining
            enemyType = showsType ? transmission.type.name : nil
        }
    }
}

/// I: the facts and events of a step besides its reward. Flags are absent when false.
public struct InfoMessage: Encodable, Sendable {
    let rewardBreakdown: [String: Double]
    let stageComplete: Bool?
    let death: Bool?
    let victory: Bool?
    let invalidAction: Bool?

    enum CodingKeys: String, CodingKey {
        case rewardBreakdown = "reward_breakdown"
        case stageComplete = "stage_complete"
        case death, victory
        case invalidAction = "invalid_action"
    }

    public init(_ outcome: Outcome) {
        rewardBreakdown = Dictionary(
            uniqueKeysWithValues: Component.allCases.map { ($0.name, Double(outcome.reward[$0]) / 1000) })
        stageComplete = outcome.completedStage ? true : nil
        death = outcome.died ? true : nil
        victory = outcome.won ? true : nil
        invalidAction = outcome.isInvalid ? true : nil
    }
}

/// The answer of `getInternalState`.
public struct InternalStateMessage: Encodable, Sendable {
    let scheduledTaskInterval: UInt32
    let nextScheduledTaskTurn: UInt32
    let pendingSiphonTransmissions: Int
    let turnCount: UInt32
    let enemies: [EnemyMessage]

    public init(_ game: Game) {
        let now = game.now
        scheduledTaskInterval = now.scheduledTaskInterval
        nextScheduledTaskTurn = now.nextScheduledTaskTurn
        pendingSiphonTransmissions = now.pendingSiphonTransmissions.value
        turnCount = now.turn
        enemies = now.enemies.cells.compactMap { cell in now.enemies[cell].map { EnemyMessage($0, at: cell) } }
    }

    struct EnemyMessage: Encodable, Sendable {
        let row: Int
        let col: Int
        let type: String
        let hp: UInt8
        let disabledTurns: UInt8
        let isStunned: Bool
        let spawnedFromSiphon: Bool
        let isFromScheduledTask: Bool

        init(_ enemy: Enemy, at cell: Cell) {
            row = cell.row
            col = cell.col
            type = enemy.type.name
            hp = enemy.hp
            disabledTurns = enemy.disabledTurns
            isStunned = enemy.isStunned
            spawnedFromSiphon = enemy.origin.fromSiphon
            isFromScheduledTask = enemy.origin.fromSchedule
        }
    }
}
