/// The observation: small integers, each with its own divisor. Rules O1–O4.

/// A value of the observation: its name and the divisor of its integer.
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

    // Divisors at which a value is capped at 1.
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

/// A kind of numbers that an observation can be written in.
private protocol ObservationNumber: ExpressibleByIntegerLiteral {
    init(_ value: UInt8, over divisor: UInt8)
}

extension UInt8: ObservationNumber {
    /// Keeps the integer: readers divide by the divisor themselves.
    fileprivate init(_ value: UInt8, over divisor: UInt8) { self = value }
}

extension Float: ObservationNumber {
    fileprivate init(_ value: UInt8, over divisor: UInt8) { self = Float(value) / Float(divisor) }
}

/// An observation or a part of it, into which values are written by place.
private struct Canvas<Number: ObservationNumber> {
    let numbers: UnsafeMutableBufferPointer<Number>
    let divisors: UnsafeBufferPointer<UInt8>
    var start = 0

    func write(_ value: UInt8, at place: Int) {
        numbers[start + place] = Number(value, over: divisors[start + place])
    }

    func from(_ place: Int) -> Canvas {
        Canvas(numbers: numbers, divisors: divisors, start: start + place)
    }

    /// The features of a cell; call it on the part of all cells.
    func part(_ cell: Cell) -> Canvas {
        from(cell.index * Observation.cell.features.count)
    }
}

extension Game {
    /// Writes the observation as small integers: value `i` of O is `output[i]` / `Observation.divisors[i]`.
    /// - Parameters:
    ///   - output: `Observation.size` bytes, overwritten.
    ///   - marks: receives the marks of the O rules.
    public func observe(into output: UnsafeMutableBufferPointer<UInt8>, marks: inout MarkSet) {
        draw(output, &marks)
    }

    /// Writes the observation as the values of O.
    /// - Parameters:
    ///   - output: `Observation.size` floats, overwritten.
    ///   - marks: receives the marks of the O rules.
    public func observe(into output: UnsafeMutableBufferPointer<Float>, marks: inout MarkSet) {
        draw(output, &marks)
    }

    private func draw<Number: ObservationNumber>(
        _ output: UnsafeMutableBufferPointer<Number>, _ marks: inout MarkSet
    ) {
        precondition(output.count == Observation.size, "an observation has \(Observation.size) values")
        output.update(repeating: 0)
        Observation.divisors.withUnsafeBufferPointer { divisors in
            let player = Canvas(numbers: output, divisors: divisors)
            let programs = player.from(Observation.player.features.count)
            let grid = programs.from(Observation.programs.count)
            observePlayer(player, &marks)
            observePrograms(programs, &marks)
            observeMovers(grid, &marks)
            observeBlocks(grid, &marks)
            observeGround(grid, &marks)
        }
    }

    /// O1
    private func observePlayer<Number>(_ canvas: Canvas<Number>, _ marks: inout MarkSet) {
        let place = Observation.player
        let player = now.player
        canvas.write(UInt8(player.cell.row), at: place.row)
        canvas.write(UInt8(player.cell.col), at: place.col)
        canvas.write(player.hp, at: place.hp)
        canvas.write(capped(player.credits, at: Observation.mostResources, &marks), at: place.credits)
        canvas.write(capped(player.energy, at: Observation.mostResources, &marks), at: place.energy)
        canvas.write(UInt8(min(now.stage, Stage.last) - 1), at: place.stage)
        canvas.write(capped(player.dataSiphons, at: Observation.mostDataSiphons, &marks), at: place.dataSiphons)
        canvas.write(player.attackDamage - 1, at: place.attackDamage)
        canvas.write(now.showActivated ? 1 : 0, at: place.showActivated)
        canvas.write(now.scheduledTasksDisabled ? 1 : 0, at: place.scheduledTasksDisabled)
    }

    private func capped(_ amount: Amount, at most: UInt8, _ marks: inout MarkSet) -> UInt8 {
        if amount.value > Int(most) { marks.insert(.`O1.capped`) }
        return UInt8(min(amount.value, Int(most)))
    }

    /// O2
    private func observePrograms<Number>(_ canvas: Canvas<Number>, _ marks: inout MarkSet) {
        for program in now.ownedPrograms {
            marks.insert(.`O2`)
            canvas.write(1, at: program.place)
        }
    }

    /// O3: enemies and transmissions
    private func observeMovers<Number>(_ grid: Canvas<Number>, _ marks: inout MarkSet) {
        let place = Observation.cell
        let hidden = now.hiddenCryptogs
        if !hidden.isEmpty { marks.insert(.`O4.hiddenCryptog`) }
        for cell in now.enemies.cells - hidden {
            guard let enemy = now.enemies[cell] else { continue }
            marks.insert(enemy.type == .cryptog ? .`O4.shownCryptog` : .`O3.enemy`)
            let canvas = grid.part(cell)
            canvas.write(1, at: place.enemyTypes + Int(enemy.type.rawValue))
            canvas.write(enemy.hp, at: place.enemyHP)
            canvas.write(enemy.isStunned ? 1 : 0, at: place.stunned)
            canvas.write(enemy.origin.fromSiphon ? 1 : 0, at: place.fromSiphon)
        }
        for cell in now.transmissions.cells {
            guard let transmission = now.transmissions[cell] else { continue }
            marks.insert(.`O3.transmission`)
            grid.part(cell).write(min(transmission.turnsRemaining, Observation.mostTurns), at: place.turnsRemaining)
        }
    }

    /// O3: blocks
    private func observeBlocks<Number>(_ grid: Canvas<Number>, _ marks: inout MarkSet) {
        let place = Observation.cell
        for cell in now.board.blocks.cells {
            guard let block = now.board.blocks[cell] else { continue }
            let canvas = grid.part(cell)
            canvas.write(now.board.siphoned.contains(cell) ? 1 : 0, at: place.siphoned)
            if block.isQuestion {
                marks.insert(.`O4.question`)
                canvas.write(1, at: place.question)
                continue
            }
            marks.insert(.`O3.block`)
            canvas.write(block.spawnCount, at: place.spawnCount)
            switch block.content {
            case .data(let points):
                canvas.write(1, at: place.data)
                canvas.write(points, at: place.points)
            case .program(let program):
                canvas.write(1, at: place.program)
                canvas.write(1, at: place.programs + program.place)
            }
        }
    }

    /// O3: resources, pickups, exit and siphon centres
    private func observeGround<Number>(_ grid: Canvas<Number>, _ marks: inout MarkSet) {
        let place = Observation.cell
        let board = now.board
        let resources = board.credits.cells | board.energy.cells
        if !(resources - now.uncovered).isEmpty { marks.insert(.`O4.coveredResource`) }
        if !(resources & board.blocks.cells & board.siphoned).isEmpty { marks.insert(.`O4.uncoveredResource`) }
        if !(resources & now.uncovered).isEmpty { marks.insert(.`O3.resource`) }
        for cell in board.credits.cells & now.uncovered {
            grid.part(cell).write(board.credits.value(cell), at: place.credits)
        }
        for cell in board.energy.cells & now.uncovered {
            grid.part(cell).write(board.energy.value(cell), at: place.energy)
        }
        for cell in board.pickups {
            marks.insert(.`O3.pickup`)
            grid.part(cell).write(1, at: place.pickup)
        }
        for cell in board.siphonCenters {
            marks.insert(.`O3.siphonCentre`)
            grid.part(cell).write(1, at: place.siphonCenter)
        }
        grid.part(board.exit).write(1, at: place.exit)
    }
}
