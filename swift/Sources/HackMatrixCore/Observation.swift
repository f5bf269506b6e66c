/// The observation: 1545 values, each a small integer over a divisor. Rules O1–O4.

/// The layout of the observation (O1–O3).
public enum Observation {
    /// A value of the layout: what it is called and what its integer is divided by.
    struct Feature: Sendable {
        let name: String
        let divisor: UInt8
    }

    static let player = [
        Feature(name: "row", divisor: 5), Feature(name: "col", divisor: 5), Feature(name: "hp", divisor: 3),
        Feature(name: "credits", divisor: 50), Feature(name: "energy", divisor: 50),
        Feature(name: "stage", divisor: 7), Feature(name: "dataSiphons", divisor: 10),
        Feature(name: "attack", divisor: 2), Feature(name: "showActivated", divisor: 1),
        Feature(name: "scheduledTasksDisabled", divisor: 1),
    ]

    static let programs = Program.allCases.map { Feature(name: $0.name, divisor: 1) }

    static let cell =
        ["virus", "daemon", "glitch", "cryptog"].map { Feature(name: $0, divisor: 1) }
        + [Feature(name: "enemyHP", divisor: 3)]
        + ["stunned", "fromSiphon", "data", "program", "question"].map { Feature(name: $0, divisor: 1) }
        + [Feature(name: "points", divisor: 9), Feature(name: "siphoned", divisor: 1)]
        + Program.allCases.map { Feature(name: "block:\($0.name)", divisor: 1) }
        + [
            Feature(name: "spawn", divisor: 9), Feature(name: "transmissionTurns", divisor: 4),
            Feature(name: "credits", divisor: 3), Feature(name: "energy", divisor: 3),
        ]
        + ["pickup", "exit", "siphonCentre"].map { Feature(name: $0, divisor: 1) }

    public static let playerFeatures = 10
    public static let programFeatures = 23
    public static let cellFeatures = 42
    public static let size = playerFeatures + programFeatures + Cell.count * cellFeatures

    /// The divisor of each of the 1545 values.
    public static let divisors: [UInt8] =
        (player + programs + (0..<Cell.count).flatMap { _ in cell }).map(\.divisor)

    /// Where the values of a cell's features begin within the cell.
    fileprivate enum Offset {
        static let hp = 4
        static let stunned = 5
        static let fromSiphon = 6
        static let data = 7
        static let program = 8
        static let question = 9
        static let points = 10
        static let siphoned = 11
        static let programs = 12
        static let spawn = 35
        static let transmission = 36
        static let credits = 37
        static let energy = 38
        static let pickup = 39
        static let exit = 40
        static let siphonCentre = 41
    }
}

extension Position {
    /// The cryptogs that do not show (O4).
    var hiddenCryptogs: CellSet {
        isShowOn ? CellSet() : enemies(of: .cryptog) - player.line
    }

    /// The cells whose credits and energy show (O4).
    var uncovered: CellSet { board.open | board.siphoned }
}

extension Game {
    /// Writes the observation as small integers: value `i` of O is `output[i]` / `Observation.divisors[i]`.
    /// - Parameters:
    ///   - output: 1545 bytes, overwritten.
    ///   - marks: receives the marks of the O rules.
    public func observe(into output: UnsafeMutableBufferPointer<UInt8>, marks: inout MarkSet) {
        precondition(output.count == Observation.size, "an observation has \(Observation.size) values")
        output.update(repeating: 0)
        observePlayer(output, &marks)
        for program in now.owned {
            marks.insert(.`O2`)
            output[Observation.playerFeatures + program.rawValue - Program.push.rawValue] = 1
        }
        let grid = UnsafeMutableBufferPointer(
            rebasing: output[(Observation.playerFeatures + Observation.programFeatures)...])
        observeMovers(grid, &marks)
        observeBlocks(grid, &marks)
        observeGround(grid, &marks)
    }

    /// O1
    private func observePlayer(_ output: UnsafeMutableBufferPointer<UInt8>, _ marks: inout MarkSet) {
        let player = now.player
        let values = (credits: player.credits.value, energy: player.energy.value, siphons: player.dataSiphons.value)
        if values.credits > 50 || values.energy > 50 || values.siphons > 10 { marks.insert(.`O1.capped`) }
        output[0] = UInt8(player.cell.row)
        output[1] = UInt8(player.cell.col)
        output[2] = player.hp
        output[3] = UInt8(min(values.credits, 50))
        output[4] = UInt8(min(values.energy, 50))
        output[5] = UInt8(min(now.stage - 1, 7))
        output[6] = UInt8(min(values.siphons, 10))
        output[7] = player.attack - 1
        output[8] = now.isShowOn ? 1 : 0
        output[9] = now.isCalmOn ? 1 : 0
    }

    /// O3: 0–6 and 36
    private func observeMovers(_ grid: UnsafeMutableBufferPointer<UInt8>, _ marks: inout MarkSet) {
        let hidden = now.hiddenCryptogs
        if !hidden.isEmpty { marks.insert(.`O4.hiddenCryptog`) }
        for cell in now.enemies.cells - hidden {
            guard let enemy = now.enemies[cell] else { continue }
            marks.insert(enemy.type == .cryptog ? .`O4.shownCryptog` : .`O3.enemy`)
            let base = cell.index * Observation.cellFeatures
            grid[base + Int(enemy.type.rawValue)] = 1
            grid[base + Observation.Offset.hp] = enemy.hp
            grid[base + Observation.Offset.stunned] = enemy.isStunned ? 1 : 0
            grid[base + Observation.Offset.fromSiphon] = enemy.origin.fromSiphon ? 1 : 0
        }
        for cell in now.transmissions.cells {
            guard let transmission = now.transmissions[cell] else { continue }
            marks.insert(.`O3.transmission`)
            let base = cell.index * Observation.cellFeatures
            grid[base + Observation.Offset.transmission] = min(transmission.turnsRemaining, 4)
        }
    }

    /// O3: 7–35
    private func observeBlocks(_ grid: UnsafeMutableBufferPointer<UInt8>, _ marks: inout MarkSet) {
        for cell in now.board.blocks.cells {
            guard let block = now.board.blocks[cell] else { continue }
            let base = cell.index * Observation.cellFeatures
            grid[base + Observation.Offset.siphoned] = now.board.siphoned.contains(cell) ? 1 : 0
            if block.isQuestion {
                marks.insert(.`O4.question`)
                grid[base + Observation.Offset.question] = 1
                continue
            }
            marks.insert(.`O3.block`)
            grid[base + Observation.Offset.spawn] = block.spawn
            switch block.content {
            case .data(let points):
                grid[base + Observation.Offset.data] = 1
                grid[base + Observation.Offset.points] = points
            case .program(let program):
                grid[base + Observation.Offset.program] = 1
                grid[base + Observation.Offset.programs + program.rawValue - Program.push.rawValue] = 1
            }
        }
    }

    /// O3: 37–41
    private func observeGround(_ grid: UnsafeMutableBufferPointer<UInt8>, _ marks: inout MarkSet) {
        let board = now.board
        let resources = board.credits.cells | board.energy.cells
        if !(resources - now.uncovered).isEmpty { marks.insert(.`O4.coveredResource`) }
        if !(resources & board.blocks.cells & board.siphoned).isEmpty { marks.insert(.`O4.uncoveredResource`) }
        for cell in resources & now.uncovered {
            marks.insert(.`O3.resource`)
            let base = cell.index * Observation.cellFeatures
            grid[base + Observation.Offset.credits] = board.credits[cell] ?? 0
            grid[base + Observation.Offset.energy] = board.energy[cell] ?? 0
        }
        for cell in board.pickups {
            marks.insert(.`O3.pickup`)
            grid[cell.index * Observation.cellFeatures + Observation.Offset.pickup] = 1
        }
        for cell in board.siphonCentres {
            marks.insert(.`O3.siphonCentre`)
            grid[cell.index * Observation.cellFeatures + Observation.Offset.siphonCentre] = 1
        }
        grid[board.exit.index * Observation.cellFeatures + Observation.Offset.exit] = 1
    }
}
