/// The entries of S's lists as JSON objects. Rules A3–A6; ranges of
/// docs/reference/hackmatrix-rules.md.

import HackMatrixCore

extension Fields {
    /// A cell given by two coordinates on the board.
    func cell(_ row: Name, _ col: Name) throws -> Cell {
        let coordinates = 0...(Cell.side - 1)
        return Cell(
            index: Cell.side * (try integer(row, in: coordinates)) + (try integer(col, in: coordinates)))
    }

    func enemyType(_ name: Name) throws -> EnemyType {
        let given = try text(name)
        guard let type = EnemyType.allCases.first(where: { $0.name == given }) else {
            throw fault(name, "must be one of \(EnemyType.allCases.map(\.name).joined(separator: ", "))")
        }
        return type
    }
}

extension Cell: Codable {
    enum CodingKeys: String, FieldName { case row, col }

    public init(from decoder: any Decoder) throws {
        let fields = try Fields<CodingKeys>(decoder)
        try fields.refuseUnknown(in: decoder)
        self = try fields.cell(.row, .col)
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(row, forKey: .row)
        try fields.encode(col, forKey: .col)
    }
}

extension Player: Codable {
    enum CodingKeys: String, FieldName {
        case row, col, hp, credits, energy, dataSiphons, attackDamage, score
    }

    public init(from decoder: any Decoder) throws {
        let fields = try Fields<CodingKeys>(decoder)
        try fields.refuseUnknown(in: decoder)
        self.init(cell: try fields.cell(.row, .col))
        hp = try fields.integer(.hp, in: 0...Player.maxHP, absent: hp)
        attackDamage = try fields.integer(.attackDamage, in: 1...Player.maxAttackDamage, absent: attackDamage)
        credits = try fields.amount(.credits)
        energy = try fields.amount(.energy)
        dataSiphons = try fields.amount(.dataSiphons)
        score = try fields.amount(.score)
    }

    public func encode(to encoder: any Encoder) throws {
        try cell.encode(to: encoder)
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(hp, forKey: .hp)
        try fields.encode(attackDamage, forKey: .attackDamage)
        try fields.encode(credits.value, forKey: .credits)
        try fields.encode(energy.value, forKey: .energy)
        try fields.encode(dataSiphons.value, forKey: .dataSiphons)
        try fields.encode(score.value, forKey: .score)
    }
}

extension Fields {
    /// A counter of A7, 0 when absent.
    func amount(_ name: Name) throws -> Amount {
        Amount(try integer(name, in: 0...Amount.most, absent: 0))
    }
}

struct EnemyEntry: Codable {
    let cell: Cell
    let enemy: Enemy

    enum CodingKeys: String, FieldName {
        case row, col, type, hp, stunned, disabledTurns, spawnedFromSiphon, isFromScheduledTask
        case lastKnownRow, lastKnownCol
    }

    init(_ cell: Cell, _ enemy: Enemy) {
        self.cell = cell
        self.enemy = enemy
    }

    init(from decoder: any Decoder) throws {
        let fields = try Fields<CodingKeys>(decoder)
        try fields.refuseUnknown(in: decoder)
        let type = try fields.enemyType(.type)
        cell = try fields.cell(.row, .col)
        enemy = Enemy(
            type: type,
            hp: try fields.integer(.hp, in: 1...type.maxHP),
            disabledTurns: try fields.integer(.disabledTurns, in: 0...UInt8.max, absent: 0),
            isStunned: try fields.flag(.stunned),
            origin: Origin(
                fromSiphon: try fields.flag(.spawnedFromSiphon), fromSchedule: try fields.flag(.isFromScheduledTask)),
            lastKnown: try EnemyEntry.lastKnown(fields, of: type, at: cell)
        )
    }

    private static func lastKnown(_ fields: Fields<CodingKeys>, of type: EnemyType, at own: Cell) throws -> Cell? {
        guard fields.has(.lastKnownRow) || fields.has(.lastKnownCol) else { return type == .cryptog ? own : nil }
        guard type == .cryptog else {
            throw fields.fault(fields.has(.lastKnownRow) ? .lastKnownRow : .lastKnownCol, "is only for a cryptog")
        }
        return try fields.cell(.lastKnownRow, .lastKnownCol)
    }

    func encode(to encoder: any Encoder) throws {
        try cell.encode(to: encoder)
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(enemy.type.name, forKey: .type)
        try fields.encode(enemy.hp, forKey: .hp)
        try fields.encode(enemy.isStunned, forKey: .stunned)
        try fields.encode(enemy.disabledTurns, forKey: .disabledTurns)
        try fields.encode(enemy.origin.fromSiphon, forKey: .spawnedFromSiphon)
        try fields.encode(enemy.origin.fromSchedule, forKey: .isFromScheduledTask)
        try fields.encodeIfPresent(enemy.lastKnown?.row, forKey: .lastKnownRow)
        try fields.encodeIfPresent(enemy.lastKnown?.col, forKey: .lastKnownCol)
    }
}

struct TransmissionEntry: Codable {
    let cell: Cell
    let transmission: Transmission

    enum CodingKeys: String, FieldName {
        case row, col, turnsRemaining, enemyType, spawnedFromSiphon, isFromScheduledTask
    }

    init(_ cell: Cell, _ transmission: Transmission) {
        self.cell = cell
        self.transmission = transmission
    }

    init(from decoder: any Decoder) throws {
        let fields = try Fields<CodingKeys>(decoder)
        try fields.refuseUnknown(in: decoder)
        cell = try fields.cell(.row, .col)
        transmission = Transmission(
            type: try fields.enemyType(.enemyType),
            turnsRemaining: try fields.integer(.turnsRemaining, in: 0...UInt8.max),
            origin: Origin(
                fromSiphon: try fields.flag(.spawnedFromSiphon), fromSchedule: try fields.flag(.isFromScheduledTask))
        )
    }

    func encode(to encoder: any Encoder) throws {
        try cell.encode(to: encoder)
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(transmission.turnsRemaining, forKey: .turnsRemaining)
        try fields.encode(transmission.type.name, forKey: .enemyType)
        try fields.encode(transmission.origin.fromSiphon, forKey: .spawnedFromSiphon)
        try fields.encode(transmission.origin.fromSchedule, forKey: .isFromScheduledTask)
    }
}

struct BlockEntry: Codable {
    let cell: Cell
    let block: Block
    let isSiphoned: Bool

    enum CodingKeys: String, FieldName {
        case row, col, type, points, spawnCount, siphoned, programType, programActionIndex
    }

    private enum Kind: String, CaseIterable { case data, program, question }

    static let defaultPoints: UInt8 = 5

    init(_ cell: Cell, _ block: Block, isSiphoned: Bool) {
        self.cell = cell
        self.block = block
        self.isSiphoned = isSiphoned
    }

    init(from decoder: any Decoder) throws {
        let fields = try Fields<CodingKeys>(decoder)
        try fields.refuseUnknown(in: decoder)
        guard let kind = Kind(rawValue: try fields.text(.type)) else {
            throw fields.fault(.type, "must be one of \(Kind.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        let content = try BlockEntry.content(fields, kind)
        cell = try fields.cell(.row, .col)
        block = Block(
            content,
            isQuestion: kind == .question,
            spawnCount: try fields.integer(.spawnCount, in: 0...Block.mostSpawnCount, absent: content.spawnCount)
        )
        isSiphoned = try fields.flag(.siphoned)
    }

    private static func content(_ fields: Fields<CodingKeys>, _ kind: Kind) throws -> BlockContent {
        let program = try program(fields)
        if fields.has(.points) && (kind == .program || program != nil) {
            throw fields.fault(.points, "does not go with a program")
        }
        switch (kind, program) {
        case (.data, .some):
            throw fields.fault(fields.has(.programType) ? .programType : .programActionIndex, "is not for a data block")
        case (.program, nil):
            throw fields.fault(.programActionIndex, "is missing; a program block names its program")
        case (_, .some(let program)):
            return .program(program)
        case (_, nil):
            return .data(points: try fields.integer(.points, in: 1...Block.mostPoints, absent: defaultPoints))
        }
    }

    /// The program named by `programType`, `programActionIndex` or both.
    private static func program(_ fields: Fields<CodingKeys>) throws -> Program? {
        var program: Program?
        if fields.has(.programActionIndex) {
            program = Program(rawValue: try fields.integer(.programActionIndex, in: Program.actionIndices))
        }
        guard fields.has(.programType) else { return program }
        let name = try fields.text(.programType)
        guard let named = Program.allCases.first(where: { $0.name == name }) else {
            throw fields.fault(.programType, "must be one of \(Program.allCases.map(\.name).joined(separator: ", "))")
        }
        guard program == nil || program == named else {
            throw fields.fault(.programType, "and programActionIndex name different programs")
        }
        return named
    }

    func encode(to encoder: any Encoder) throws {
        try cell.encode(to: encoder)
        var fields = encoder.container(keyedBy: CodingKeys.self)
        switch block.content {
        case .data(let points):
            try fields.encode(points, forKey: .points)
            try fields.encode((block.isQuestion ? Kind.question : .data).rawValue, forKey: .type)
        case .program(let program):
            try fields.encode(program.rawValue, forKey: .programActionIndex)
            try fields.encode((block.isQuestion ? Kind.question : .program).rawValue, forKey: .type)
        }
        try fields.encode(block.spawnCount, forKey: .spawnCount)
        try fields.encode(isSiphoned, forKey: .siphoned)
    }
}

struct ResourceEntry: Codable {
    let cell: Cell
    let credits: UInt8
    let energy: UInt8
    let isPickup: Bool

    enum CodingKeys: String, FieldName { case row, col, credits, energy, dataSiphon }

    init(_ cell: Cell, on board: Board) {
        self.cell = cell
        credits = board.credits[cell] ?? 0
        energy = board.energy[cell] ?? 0
        isPickup = board.pickups.contains(cell)
    }

    init(from decoder: any Decoder) throws {
        let fields = try Fields<CodingKeys>(decoder)
        try fields.refuseUnknown(in: decoder)
        cell = try fields.cell(.row, .col)
        credits = try fields.integer(.credits, in: 0...Board.mostResource, absent: 0)
        energy = try fields.integer(.energy, in: 0...Board.mostResource, absent: 0)
        isPickup = try fields.flag(.dataSiphon)
    }

    func encode(to encoder: any Encoder) throws {
        try cell.encode(to: encoder)
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(credits, forKey: .credits)
        try fields.encode(energy, forKey: .energy)
        try fields.encode(isPickup, forKey: .dataSiphon)
    }
}
