/// S of the protocol: the complete state as a JSON object; writing and reading it is the identity.
/// Rules A3, A7, R3; ranges of docs/reference/hackmatrix-rules.md.

import HackMatrixCore

extension Snapshot: Codable {
    enum CodingKeys: String, FieldName {
        case player, enemies, transmissions, blocks, resources, siphoned, siphonCenters, exit, ownedPrograms
        case stage, turn, showActivated, scheduledTasksDisabled, stepActive, atkPlusUses
        case scheduledTaskInterval, nextScheduledTaskTurn, pendingSiphonTransmissions, closestApproach
    }

    public init(from decoder: any Decoder) throws {
        try Fields<CodingKeys>(decoder).refuseUnknown(in: decoder)
        try self.init(knownFieldsFrom: decoder)
    }

    /// Reads a snapshot from an object that may hold other fields too.
    fileprivate init(knownFieldsFrom decoder: any Decoder) throws {
        let fields = try Fields<CodingKeys>(decoder)
        let stage = try fields.integer(.stage, in: 1...(Stage.last + 1), absent: 1)
        let interval = try fields.integer(
            .scheduledTaskInterval, in: 0...UInt32.max, absent: Stage.scheduledTaskInterval(of: stage))
        self.init(
            player: try fields.value(.player, Player.self, "an object with row and col"),
            exit: try Snapshot.exit(fields),
            stage: stage
        )
        turn = try fields.integer(.turn, in: 0...UInt32.max, absent: 0)
        showActivated = try fields.flag(.showActivated)
        scheduledTasksDisabled = try fields.flag(.scheduledTasksDisabled)
        stepActive = try fields.flag(.stepActive)
        atkPlusUses = try fields.integer(.atkPlusUses, in: 0...Program.mostATKPlusUses, absent: 0)
        scheduledTaskInterval = interval
        nextScheduledTaskTurn = try fields.integer(.nextScheduledTaskTurn, in: 0...UInt32.max, absent: interval)
        pendingSiphonTransmissions = try fields.amount(.pendingSiphonTransmissions)
        try readPrograms(fields)
        try readBlocks(fields)
        try readGround(fields)
        try readEnemies(fields)
        try readTransmissions(fields)
        let distance = UInt8(distanceToExit ?? 0)
        closestApproach = try fields.integer(.closestApproach, in: 0...UInt8(Cell.count - 1), absent: distance)
    }

    private static func exit(_ fields: Fields<CodingKeys>) throws -> Cell {
        let exit = try fields.value(.exit, Cell.self, absent: Cell(index: Cell.count - 1), "an object with row and col")
        guard CellSet.corners.contains(exit) else {
            throw fields.fault(.exit, "must be a corner: row and col 0 or \(Cell.side - 1)")
        }
        return exit
    }

    private mutating func readPrograms(_ fields: Fields<CodingKeys>) throws {
        let indices = Program.actionIndices
        let demand = "a list of distinct action indices from \(indices.lowerBound) to \(indices.upperBound)"
        for index in try fields.value(.ownedPrograms, [Int].self, absent: [], demand) {
            guard let program = Program(rawValue: index), !ownedPrograms.contains(program) else {
                throw fields.fault(.ownedPrograms, "must be \(demand)")
            }
            ownedPrograms.insert(program)
        }
    }

    private mutating func readBlocks(_ fields: Fields<CodingKeys>) throws {
        for entry in try fields.value(.blocks, [BlockEntry].self, absent: [], "a list of blocks") {
            try fields.refuse(.blocks, "two blocks", at: entry.cell, in: board.blocks.cells)
            try fields.refuse(.blocks, "a block on the exit", at: entry.cell, in: CellSet(board.exit))
            board.blocks[entry.cell] = entry.block
            if entry.isSiphoned { board.siphoned.insert(entry.cell) }
        }
    }

    private mutating func readGround(_ fields: Fields<CodingKeys>) throws {
        var seen = CellSet()
        for entry in try fields.value(.resources, [ResourceEntry].self, absent: [], "a list of resources") {
            try fields.refuse(.resources, "two entries", at: entry.cell, in: seen)
            seen.insert(entry.cell)
            board.credits[entry.cell] = entry.credits == 0 ? nil : entry.credits
            board.energy[entry.cell] = entry.energy == 0 ? nil : entry.energy
            guard entry.isPickup else { continue }
            try fields.refuse(.resources, "a data siphon on a block", at: entry.cell, in: board.blocks.cells)
            try fields.refuse(.resources, "a data siphon on the exit", at: entry.cell, in: CellSet(board.exit))
            board.pickups.insert(entry.cell)
        }
        for cell in try fields.value(.siphoned, [Cell].self, absent: [], "a list of cells") {
            board.siphoned.insert(cell)
        }
        for cell in try fields.value(.siphonCenters, [Cell].self, absent: [], "a list of cells") {
            board.siphonCenters.insert(cell)
        }
    }

    private mutating func readEnemies(_ fields: Fields<CodingKeys>) throws {
        for entry in try fields.value(.enemies, [EnemyEntry].self, absent: [], "a list of enemies") {
            try fields.refuse(.enemies, "two enemies", at: entry.cell, in: enemies.cells)
            try fields.refuse(.enemies, "an enemy on the player", at: entry.cell, in: CellSet(player.cell))
            enemies[entry.cell] = entry.enemy
        }
    }

    private mutating func readTransmissions(_ fields: Fields<CodingKeys>) throws {
        for entry in try fields.value(.transmissions, [TransmissionEntry].self, absent: [], "a list of transmissions") {
            try fields.refuse(.transmissions, "two transmissions", at: entry.cell, in: transmissions.cells)
            try fields.refuse(.transmissions, "a transmission on an enemy", at: entry.cell, in: enemies.cells)
            try fields.refuse(.transmissions, "a transmission on a block", at: entry.cell, in: board.blocks.cells)
            try fields.refuse(.transmissions, "a transmission on the player", at: entry.cell, in: CellSet(player.cell))
            transmissions[entry.cell] = entry.transmission
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(player, forKey: .player)
        try fields.encode(
            enemies.cells.compactMap { cell in enemies[cell].map { EnemyEntry(cell, $0) } }, forKey: .enemies)
        try fields.encode(
            transmissions.cells.compactMap { cell in transmissions[cell].map { TransmissionEntry(cell, $0) } },
            forKey: .transmissions)
        try fields.encode(
            board.blocks.cells.compactMap { cell in
                board.blocks[cell].map { BlockEntry(cell, $0, isSiphoned: board.siphoned.contains(cell)) }
            }, forKey: .blocks)
        let ground = board.credits.cells | board.energy.cells | board.pickups
        try fields.encode(ground.map { ResourceEntry($0, on: board) }, forKey: .resources)
        try fields.encode(Array(board.siphoned), forKey: .siphoned)
        try fields.encode(Array(board.siphonCenters), forKey: .siphonCenters)
        try fields.encode(board.exit, forKey: .exit)
        try fields.encode(ownedPrograms.map(\.rawValue), forKey: .ownedPrograms)
        try fields.encode(stage, forKey: .stage)
        try fields.encode(turn, forKey: .turn)
        try fields.encode(showActivated, forKey: .showActivated)
        try fields.encode(scheduledTasksDisabled, forKey: .scheduledTasksDisabled)
        try fields.encode(stepActive, forKey: .stepActive)
        try fields.encode(atkPlusUses, forKey: .atkPlusUses)
        try fields.encode(scheduledTaskInterval, forKey: .scheduledTaskInterval)
        try fields.encode(nextScheduledTaskTurn, forKey: .nextScheduledTaskTurn)
        try fields.encode(pendingSiphonTransmissions.value, forKey: .pendingSiphonTransmissions)
        try fields.encode(closestApproach, forKey: .closestApproach)
    }
}

extension Fields {
    /// Refuses a cell that a set already holds (A3).
    fileprivate func refuse(_ name: Name, _ what: String, at cell: Cell, in taken: CellSet) throws {
        guard taken.contains(cell) else { return }
        throw fault(name, "must not hold \(what): row \(cell.row), col \(cell.col)")
    }
}

/// S of the protocol is a game as JSON. A state that breaks A3 or a range is refused with a `ProtocolFault`.
extension Game: Codable {
    enum CodingKeys: String, FieldName {
        case seed, eventNumber, history, killsSinceHistory, pickupsSinceHistory
    }

    public init(from decoder: any Decoder) throws {
        let fields = try Fields<CodingKeys>(decoder)
        try fields.refuseUnknown(besides: Snapshot.CodingKeys.allCases.map(\.rawValue), in: decoder)
        self.init(
            now: try Snapshot(knownFieldsFrom: decoder),
            history: try fields.nullable(.history, Snapshot.self),
            killsSinceHistory: try fields.amount(.killsSinceHistory),
            pickupsSinceHistory: try fields.amount(.pickupsSinceHistory),
            seed: try fields.integer(.seed, in: 0...UInt64.max, absent: 0),
            eventNumber: try fields.integer(.eventNumber, in: 0...UInt32.max, absent: 0)
        )
        guard history == nil else { return }
        for (name, count) in [
            (CodingKeys.killsSinceHistory, killsSinceHistory), (.pickupsSinceHistory, pickupsSinceHistory),
        ] where count > Amount(0) {
            throw fields.fault(name, "must be 0 without a history")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        try now.encode(to: encoder)
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(seed, forKey: .seed)
        try fields.encode(eventNumber, forKey: .eventNumber)
        try fields.encode(history, forKey: .history)
        try fields.encode(killsSinceHistory.value, forKey: .killsSinceHistory)
        try fields.encode(pickupsSinceHistory.value, forKey: .pickupsSinceHistory)
    }
}
