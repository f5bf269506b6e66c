/// Small boards for tests.

import Foundation

@testable import HackMatrixCore

/// The cell of a row and a column.
func at(_ row: Int, _ col: Int) -> Cell { Cell(index: 6 * row + col) }

/// A set of cells.
func cells(_ members: Cell...) -> CellSet {
    members.reduce(into: CellSet()) { $0.insert($1) }
}

/// A game on an empty board: exit top right, nothing scheduled soon, otherwise as the protocol's defaults.
func emptyGame(player: Cell, seed: UInt64 = 0, _ change: (inout Position) -> Void = { _ in }) -> Game {
    var now = Position(
        player: Player(cell: player), board: Board(exit: at(5, 5)), spawnInterval: 12, nextScheduledTurn: 12)
    change(&now)
    now.closestApproach = UInt8(now.distanceToExit ?? 0)
    return Game(
        now: now, history: nil, killsSinceHistory: Amount(0), pickupsSinceHistory: Amount(0), seed: seed,
        eventNumber: 0)
}

extension Position {
    /// Adds an enemy, by default healthy and from the stage.
    mutating func put(
        _ type: EnemyType, _ cell: Cell, hp: UInt8? = nil, disabled: UInt8 = 0, stunned: Bool = false,
        origin: Origin = .stage
    ) {
        enemies[cell] = Enemy(
            type: type, hp: hp ?? type.maxHP, disabled: disabled, isStunned: stunned, origin: origin,
            lastKnown: type == .cryptog ? cell : nil)
    }

    mutating func transmit(_ type: EnemyType, _ cell: Cell, turns: UInt8 = 9, origin: Origin = .stage) {
        transmissions[cell] = Transmission(type: type, turnsRemaining: turns, origin: origin)
    }

    mutating func data(_ points: UInt8, _ cell: Cell, spawn: UInt8? = nil, question: Bool = false) {
        board.blocks[cell] = Block(content: .data(points: points), isQuestion: question, spawn: spawn ?? points)
    }

    mutating func program(_ program: Program, _ cell: Cell, question: Bool = false) {
        board.blocks[cell] = Block(content: .program(program), isQuestion: question, spawn: program.spawn)
    }

    /// Gives programs and enough to pay them.
    mutating func own(_ programs: Program..., credits: Int = 50, energy: Int = 50) {
        for program in programs { owned.insert(program) }
        player.credits = Amount(credits)
        player.energy = Amount(energy)
    }
}

extension Game {
    /// The 15 components in the order of table W.
    mutating func components(_ action: Action) -> [Int] {
        let outcome = step(action)
        return Component.allCases.map { outcome.reward[$0] }
    }

    func fired(_ mark: Mark) -> Bool { firedMarks.contains(mark) }
}

/// A game from the JSON text of S.
func game(_ json: String) throws -> Game {
    try JSONDecoder().decode(Game.self, from: Data(json.utf8))
}

/// The sentence with which S is refused, nil when it is accepted.
func refusal(_ json: String) -> String? {
    do {
        _ = try game(json)
        return nil
    } catch {
        return (error as? ProtocolFault)?.description ?? "\(error)"
    }
}

func text(_ game: Game) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return String(decoding: try encoder.encode(game), as: UTF8.self)
}
