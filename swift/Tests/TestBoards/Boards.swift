/// Small boards for tests.

import HackMatrixCore

/// The cell of a row and a column.
public func at(_ row: Int, _ col: Int) -> Cell { Cell(index: 6 * row + col) }

/// A set of cells.
public func cells(_ members: Cell...) -> CellSet {
    members.reduce(into: CellSet()) { $0.insert($1) }
}

/// A game on an empty board: exit top right, nothing scheduled soon, otherwise as the protocol's defaults.
public func emptyGame(player: Cell, seed: UInt64 = 0, _ change: (inout Snapshot) -> Void = { _ in }) -> Game {
    var now = Snapshot(player: Player(cell: player), exit: at(5, 5))
    change(&now)
    now.closestApproach = UInt8(now.distanceToExit ?? 0)
    return Game(
        now: now, history: nil, killsSinceHistory: Amount(0), pickupsSinceHistory: Amount(0), seed: seed,
        eventNumber: 0)
}

extension Snapshot {
    /// Adds an enemy, by default healthy and from the stage.
    public mutating func put(
        _ type: EnemyType, _ cell: Cell, hp: UInt8? = nil, disabledTurns: UInt8 = 0, stunned: Bool = false,
        origin: Origin = .stage
    ) {
        enemies[cell] = Enemy(
            type: type, hp: hp ?? type.maxHP, disabledTurns: disabledTurns, isStunned: stunned, origin: origin,
            lastKnown: type == .cryptog ? cell : nil)
    }

    public mutating func transmit(_ type: EnemyType, _ cell: Cell, turns: UInt8 = 9, origin: Origin = .stage) {
        transmissions[cell] = Transmission(type: type, turnsRemaining: turns, origin: origin)
    }

    public mutating func data(_ points: UInt8, _ cell: Cell, spawnCount: UInt8? = nil, question: Bool = false) {
        board.blocks[cell] = Block(.data(points: points), isQuestion: question, spawnCount: spawnCount)
    }

    public mutating func program(_ program: Program, _ cell: Cell, question: Bool = false) {
        board.blocks[cell] = Block(.program(program), isQuestion: question)
    }

    /// Gives programs and enough to pay them.
    public mutating func own(_ programs: Program..., credits: Int = 50, energy: Int = 50) {
        for program in programs { ownedPrograms.insert(program) }
        player.credits = Amount(credits)
        player.energy = Amount(energy)
    }
}

extension Game {
    /// The components of a step that are not zero, at the prices of the tests.
    public mutating func components(_ action: Action) -> [Component: Int] {
        step(action, at: .distinct).reward.components
    }

    public func fired(_ mark: Mark) -> Bool { firedMarks.contains(mark) }
}

extension Prices {
    /// Prices of which no two, nor small multiples of them, are equal.
    public static let distinct: Prices = {
        var prices = Prices()
        prices.thousandths = Prices.names.indices.map { 10_007 + 101 * Int32($0) }
        return prices
    }()
}

extension Reward {
    /// The components that are not zero.
    public var components: [Component: Int] {
        Dictionary(uniqueKeysWithValues: Component.allCases.map { ($0, self[$0]) }).filter { $0.value != 0 }
    }
}
