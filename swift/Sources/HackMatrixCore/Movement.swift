/// Moving, attacking and kills. Rules V1–V4.

extension Game {
    /// A move action: attacks the first target in the direction, or walks one cell (V1–V3).
    mutating func move(_ direction: Direction) {
        if let target = target(direction) {
            fire(target == now.player.cell.neighbour(direction) ? .`V1.adjacent` : .`V1.distant`)
            attack(target)
        } else if let cell = now.player.cell.neighbour(direction) {
            walk(to: cell)
        }
    }

    /// V1
    private mutating func target(_ direction: Direction) -> Cell? {
        var cell = now.player.cell
        while let next = cell.neighbour(direction) {
            if now.movers.contains(next) { return next }
            if now.board.blocks.cells.contains(next) {
                fire(.`V1.blockStops`)
                return nil
            }
            cell = next
        }
        return nil
    }

    /// V2
    private mutating func attack(_ cell: Cell) {
        if now.enemies[cell]?.type == .cryptog { fire(.`V1.cryptog`) }
        if now.transmissions.cells.contains(cell) {
            fire(.`V2.transmission`)
            remove(cell)
        } else {
            hit(CellSet(cell), damage: now.player.attackDamage)
            fire(now.enemies.cells.contains(cell) ? .`V2.stunned` : .`V2.removed`)
        }
    }

    /// V3
    private mutating func walk(to cell: Cell) {
        fire(.`V3.moved`)
        now.player.cell = cell
        if now.board.pickups.contains(cell) {
            fire(.`V3.pickup`)
            now.board.pickups.remove(cell)
            note(saturated: now.player.dataSiphons.add(1))
            events.pickups += 1
            if history != nil { note(saturated: pickupsSinceHistory.add(1)) }
        }
        if cell == now.board.exit {
            fire(.`C3.move`)
            completeStage()
        }
    }

    /// "Hit": every enemy in the cells loses hp; it is removed at 0 or below (a kill), else stunned.
    mutating func hit(_ cells: CellSet, damage: UInt8) {
        for cell in cells & now.enemies.cells {
            guard var enemy = now.enemies[cell] else { continue }
            if enemy.hp <= damage {
                remove(cell)
            } else {
                enemy.hp -= damage
                enemy.isStunned = true
                now.enemies[cell] = enemy
            }
        }
    }

    /// Removes the enemy or transmission of a cell by the player's action, and counts the kill (V4).
    mutating func remove(_ cell: Cell) {
        let enemy = now.enemies.take(cell)
        let transmission = now.transmissions.take(cell)
        guard let origin = enemy?.origin ?? transmission?.origin else { return }
        if origin.fromSchedule {
            fire(.`V4.scheduled`)
            return
        }
        fire(.`V4.kill`)
        events.kills += 1
        if history != nil { note(saturated: killsSinceHistory.add(1)) }
    }
}
