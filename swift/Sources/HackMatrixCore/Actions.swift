/// The actions and the mask of the valid ones. Rules M1–M3, C2, C4's empty mask.

/// An action of the player.
public enum Action: Equatable, Sendable {
    case move(Direction)
    case siphon
    case program(Program)

    /// After the moves, one for each direction (M1, M2).
    fileprivate static let siphonIndex = Direction.allCases.count
    /// The moves, the siphon and the programs.
    public static let count = siphonIndex + 1 + Program.allCases.count

    /// Nil unless `index` is one of 0..<`count`.
    public init?(index: Int) {
        switch index {
        case 0..<Action.siphonIndex: self = .move(Direction.allCases[index])
        case Action.siphonIndex: self = .siphon
        default:
            guard let program = Program(rawValue: index) else { return nil }
            self = .program(program)
        }
    }

    /// True for actions that the enemy turn follows (C2).
    var endsTurn: Bool {
        if case .program(let program) = self { program.endsTurn } else { true }
    }
}

/// The mask of valid actions: bit `i` for action `i`.
public struct ActionMask: Equatable, Sendable {
    public fileprivate(set) var bits: UInt32 = 0

    public func contains(_ index: Int) -> Bool {
        (0..<Action.count).contains(index) && bits & 1 << UInt32(index) != 0
    }

    public var indices: [Int] { (0..<Action.count).filter(contains) }
}

extension Game {
    /// The whole mask (M); all false once the game is over (C4).
    public var validActions: ActionMask {
        var mask = ActionMask()
        guard !now.isOver else { return mask }
        for direction in Direction.allCases where canMove(direction) { mask.bits |= 1 << UInt32(direction.rawValue) }
        if canSiphon { mask.bits |= 1 << UInt32(Action.siphonIndex) }
        for program in now.ownedPrograms where canRun(program) { mask.bits |= 1 << UInt32(program.rawValue) }
        return mask
    }

    /// One entry of the mask.
    func isValid(_ action: Action) -> Bool {
        guard !now.isOver else { return false }
        return switch action {
        case .move(let direction): canMove(direction)
        case .siphon: canSiphon
        case .program(let program): now.ownedPrograms.contains(program) && canRun(program)
        }
    }

    /// M1
    private func canMove(_ direction: Direction) -> Bool {
        guard let cell = now.player.cell.neighbour(direction) else { return false }
        return !now.board.blocks.cells.contains(cell) || now.enemies.cells.contains(cell)
    }

    /// M2
    private var canSiphon: Bool { now.player.dataSiphons > Amount(0) }

    /// M3 of a program that is owned
    private func canRun(_ program: Program) -> Bool {
        canPay(program) && isApplicable(program)
    }

    private func canPay(_ program: Program) -> Bool {
        let price = program.column
        return now.player.credits >= Amount(price.credits) && now.player.energy >= Amount(price.energy)
    }

    /// The mark of the M rule that decides whether an action is valid. Mutating, because a nonmutating method would be
    /// called on a copy of the game.
    mutating func decisiveMark(_ action: Action) -> Mark {
        switch action {
        case .move(let direction):
            guard let cell = now.player.cell.neighbour(direction) else { return .`M1.edge` }
            guard now.board.blocks.cells.contains(cell) else { return .`M1.open` }
            return now.enemies.cells.contains(cell) ? .`M1.enemyOnBlock` : .`M1.block`
        case .siphon:
            return canSiphon ? .`M2.held` : .`M2.none`
        case .program(let program):
            guard now.ownedPrograms.contains(program) else { return .`M3.notOwned` }
            guard canPay(program) else { return .`M3.tooDear` }
            return isApplicable(program) ? .`M3.applicable` : .`M3.notApplicable`
        }
    }
}
