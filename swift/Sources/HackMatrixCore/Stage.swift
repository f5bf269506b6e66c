/// Stage generation. Rules B2–B8.

public enum Stage {
    public static let last = 8
    static let placementAttempts = 100

    /// The interval that a stage starts with (B2).
    public static func scheduledTaskInterval(of stage: Int) -> UInt32 { UInt32(13 - stage) }

    /// B6: no cell is cut off, the exit can be entered, every block can be siphoned.
    static func isValidPlacement(_ blocks: CellSet, exit: Cell) -> Bool {
        let free = CellSet.all - blocks
        return Pathfinding.isConnected(free - CellSet(exit))
            && !(exit.neighbours & free).isEmpty
            && blocks.isSubset(of: free.neighbours)
    }
}

extension Game {
    /// Generates stage `now.stage` around the player, enemies and transmissions (B2).
    mutating func generateStage() {
        fire(.`B2`)
        if !now.movers.isEmpty { fire(.`B2.survivors`) }
        startTimers()
        placeExit()
        placeBlocks()
        placeResources()
        fire(.`B8`)
        for number in 0..<now.stage {
            _ = spawn(.stage, at: (.stageCell, .stageType), number: number)
        }
        now.closestApproach = UInt8(now.distanceToExit ?? 0)
    }

    private mutating func startTimers() {
        now.turn = 0
        now.scheduledTaskInterval = Stage.scheduledTaskInterval(of: now.stage)
        now.nextScheduledTaskTurn = now.scheduledTaskInterval
        now.showActivated = false
        now.scheduledTasksDisabled = false
        now.stepActive = false
        now.atkPlusUses = 0
        now.pendingSiphonTransmissions = Amount(0)
    }

    /// B3, on an empty board
    private mutating func placeExit() {
        fire(.`B3`)
        let free = CellSet.corners - CellSet(now.player.cell)
        guard let exit = uniformCell(of: free, .exit) else { return }
        now.board = Board(exit: exit)
        now.board.pickups = free - CellSet(exit)
        if !(free & now.movers).isEmpty { fire(.`B3.occupied`) }
    }

    /// B4 and B6
    private mutating func placeBlocks() {
        fire(.`B4`)
        let free = CellSet.all - .corners - now.movers - CellSet(now.player.cell)
        for attempt in 0..<Stage.placementAttempts {
            let count = 5 + below(7, .blockCount, attempt)
            let cells = distinctCells(count, of: free, .blockCell, offset: Cell.count * attempt)
            if Stage.isValidPlacement(cells, exit: now.board.exit) {
                fire(.`B6.valid`)
                if cells.count < count { fire(.`B4.fewer`) }
                fillBlocks(cells, attempt)
                return
            }
            fire(.`B6.redrawn`)
        }
        fire(.`B6.exhausted`)
    }

    /// B5
    private mutating func fillBlocks(_ cells: CellSet, _ attempt: Int) {
        var unused = ProgramSet.all
        for cell in cells {
            let index = Cell.count * attempt + cell.index
            let isQuestion = below(10, .question, index) == 0
            let content: BlockContent
            if below(2, .data, index) == 0 {
                fire(isQuestion ? .`B5.questionData` : .`B5.data`)
                content = .data(points: UInt8(1 + below(Int(Block.mostPoints), .points, index)))
            } else {
                fire(isQuestion ? .`B5.questionProgram` : .`B5.program`)
                let program = unused.entry(below(unused.count, .program, index))
                unused.remove(program)
                content = .program(program)
            }
            now.board.blocks[cell] = Block(content, isQuestion: isQuestion)
        }
    }

    /// B7
    private mutating func placeResources() {
        for cell in now.board.open - CellSet(now.board.exit) {
            let amount: UInt8 =
                switch below(20, .amount, cell.index) {
                case 0...8: 1
                case 9...17: 2
                default: 3
                }
            if below(2, .resource, cell.index) == 0 {
                fire(.`B7.credits`)
                now.board.credits[cell] = amount
            } else {
                fire(.`B7.energy`)
                now.board.energy[cell] = amount
            }
        }
    }
}
