/// The observation: small integers, each over a divisor of its own. Rules O1–O4.

/// A value of the observation: what it is called and what its integer is divided by.
public struct Feature: Sendable {
    public let name: String
    public let divisor: UInt8
}

/// The layout of the observation: the player's features, the programs, the features of every cell (O1–O3).
public enum Observation {
    public static let player = PlayerLayout()
    public static let programs = Program.allCases.map { Feature(name: $0.name, divisor: 1) }
    public static let cell = CellLayout()

    public static let size = player.features.count + programs.count + Cell.count * cell.features.count

    /// The divisor of each value.
    public static let divisors: [UInt8] =
        (player.features + programs + (0..<Cell.count).flatMap { _ in cell.features }).map(\.divisor)

    // Where a value is capped at 1.
    static let mostResources: UInt8 = 50
    static let mostDataSiphons: UInt8 = 10
    static let mostTurns: UInt8 = 4

    /// Places of the player's features, one line for each in the order of O1.
    public struct PlayerLayout: Sendable {
        public let features: [Feature]
        let row, col, hp, credits, energy, stage, dataSiphons, attackDamage, showActivated, scheduledTasksDisabled: Int

        fileprivate init() {
            var list = FeatureList()
            row = list.add("row", over: UInt8(Cell.side - 1))
            col = list.add("col", over: UInt8(Cell.side - 1))
            hp = list.add("hp", over: Player.maxHP)
            credits = list.add("credits", over: mostResources)
            energy = list.add("energy", over: mostResources)
            stage = list.add("stage", over: UInt8(Stage.last - 1))
            dataSiphons = list.add("dataSiphons", over: mostDataSiphons)
            attackDamage = list.add("attack", over: Player.maxAttackDamage - 1)
            showActivated = list.add("showActivated")
            scheduledTasksDisabled = list.add("scheduledTasksDisabled")
            features = list.features
        }
    }

    /// Places of a cell's features within the cell, one line for each in the order of O3. Types and programs take as
    /// many places as there are of them.
    public struct CellLayout: Sendable {
        public let features: [Feature]
        let enemyTypes, enemyHP, stunned, fromSiphon, data, program, question, points, siphoned, programs: Int
        let spawnCount, turnsRemaining, credits, energy, pickup, exit, siphonCenter: Int

        fileprivate init() {
            var list = FeatureList()
            enemyTypes = list.add(EnemyType.allCases.map(\.name))
            enemyHP = list.add("enemyHP", over: EnemyType.allCases.map(\.maxHP).max() ?? 1)
            stunned = list.add("stunned")
            fromSiphon = list.add("fromSiphon")
            data = list.add("data")
            program = list.add("program")
            question = list.add("question")
            points = list.add("points", over: Block.mostPoints)
            siphoned = list.add("siphoned")
            programs = list.add(Program.allCases.map { "block:\($0.name)" })
            spawnCount = list.add("spawn", over: Block.mostSpawnCount)
            turnsRemaining = list.add("transmissionTurns", over: mostTurns)
            credits = list.add("credits", over: Board.mostResource)
            energy = list.add("energy", over: Board.mostResource)
            pickup = list.add("pickup")
            exit = list.add("exit")
            siphonCenter = list.add("siphonCentre")
            features = list.features
        }
    }

    private struct FeatureList {
        private(set) var features: [Feature] = []

        /// - Returns: the place of the feature.
        mutating func add(_ name: String, over divisor: UInt8 = 1) -> Int {
            features.append(Feature(name: name, divisor: divisor))
            return features.count - 1
        }

        /// - Returns: the place of the first of the features.
        mutating func add(_ names: [String]) -> Int {
            features += names.map { Feature(name: $0, divisor: 1) }
            return features.count - names.count
        }
    }
}

extension Snapshot {
    /// The cryptogs that do not show (O4).
    public var hiddenCryptogs: CellSet {
        showActivated ? CellSet() : enemies(of: .cryptog) - player.line
    }

    /// The cells whose credits and energy show (O4).
    public var uncovered: CellSet { board.open | board.siphoned }
}

extension Game {
    /// Writes the observation as small integers: value `i` of O is `output[i]` / `Observation.divisors[i]`.
    /// - Parameters:
    ///   - output: `Observation.size` bytes, overwritten.
    ///   - marks: receives the marks of the O rules.
    public func observe(into output: UnsafeMutableBufferPointer<UInt8>, marks: inout MarkSet) {
        precondition(output.count == Observation.size, "an observation has \(Observation.size) values")
        output.update(repeating: 0)
        observePlayer(output, &marks)
        let programs = UnsafeMutableBufferPointer(rebasing: output[Observation.player.features.count...])
        for program in now.ownedPrograms {
            marks.insert(.`O2`)
            programs[program.place] = 1
        }
        let grid = UnsafeMutableBufferPointer(rebasing: programs[Observation.programs.count...])
        observeMovers(grid, &marks)
        observeBlocks(grid, &marks)
        observeGround(grid, &marks)
    }

    /// O1
    private func observePlayer(_ output: UnsafeMutableBufferPointer<UInt8>, _ marks: inout MarkSet) {
        let place = Observation.player
        let player = now.player
        output[place.row] = UInt8(player.cell.row)
        output[place.col] = UInt8(player.cell.col)
        output[place.hp] = player.hp
        output[place.credits] = capped(player.credits, at: Observation.mostResources, &marks)
        output[place.energy] = capped(player.energy, at: Observation.mostResources, &marks)
        output[place.stage] = UInt8(min(now.stage, Stage.last) - 1)
        output[place.dataSiphons] = capped(player.dataSiphons, at: Observation.mostDataSiphons, &marks)
        output[place.attackDamage] = player.attackDamage - 1
        output[place.showActivated] = now.showActivated ? 1 : 0
        output[place.scheduledTasksDisabled] = now.scheduledTasksDisabled ? 1 : 0
    }

    private func capped(_ amount: Amount, at most: UInt8, _ marks: inout MarkSet) -> UInt8 {
        if amount.value > Int(most) { marks.insert(.`O1.capped`) }
        return UInt8(min(amount.value, Int(most)))
    }

    /// O3: enemies and transmissions
    private func observeMovers(_ grid: UnsafeMutableBufferPointer<UInt8>, _ marks: inout MarkSet) {
        let place = Observation.cell
        let hidden = now.hiddenCryptogs
        if !hidden.isEmpty { marks.insert(.`O4.hiddenCryptog`) }
        for cell in now.enemies.cells - hidden {
            guard let enemy = now.enemies[cell] else { continue }
            marks.insert(enemy.type == .cryptog ? .`O4.shownCryptog` : .`O3.enemy`)
            let base = cell.index * place.features.count
            grid[base + place.enemyTypes + Int(enemy.type.rawValue)] = 1
            grid[base + place.enemyHP] = enemy.hp
            grid[base + place.stunned] = enemy.isStunned ? 1 : 0
            grid[base + place.fromSiphon] = enemy.origin.fromSiphon ? 1 : 0
        }
        for cell in now.transmissions.cells {
            guard let transmission = now.transmissions[cell] else { continue }
            marks.insert(.`O3.transmission`)
            let base = cell.index * place.features.count
            grid[base + place.turnsRemaining] = min(transmission.turnsRemaining, Observation.mostTurns)
        }
    }

    /// O3: blocks
    private func observeBlocks(_ grid: UnsafeMutableBufferPointer<UInt8>, _ marks: inout MarkSet) {
        let place = Observation.cell
        for cell in now.board.blocks.cells {
            guard let block = now.board.blocks[cell] else { continue }
            let base = cell.index * place.features.count
            grid[base + place.siphoned] = now.board.siphoned.contains(cell) ? 1 : 0
            if block.isQuestion {
                marks.insert(.`O4.question`)
                grid[base + place.question] = 1
                continue
            }
            marks.insert(.`O3.block`)
            grid[base + place.spawnCount] = block.spawnCount
            switch block.content {
            case .data(let points):
                grid[base + place.data] = 1
                grid[base + place.points] = points
            case .program(let program):
                grid[base + place.program] = 1
                grid[base + place.programs + program.place] = 1
            }
        }
    }

    /// O3: resources, pickups, exit and siphon centres
    private func observeGround(_ grid: UnsafeMutableBufferPointer<UInt8>, _ marks: inout MarkSet) {
        let place = Observation.cell
        let board = now.board
        let resources = board.credits.cells | board.energy.cells
        if !(resources - now.uncovered).isEmpty { marks.insert(.`O4.coveredResource`) }
        if !(resources & board.blocks.cells & board.siphoned).isEmpty { marks.insert(.`O4.uncoveredResource`) }
        for cell in resources & now.uncovered {
            marks.insert(.`O3.resource`)
            let base = cell.index * place.features.count
            grid[base + place.credits] = board.credits[cell] ?? 0
            grid[base + place.energy] = board.energy[cell] ?? 0
        }
        for cell in board.pickups {
            marks.insert(.`O3.pickup`)
            grid[cell.index * place.features.count + place.pickup] = 1
        }
        for cell in board.siphonCenters {
            marks.insert(.`O3.siphonCentre`)
            grid[cell.index * place.features.count + place.siphonCenter] = 1
        }
        grid[board.exit.index * place.features.count + place.exit] = 1
    }
}
