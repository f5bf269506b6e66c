/// S of the protocol as a record of fixed size, for comparing millions of states. Rules A3–A7, P-UNDO.
/// docs/reference/protocol.md holds the layout.

import HackMatrixCore

extension Game {
    /// The size of a packed game in bytes, equal for every game.
    public static let packedSize = Game(seed: 0).packed().count
    /// Records and the snapshots in them begin at multiples of this size.
    fileprivate static let packedAlignment = 8

    /// The record of the complete state; without a history, the history's bytes are zero.
    public func packed() -> [UInt8] {
        var record = ByteWriter()
        pack(into: &record)
        return record.finish()
    }

    /// Appends the record of the complete state at a multiple of `packedAlignment`.
    func pack(into record: inout ByteWriter) {
        record.integer(seed)
        record.integer(eventNumber)
        record.integer(UInt16(killsSinceHistory.value))
        record.integer(UInt16(pickupsSinceHistory.value))
        record.integer(UInt8(history == nil ? 0 : 1))
        record.align(to: Game.packedAlignment)
        let start = record.count
        now.pack(into: &record)
        if history == nil { record.fill(record.count - start) }
        history?.pack(into: &record)
    }
}

extension Snapshot {
    /// The planes, which hold one byte for each cell, in the order of the record.
    fileprivate enum Plane: Int, CaseIterable {
        case blockKind, blockContent, blockSpawn, credits, energy, ground
        case enemyType, enemyHP, enemyDisabled, enemyFlags, enemyLastKnown
        case transmissionType, transmissionTurns, transmissionFlags
    }

    fileprivate func pack(into record: inout ByteWriter) {
        packScalars(into: &record)
        record.fill(Plane.allCases.count * Cell.count) { bytes in
            let planes = Planes(bytes: bytes)
            packBoard(into: planes)
            packMovers(into: planes)
        }
    }

    private func packScalars(into record: inout ByteWriter) {
        for number in [turn, scheduledTaskInterval, nextScheduledTaskTurn, ownedPrograms.bits] {
            record.integer(number)
        }
        for amount in [player.credits, player.energy, player.dataSiphons, player.score, pendingSiphonTransmissions] {
            record.integer(UInt16(amount.value))
        }
        record.append([
            UInt8(player.cell.index), player.hp, player.attackDamage, UInt8(stage), showActivated ? 1 : 0,
            scheduledTasksDisabled ? 1 : 0, stepActive ? 1 : 0, atkPlusUses, closestApproach, UInt8(board.exit.index),
        ])
        record.align(to: Game.packedAlignment)
    }

    private func packBoard(into planes: Planes) {
        board.blocks.visit { cell, block in
            let question: UInt8 = block.isQuestion ? 2 : 0
            switch block.content {
            case .data(let points):
                planes[.blockKind, cell] = 1 + question
                planes[.blockContent, cell] = points
            case .program(let program):
                planes[.blockKind, cell] = 2 + question
                planes[.blockContent, cell] = UInt8(program.rawValue)
            }
            planes[.blockSpawn, cell] = block.spawnCount
        }
        board.credits.visit { planes[.credits, $0] = $1 }
        board.energy.visit { planes[.energy, $0] = $1 }
        for cell in board.pickups { planes[.ground, cell] |= 1 }
        for cell in board.siphoned { planes[.ground, cell] |= 2 }
        for cell in board.siphonCenters { planes[.ground, cell] |= 4 }
    }

    private func packMovers(into planes: Planes) {
        enemies.visit { cell, enemy in
            planes[.enemyType, cell] = 1 + enemy.type.rawValue
            planes[.enemyHP, cell] = enemy.hp
            planes[.enemyDisabled, cell] = enemy.disabledTurns
            planes[.enemyFlags, cell] = enemy.origin.flags | (enemy.isStunned ? 4 : 0)
            planes[.enemyLastKnown, cell] = UInt8((enemy.lastKnown?.index ?? -1) + 1)
        }
        transmissions.visit { cell, transmission in
            planes[.transmissionType, cell] = 1 + transmission.type.rawValue
            planes[.transmissionTurns, cell] = transmission.turnsRemaining
            planes[.transmissionFlags, cell] = transmission.origin.flags
        }
    }
}

extension Origin {
    fileprivate var flags: UInt8 { (fromSiphon ? 1 : 0) | (fromSchedule ? 2 : 0) }
}

/// The planes of one snapshot.
private struct Planes {
    let bytes: UnsafeMutableRawBufferPointer

    subscript(plane: Snapshot.Plane, cell: Cell) -> UInt8 {
        get { bytes[plane.rawValue * Cell.count + cell.index] }
        nonmutating set { bytes[plane.rawValue * Cell.count + cell.index] = newValue }
    }
}
