/// The enemy turn. Rules E1–E12.

extension Game {
    /// Everything that happens after an action that ends the player's turn (C2).
    mutating func enemyTurn() {
        if now.stepActive {
            fire(.`E1`)
            now.stepActive = false
            end(.turn)
            return
        }
        fire(.`E2`)
        now.turn &+= 1
        end(.turn)
        arriveTransmissions()
        end(.arrivals)
        actEnemies()
        end(.moves)
        spawnScheduled()
        spawnFromSiphons()
        end(.spawns)
        recover()
        end(.recovery)
    }

    /// E3
    private mutating func arriveTransmissions() {
        for cell in now.transmissions.cells {
            guard var transmission = now.transmissions[cell] else { continue }
            if transmission.turnsRemaining > 1 {
                fire(.`E3.waiting`)
                transmission.turnsRemaining -= 1
                now.transmissions[cell] = transmission
            } else {
                fire(transmission.type == .cryptog ? .`E3.cryptog` : .`E3.enemy`)
                now.transmissions[cell] = nil
                now.enemies[cell] = transmission.enemy(at: cell)
            }
        }
    }

    /// E4
    private mutating func actEnemies() {
        if now.enemies.cells.isEmpty { return }
        let rounds = now.enemies(of: .virus).isEmpty ? 1 : 2
        fire(rounds == 1 ? .`E4.oneRound` : .`E4.twoRounds`)
        // An enemy that has attacked does not move any more this turn, so its cell identifies it.
        var attackers = CellSet()
        for round in 0..<rounds {
            for cell in uniformOrder(of: now.enemies.cells, .order, offset: Cell.count * round) {
                guard let enemy = now.enemies[cell], canAct(enemy, in: round, hasAttacked: attackers.contains(cell))
                else { continue }
                if cell.neighbours.contains(now.player.cell) {
                    attackers.insert(cell)
                    attackPlayer()
                } else {
                    advance(enemy, from: cell, in: round)
                }
            }
        }
    }

    /// E4: true for an enemy that takes part in a round.
    private mutating func canAct(_ enemy: Enemy, in round: Int, hasAttacked: Bool) -> Bool {
        if enemy.disabledTurns > 0 { fire(.`E4.disabled`) }
        if enemy.isStunned { fire(.`E4.stunned`) }
        if hasAttacked { fire(.`E4.attacked`) }
        if round >= enemy.type.speed { fire(.`E4.tooSlow`) }
        return enemy.disabledTurns == 0 && !enemy.isStunned && !hasAttacked && round < enemy.type.speed
    }

    /// E5
    private mutating func attackPlayer() {
        switch now.player.hp {
        case 0: fire(.`E5.afterDeath`)
        case 1: fire(.`E5.lethal`)
        default: fire(.`E5.attack`)
        }
        now.player.hp -= min(now.player.hp, 1)
    }

    /// E6–E9
    private mutating func advance(_ enemy: Enemy, from cell: Cell, in round: Int) {
        guard let goal = step(of: enemy, at: cell, in: round) else {
            fire(.`E8.stayed`)
            return
        }
        var moved = enemy
        if enemy.type == .cryptog && now.player.sharesLine(with: goal) {
            fire(.`E9`)
            moved.lastKnown = goal
        }
        now.enemies[cell] = nil
        now.enemies[goal] = moved
    }

    /// The cell an enemy moves to, nil when it stays.
    private mutating func step(of enemy: Enemy, at cell: Cell, in round: Int) -> Cell? {
        let enterable = enemy.type.entersBlocks ? CellSet.all : now.board.open
        let occupied = now.movers - CellSet(cell)
        let player = now.player.cell

        let paths = Pathfinding.firstSteps(from: cell, to: player, through: enterable - occupied)
        if !paths.isEmpty {
            fire(.`E6.path`)
            return choose(paths, enemy, from: cell, in: round, several: .`E6.several`)
        }
        fire(.`E7.noPath`)
        let wished = Pathfinding.firstSteps(from: cell, to: player, through: enterable) - occupied
        if !wished.isEmpty {
            fire(.`E7.moved`)
            return choose(wished, enemy, from: cell, in: round, several: .`E7.several`)
        }
        guard let nearest = nearestStep(in: cell.neighbours & enterable - occupied, from: cell) else { return nil }
        fire(.`E8.moved`)
        return nearest
    }

    /// The preferences of E6, then a uniform choice in direction order.
    private mutating func choose(
        _ candidates: CellSet, _ enemy: Enemy, from cell: Cell, in round: Int, several: Mark
    ) -> Cell? {
        if candidates.count == 1 { return candidates.first }
        fire(several)
        let preferred = preferred(candidates, by: enemy.type)
        let choice = preferred.isEmpty ? candidates : preferred
        let place = below(choice.count, .step, Cell.count * round + cell.index)
        return cell.steps(in: choice).dropFirst(place).first
    }

    private mutating func preferred(_ candidates: CellSet, by type: EnemyType) -> CellSet {
        switch type {
        case .cryptog:
            let hidden = candidates - now.player.line
            if !hidden.isEmpty { fire(.`E6.cryptog`) }
            return hidden
        case .glitch:
            let covered = candidates & now.board.blocks.cells
            if !covered.isEmpty { fire(.`E6.glitch`) }
            return covered
        case .virus, .daemon:
            return candidates
        }
    }

    /// E8: the cell nearest to the player, the first in direction order of equals.
    private func nearestStep(in cells: CellSet, from cell: Cell) -> Cell? {
        let player = now.player.cell
        return cell.steps(in: cells).min { $0.distance(to: player) < $1.distance(to: player) }
    }

    /// E10
    private mutating func spawnScheduled() {
        guard now.turn >= now.nextScheduledTaskTurn else { return }
        if now.scheduledTasksDisabled {
            fire(.`E10.calm`)
            return
        }
        let found = spawn(Origin(fromSchedule: true), at: (.scheduleCell, .scheduleType))
        fire(found ? .`E10.spawned` : .`E10.dropped`)
        now.nextScheduledTaskTurn = now.turn &+ now.scheduledTaskInterval
    }

    /// E11. No cell becomes empty while spawning, so the first one dropped means that all further ones are.
    private mutating func spawnFromSiphons() {
        for number in 0..<now.pendingSiphonTransmissions.value {
            fire(.`E11`)
            if !spawn(Origin(fromSiphon: true), at: (.siphonCell, .siphonType), number: number) { break }
        }
        now.pendingSiphonTransmissions = Amount(0)
    }

    /// E12
    private mutating func recover() {
        for cell in now.enemies.cells {
            guard var enemy = now.enemies[cell], enemy.disabledTurns > 0 || enemy.isStunned else { continue }
            if enemy.disabledTurns > 0 { fire(.`E12.disabled`) }
            if enemy.isStunned { fire(.`E12.stunned`) }
            enemy.disabledTurns -= min(enemy.disabledTurns, 1)
            enemy.isStunned = false
            now.enemies[cell] = enemy
        }
    }
}

extension Cell {
    /// The neighbours that lie in a set, in direction order (A2).
    fileprivate func steps(in cells: CellSet) -> [Cell] {
        Direction.allCases.compactMap { neighbour($0) }.filter(cells.contains)
    }
}
