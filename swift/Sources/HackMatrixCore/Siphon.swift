/// The siphon action and the amounts that it missed. Rules S1–S5, W2.

extension Game {
    /// The siphon action.
    mutating func siphon() {
        let place = now.player.cell
        events.missedBySiphon = missedBySiphon()
        let cross = place.cross
        if cross.count < 5 { fire(.`S1.edge`) }
        if !(cross & now.board.siphoned).isEmpty { fire(.`S1.skipped`) }
        if now.board.blocks.cells.contains(place) { fire(.`S2.ownCell`) }
        for cell in cross - now.board.siphoned {
            if now.board.blocks.cells.contains(cell) { drainBlock(cell) } else { drainCell(cell) }
        }
        fire(now.board.siphonCenters.contains(place) ? .`S4.centreAgain` : .`S4.centre`)
        now.board.siphoned |= cross
        now.board.siphonCenters.insert(place)
        settleTimers()
    }

    /// S2
    private mutating func drainBlock(_ cell: Cell) {
        guard var block = now.board.blocks[cell] else { return }
        if block.isQuestion { fire(.`S2.question`) }
        switch block.content {
        case .data(let points):
            fire(.`S2.data`)
            note(saturated: now.player.score.add(Int(points)))
        case .program(let program):
            fire(now.ownedPrograms.contains(program) ? .`S2.alreadyOwned` : .`S2.program`)
            now.ownedPrograms.insert(program)
        }
        note(saturated: now.pendingSiphonTransmissions.add(Int(block.spawnCount)))
        block.isQuestion = false
        block.spawnCount = 0
        now.board.blocks[cell] = block
    }

    /// S3
    private mutating func drainCell(_ cell: Cell) {
        if let credits = now.board.credits.take(cell) {
            fire(.`S3.credits`)
            note(saturated: now.player.credits.add(Int(credits)))
        }
        if let energy = now.board.energy.take(cell) {
            fire(.`S3.energy`)
            note(saturated: now.player.energy.add(Int(energy)))
        }
        if now.board.pickups.contains(cell) { fire(.`S3.pickupStays`) }
    }

    /// S5
    private mutating func settleTimers() {
        fire(now.scheduledTaskInterval <= 4 ? .`S5.floor` : .`S5`)
        now.player.dataSiphons.spend(1)
        now.scheduledTaskInterval = max(5, now.scheduledTaskInterval) - 1
        now.nextScheduledTaskTurn &+= 5
    }

    /// W2: missed credits plus missed energy of a siphon at the player's cell.
    private mutating func missedBySiphon() -> Int {
        let place = now.player.cell
        if now.board.blocks.cells.contains(place) { fire(.`W2.onBlock`) }
        let here = now.siphonYield(at: place)
        let needed = here.isRich ? place.cross & now.board.blocks.cells - now.board.siphoned : CellSet()
        var best = here
        for cell in now.board.open where needed.isSubset(of: cell.cross) {
            let there = now.siphonYield(at: cell)
            guard there.isBetter(than: here) else { continue }
            best.credits = max(best.credits, there.credits)
            best.energy = max(best.energy, there.energy)
        }
        let missed = best.credits - here.credits + best.energy - here.energy
        fire(missed > 0 ? .`W2.missed` : .`W2.best`)
        return missed
    }
}

extension Cell {
    /// The cell and its orthogonal neighbours (S1).
    var cross: CellSet { CellSet(self) | neighbours }
}

/// The yield of a siphon at a cell (W2).
struct SiphonYield: Equatable, Sendable {
    /// The number of data blocks for each number of points, four bits each.
    var points: UInt64 = 0
    /// Programs not yet owned.
    var programs = ProgramSet()
    var credits = 0
    var energy = 0

    /// True if there are points or new programs.
    var isRich: Bool { points != 0 || !programs.isEmpty }

    func isBetter(than other: SiphonYield) -> Bool {
        points == other.points && programs == other.programs
            && credits >= other.credits && energy >= other.energy
            && (credits > other.credits || energy > other.energy)
    }
}

extension Snapshot {
    /// The yield of a cell; a cell with a block yields nothing (W2).
    func siphonYield(at cell: Cell) -> SiphonYield {
        var yield = SiphonYield()
        guard !board.blocks.cells.contains(cell) else { return yield }
        for cell in cell.cross - board.siphoned {
            switch board.blocks[cell]?.content {
            case .data(let points):
                yield.points += 1 << (4 * UInt64(points))
            case .program(let program):
                if !ownedPrograms.contains(program) { yield.programs.insert(program) }
            case nil:
                yield.credits += Int(board.credits[cell] ?? 0)
                yield.energy += Int(board.energy[cell] ?? 0)
            }
        }
        return yield
    }
}
