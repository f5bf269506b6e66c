/// The requests of the binary mode, read strictly. docs/reference/protocol.md holds their layout; C1's refusal of
/// actions that do not exist.

import HackMatrixCore

/// One action for every game.
public struct StepRequest: Sendable {
    public let actions: [Action]
    /// Seeds for the games that replace finished ones; nil: those of R6.
    public let seeds: [UInt64]?
    public let autoReset: [Bool]
}

/// A request whose every number has been checked.
public enum FrameRequest: Sendable {
    case hello
    case open(ObservationMode, seeds: [UInt64])
    case step(StepRequest)
    case observe
    case reset([Int], seeds: [UInt64])
    case getStates([Int])
    case setStates([(game: Int, state: Game)])
    case getMarks
    case resetMarks
    case setObservation(ObservationMode)
    case getRules
    case getPackedStates([Int])
    case restart([Int])
    /// Map the first `size` bytes of an inherited descriptor.
    case share(descriptor: Int32, size: Int)
    /// Answer with rows, and put them at an offset of the shared memory.
    indirect case place(offset: Int, FrameRequest)
    /// One price for each of `Prices.names`.
    case setPrices([Int32])
    /// Answer with the phases of a step from the given state; open games are not involved.
    case getPhases(Action, of: Game)

    /// Reads what follows the number of a command, to the end.
    /// - Parameter games: the number of open games.
    /// - Throws: `ProtocolFault`
    public init(_ command: FrameCommand, from reader: ByteReader, games: Int) throws {
        var body = RequestBody(reader: reader, games: games)
        self = try body.request(command)
        try body.reader.finish()
    }
}

/// The bytes of one request after its command.
private struct RequestBody {
    var reader: ByteReader
    let games: Int

    mutating func request(_ command: FrameCommand) throws -> FrameRequest {
        if command.needsGames && games == 0 { throw ProtocolFault("no games are open; send open first") }
        switch command {
        case .hello: return try hello()
        case .open: return try open()
        case .step: return try step()
        case .reset: return try reset()
        case .setStates: return try setStates()
        case .setObservation: return .setObservation(try mode())
        case .getStates: return .getStates(try gameNumbers())
        case .getPackedStates: return .getPackedStates(try gameNumbers())
        case .restart: return .restart(try gameNumbers())
        case .observe: return .observe
        case .getMarks: return .getMarks
        case .resetMarks: return .resetMarks
        case .getRules: return .getRules
        case .share: return try share()
        case .place: return try place()
        case .setPrices: return .setPrices(try reader.integers(Int32.self, Prices.names.count))
        case .getPhases: return try getPhases()
        }
    }

    private mutating func share() throws -> FrameRequest {
        let descriptor = Int32(truncatingIfNeeded: try reader.integer(UInt32.self))
        return .share(descriptor: descriptor, size: Int(try reader.integer(UInt32.self)))
    }

    private mutating func place() throws -> FrameRequest {
        let offset = Int(try reader.integer(UInt32.self))
        let command = try reader.command()
        guard command.hasRows else { throw ProtocolFault("place needs a command that answers with rows") }
        return .place(offset: offset, try request(command))
    }

    private mutating func hello() throws -> FrameRequest {
        let magic = FrameProtocol.magic
        guard try reader.text(magic.count) == magic else {
            throw ProtocolFault("hello must begin with \(String(decoding: magic, as: UTF8.self))")
        }
        let version = try reader.integer(UInt32.self)
        try reader.finish()
        guard version == FrameProtocol.version else {
            throw ProtocolFault(
                "this binary speaks version \(FrameProtocol.version) of the frames and the client version \(version); "
                    + "rebuild with ./swift-build")
        }
        return .hello
    }

    private mutating func open() throws -> FrameRequest {
        let count = Int(try reader.integer(UInt32.self))
        guard (1...FrameProtocol.mostGames).contains(count) else {
            throw ProtocolFault("open needs from 1 to \(FrameProtocol.mostGames) games")
        }
        let mode = try mode()
        return .open(mode, seeds: try reader.integers(UInt64.self, count))
    }

    private mutating func step() throws -> FrameRequest {
        let hasSeeds = try reader.integer(UInt32.self)
        guard hasSeeds <= 1 else { throw ProtocolFault("step's flags must be 0 or 1 (seeds follow), not \(hasSeeds)") }
        let actions = try reader.integers(Int32.self, games).enumerated().map(RequestBody.action)
        let seeds = hasSeeds == 1 ? try reader.integers(UInt64.self, games) : nil
        let autoReset = try reader.integers(UInt8.self, games)
        try reader.finish()
        guard autoReset.allSatisfy({ $0 <= 1 }) else { throw ProtocolFault("auto-reset flags must be 0 or 1") }
        return .step(StepRequest(actions: actions, seeds: seeds, autoReset: autoReset.map { $0 == 1 }))
    }

    private mutating func reset() throws -> FrameRequest {
        let numbers = try gameNumbers()
        return .reset(numbers, seeds: try reader.integers(UInt64.self, numbers.count))
    }

    private mutating func setStates() throws -> FrameRequest {
        let count = try reader.integer(UInt32.self)
        var states: [(game: Int, state: Game)] = []
        for _ in 0..<count {
            let game = try gameNumber(try reader.integer(UInt32.self))
            let text = try reader.text(Int(try reader.integer(UInt32.self)))
            do {
                states.append((game, try JSONText.read(Game.self, from: text)))
            } catch let fault as ProtocolFault {
                throw ProtocolFault("the state for game \(game): \(fault)")
            }
        }
        return .setStates(states)
    }

    private mutating func getPhases() throws -> FrameRequest {
        let action = try RequestBody.action(0, try reader.integer(Int32.self))
        let text = try reader.text(Int(try reader.integer(UInt32.self)))
        return .getPhases(action, of: try JSONText.read(Game.self, from: text))
    }

    private static func action(_ game: Int, _ index: Int32) throws -> Action {
        guard let action = Action(index: Int(index)) else {
            throw ProtocolFault(
                "the action of game \(game) must be an integer from 0 to \(Action.count - 1), not \(index)")
        }
        return action
    }

    private mutating func mode() throws -> ObservationMode {
        let number = try reader.integer(UInt32.self)
        guard let mode = ObservationMode(rawValue: number) else {
            throw ProtocolFault("the observation mode must be 0 (none), 1 (float32) or 2 (uint8), not \(number)")
        }
        return mode
    }

    /// A count and as many game numbers; all games for the count `FrameProtocol.allGames`.
    private mutating func gameNumbers() throws -> [Int] {
        let count = try reader.integer(UInt32.self)
        if count == FrameProtocol.allGames { return Array(0..<games) }
        return try reader.integers(UInt32.self, Int(count)).map(gameNumber)
    }

    private func gameNumber(_ number: UInt32) throws -> Int {
        guard Int(number) < games else { throw ProtocolFault("there is no game \(number); \(games) are open") }
        return Int(number)
    }
}
