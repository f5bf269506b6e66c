/// The spawning of transmissions, which B8, E10 and E11 use. Rule C6.

extension Game {
    /// Spawns the `number`-th transmission of a group with one turn to go (C6).
    /// - Returns: false when there is no empty cell and it was dropped.
    mutating func spawn(_ origin: Origin, at sites: (cell: Site, type: Site), number: Int = 0) -> Bool {
        let empty = now.board.open - now.movers - CellSet(now.player.cell)
        let covered = empty - now.lineOfFire
        let choice = covered.isEmpty ? empty : covered
        guard let cell = uniformCell(of: choice, sites.cell, offset: Cell.count * number) else {
            fire(.`C6.dropped`)
            return false
        }
        fire(covered.isEmpty ? .`C6.exposed` : .`C6.covered`)
        let type = EnemyType.allCases[below(EnemyType.allCases.count, sites.type, number)]
        now.transmissions[cell] = Transmission(type: type, turnsRemaining: 1, origin: origin)
        return true
    }
}

extension Snapshot {
    /// The cells in the player's line of fire (C6).
    var lineOfFire: CellSet {
        let stoppers = enemies.cells | board.blocks.cells
        var line = CellSet()
        for direction in Direction.allCases {
            var front = CellSet(player.cell).shifted(direction)
            while !front.isEmpty {
                line |= front
                front = (front - stoppers).shifted(direction)
            }
        }
        return line
    }
}
