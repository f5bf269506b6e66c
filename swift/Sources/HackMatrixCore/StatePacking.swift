/// S of the protocol as a record of fixed size, for comparing states by the million. docs/protocol.md holds the layout.

extension Game {
    /// Bytes of a packed game: seed, event number, counters, whether there is a history, two positions.
    public static let packedSize = 24 + 2 * Position.packedSize

    /// Writes the complete state; without a history the second position is all zero.
    /// - Parameter record: `packedSize` bytes, overwritten.
    public func pack(into record: UnsafeMutableRawBufferPointer) {
        precondition(record.count == Game.packedSize, "a packed game has \(Game.packedSize) bytes")
        record.initializeMemory(as: UInt8.self, repeating: 0)
        record.store(seed, at: 0)
        record.store(eventNumber, at: 8)
        record.store(UInt16(killsSinceHistory.value), at: 12)
        record.store(UInt16(pickupsSinceHistory.value), at: 14)
        record.store(UInt8(history == nil ? 0 : 1), at: 16)
        let positions = UnsafeMutableRawBufferPointer(rebasing: record[24...])
        now.pack(into: UnsafeMutableRawBufferPointer(rebasing: positions[..<Position.packedSize]))
        history?.pack(into: UnsafeMutableRawBufferPointer(rebasing: positions[Position.packedSize...]))
    }
}

extension Position {
    static let packedSize = Plane.start + Plane.allCases.count * Cell.count

    /// The planes of 36 bytes, one for each cell, in the order of the record.
    private enum Plane: Int, CaseIterable {
        case blockKind, blockContent, blockSpawn, credits, energy, ground
        case enemyType, enemyHP, enemyDisabled, enemyFlags, enemyLastKnown
        case transmissionType, transmissionTurns, transmissionFlags

        static let start = 40

        func offset(_ cell: Cell) -> Int { Plane.start + rawValue * Cell.count + cell.index }
    }

    /// - Parameter record: `packedSize` zero bytes.
    fileprivate func pack(into record: UnsafeMutableRawBufferPointer) {
        packScalars(into: record)
        packBoard(into: record)
        packMovers(into: record)
    }

    private func packScalars(into record: UnsafeMutableRawBufferPointer) {
        for (place, value) in [turn, spawnInterval, nextScheduledTurn, owned.bits].enumerated() {
            record.store(value, at: 4 * place)
        }
        let amounts = [player.credits, player.energy, player.dataSiphons, player.score, pendingSiphonSpawns]
        for (place, amount) in amounts.enumerated() {
            record.store(UInt16(amount.value), at: 16 + 2 * place)
        }
        let small = [
            UInt8(player.cell.index), player.hp, player.attack, UInt8(stage), isShowOn ? 1 : 0, isCalmOn ? 1 : 0,
            isStepOn ? 1 : 0, attackPlusUses, closestApproach, UInt8(board.exit.index),
        ]
        for (place, value) in small.enumerated() {
            record.store(value, at: 26 + place)
        }
    }

    private func packBoard(into record: UnsafeMutableRawBufferPointer) {
        for cell in board.blocks.cells {
            guard let block = board.blocks[cell] else { continue }
            let question: UInt8 = block.isQuestion ? 2 : 0
            switch block.content {
            case .data(let points):
                record.store(1 + question, at: Plane.blockKind.offset(cell))
                record.store(points, at: Plane.blockContent.offset(cell))
            case .program(let program):
                record.store(2 + question, at: Plane.blockKind.offset(cell))
                record.store(UInt8(program.rawValue), at: Plane.blockContent.offset(cell))
            }
            record.store(block.spawn, at: Plane.blockSpawn.offset(cell))
        }
        for cell in board.credits.cells | board.energy.cells {
            record.store(board.credits[cell] ?? 0, at: Plane.credits.offset(cell))
            record.store(board.energy[cell] ?? 0, at: Plane.energy.offset(cell))
        }
        for cell in board.pickups | board.siphoned | board.siphonCentres {
            let flags = flags(
                board.pickups.contains(cell), board.siphoned.contains(cell), board.siphonCentres.contains(cell))
            record.store(flags, at: Plane.ground.offset(cell))
        }
    }

    private func packMovers(into record: UnsafeMutableRawBufferPointer) {
        for cell in enemies.cells {
            guard let enemy = enemies[cell] else { continue }
            record.store(1 + enemy.type.rawValue, at: Plane.enemyType.offset(cell))
            record.store(enemy.hp, at: Plane.enemyHP.offset(cell))
            record.store(enemy.disabled, at: Plane.enemyDisabled.offset(cell))
            let flags = flags(enemy.origin.fromSiphon, enemy.origin.fromSchedule, enemy.isStunned)
            record.store(flags, at: Plane.enemyFlags.offset(cell))
            record.store(UInt8((enemy.lastKnown?.index ?? -1) + 1), at: Plane.enemyLastKnown.offset(cell))
        }
        for cell in transmissions.cells {
            guard let transmission = transmissions[cell] else { continue }
            record.store(1 + transmission.type.rawValue, at: Plane.transmissionType.offset(cell))
            record.store(transmission.turnsRemaining, at: Plane.transmissionTurns.offset(cell))
            let flags = flags(transmission.origin.fromSiphon, transmission.origin.fromSchedule, false)
            record.store(flags, at: Plane.transmissionFlags.offset(cell))
        }
    }

    /// Bits 0, 1 and 2.
    private func flags(_ first: Bool, _ second: Bool, _ third: Bool) -> UInt8 {
        (first ? 1 : 0) | (second ? 2 : 0) | (third ? 4 : 0)
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Stores a number in little-endian order.
    public func store<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number, at offset: Int) {
        storeBytes(of: number.littleEndian, toByteOffset: offset, as: Number.self)
    }
}
