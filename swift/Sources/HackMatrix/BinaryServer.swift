/// The binary mode: many games, one frame in, one frame out. docs/protocol.md holds the layout.

import HackMatrixCore

/// The commands of the binary mode.
enum FrameCommand: UInt32 {
    case hello, open, step, observe, reset, getStates, setStates, getMarks, resetMarks, setObservation, getRules
    case getPackedStates, restart

    var needsGames: Bool {
        switch self {
        case .step, .observe, .reset, .getStates, .setStates, .getPackedStates, .restart: true
        case .hello, .open, .getMarks, .resetMarks, .setObservation, .getRules: false
        }
    }
}

/// Plays many games for one client.
struct BinaryServer {
    static let version: UInt32 = 2
    static let magic = Array("HKMX".utf8)
    static let mostGames = 1 << 16
    static let longestFrame = 1 << 30
    /// In place of a count: all games.
    static let all = UInt32.max

    private let log: Log
    private var input = Pipe()
    private var games: [Game] = []
    private var mode = ObservationMode.none
    private var marks = [UInt64](repeating: 0, count: Mark.allCases.count)
    private var hasShakenHands = false
    private var batch = BatchReply()

    init(log: Log) {
        self.log = log
    }

    /// Answers until the input ends or nobody listens.
    mutating func run() {
        while let request = nextRequest() {
            if !answer(request) {
                log.info("nobody reads the answers any more; ending")
                return
            }
        }
        log.info("the input has ended")
    }

    /// - Returns: nil at the end of input, also in the middle of a frame.
    private mutating func nextRequest() -> Result<[UInt8], ProtocolFault>? {
        var prefix = RequestReader(input.read(4))
        guard let length = try? prefix.integer(UInt32.self) else { return nil }
        guard length <= BinaryServer.longestFrame else {
            input.skip(Int(length))
            return .failure(ProtocolFault("the frame is longer than \(BinaryServer.longestFrame) bytes"))
        }
        let bytes = input.read(Int(length))
        return bytes.count == Int(length) ? .success(bytes) : nil
    }

    /// - Returns: false when the answer could not be written.
    private mutating func answer(_ request: Result<[UInt8], ProtocolFault>) -> Bool {
        do {
            var reader = RequestReader(try request.get())
            return try answer(&reader)
        } catch {
            let sentence = (error as? ProtocolFault)?.description ?? "the command could not be answered"
            log.info("refused: \(sentence)")
            return send(.refused, Array(sentence.utf8))
        }
    }

    private mutating func answer(_ reader: inout RequestReader) throws -> Bool {
        let number = try reader.integer(UInt32.self)
        guard let command = FrameCommand(rawValue: number) else { throw ProtocolFault("there is no command \(number)") }
        log.debug("command \(command)")
        guard hasShakenHands || command == .hello else { throw ProtocolFault("the first command must be hello") }
        if command.needsGames && games.isEmpty { throw ProtocolFault("no games are open; send open first") }
        switch command {
        case .hello: return try hello(&reader)
        case .open: return try open(&reader)
        case .step: return try step(&reader)
        case .observe: return try observe(&reader)
        case .reset: return try reset(&reader)
        case .getStates: return try getStates(&reader)
        case .setStates: return try setStates(&reader)
        case .getMarks: return try getMarks(&reader)
        case .resetMarks: return try resetMarks(&reader)
        case .setObservation: return try setObservation(&reader)
        case .getRules: return try getRules(&reader)
        case .getPackedStates: return try getPackedStates(&reader)
        case .restart: return try restart(&reader)
        }
    }

    private func send(_ status: Status, _ body: [UInt8] = []) -> Bool {
        var writer = ReplyWriter()
        writer.integer(UInt32(truncatingIfNeeded: 4 + body.count))
        writer.integer(status.rawValue)
        writer.text(body)
        return Pipe.writeAll(writer.bytes)
    }
}

// MARK: - Start

extension BinaryServer {
    private mutating func hello(_ reader: inout RequestReader) throws -> Bool {
        guard try reader.text(4) == BinaryServer.magic else { throw ProtocolFault("hello must begin with HKMX") }
        let version = try reader.integer(UInt32.self)
        try reader.finish()
        guard version == BinaryServer.version else {
            throw ProtocolFault(
                "this binary speaks version \(BinaryServer.version) of the frames and the client version \(version); "
                    + "rebuild with ./swift-build")
        }
        hasShakenHands = true
        var writer = ReplyWriter()
        for number in [
            BinaryServer.version, UInt32(Observation.size), UInt32(Action.count), UInt32(Component.allCases.count),
            UInt32(BatchReply.facts), UInt32(Mark.allCases.count),
        ] {
            writer.integer(number)
        }
        writer.text(Array(Rules.version.utf8))
        return send(.done, writer.bytes)
    }

    private mutating func open(_ reader: inout RequestReader) throws -> Bool {
        let wanted = Int(try reader.integer(UInt32.self))
        guard (1...BinaryServer.mostGames).contains(wanted) else {
            throw ProtocolFault("open needs from 1 to \(BinaryServer.mostGames) games")
        }
        let mode = try BinaryServer.mode(try reader.integer(UInt32.self))
        let seeds = try reader.integers(UInt64.self, wanted)
        try reader.finish()
        self.mode = mode
        games = seeds.map(Game.init(seed:))
        for game in games { count(game.firedMarks) }
        return sendView(Array(games.indices))
    }

    private mutating func setObservation(_ reader: inout RequestReader) throws -> Bool {
        let mode = try BinaryServer.mode(try reader.integer(UInt32.self))
        try reader.finish()
        self.mode = mode
        return send(.done)
    }

    private static func mode(_ number: UInt32) throws -> ObservationMode {
        guard let mode = ObservationMode(rawValue: number) else {
            throw ProtocolFault("the observation mode must be 0 (none), 1 (float32) or 2 (uint8), not \(number)")
        }
        return mode
    }

    private func getRules(_ reader: inout RequestReader) throws -> Bool {
        try reader.finish()
        return send(.done, try JSONText.write(RulesMessage()))
    }
}

// MARK: - Play

extension BinaryServer {
    private mutating func step(_ reader: inout RequestReader) throws -> Bool {
        let hasSeeds = try reader.integer(UInt32.self)
        guard hasSeeds <= 1 else { throw ProtocolFault("step's flags must be 0 or 1 (seeds follow), not \(hasSeeds)") }
        let actions = try reader.integers(Int32.self, games.count).enumerated().map(BinaryServer.action)
        let seeds = hasSeeds == 1 ? try reader.integers(UInt64.self, games.count) : nil
        let autoReset = try reader.integers(UInt8.self, games.count)
        try reader.finish()
        guard autoReset.allSatisfy({ $0 <= 1 }) else { throw ProtocolFault("auto-reset flags must be 0 or 1") }

        batch.begin(rows: games.count, mode: mode)
        for index in games.indices {
            let outcome = games[index].step(actions[index])
            count(games[index].firedMarks)
            let ends = outcome.isTerminated && autoReset[index] == 1
            batch.setOutcome(index, outcome, of: games[index], wasReset: ends)
            if ends {
                games[index] = games[index].successor(seed: seeds?[index])
                count(games[index].firedMarks)
            }
            view(index, row: index)
        }
        return Pipe.writeAll(batch.bytes)
    }

    private static func action(_ game: Int, _ index: Int32) throws -> Action {
        guard let action = Action(index: Int(index)) else {
            throw ProtocolFault("the action of game \(game) must be an integer from 0 to 27, not \(index)")
        }
        return action
    }

    private mutating func observe(_ reader: inout RequestReader) throws -> Bool {
        try reader.finish()
        return sendView(Array(games.indices))
    }

    private mutating func reset(_ reader: inout RequestReader) throws -> Bool {
        let indices = try gameIndices(&reader)
        let seeds = try reader.integers(UInt64.self, indices.count)
        try reader.finish()
        for (index, seed) in zip(indices, seeds) {
            games[index] = Game(seed: seed)
            count(games[index].firedMarks)
        }
        return sendView(indices)
    }

    /// The games that follow by R6.
    private mutating func restart(_ reader: inout RequestReader) throws -> Bool {
        let indices = try gameIndices(&reader)
        try reader.finish()
        for index in indices {
            games[index] = games[index].successor(seed: nil)
            count(games[index].firedMarks)
        }
        return sendView(indices)
    }

    /// Answers with what the players of some games see.
    private mutating func sendView(_ indices: [Int]) -> Bool {
        batch.begin(rows: indices.count, mode: mode)
        for (row, index) in indices.enumerated() {
            batch.setOutcome(row, nil, of: games[index], wasReset: false)
            view(index, row: row)
        }
        return Pipe.writeAll(batch.bytes)
    }

    private mutating func view(_ index: Int, row: Int) {
        var seen = MarkSet()
        batch.setView(row, games[index], marks: &seen)
        count(seen)
    }

    /// A count and as many game indices; all games for the count `BinaryServer.all`.
    private func gameIndices(_ reader: inout RequestReader) throws -> [Int] {
        let count = try reader.integer(UInt32.self)
        if count == BinaryServer.all { return Array(games.indices) }
        return try reader.integers(UInt32.self, Int(count)).map(gameIndex)
    }

    private func gameIndex(_ number: UInt32) throws -> Int {
        guard games.indices.contains(Int(number)) else {
            throw ProtocolFault("there is no game \(number); \(games.count) are open")
        }
        return Int(number)
    }
}

// MARK: - States and marks

extension BinaryServer {
    private func getStates(_ reader: inout RequestReader) throws -> Bool {
        let indices = try gameIndices(&reader)
        try reader.finish()
        var writer = ReplyWriter()
        writer.integer(UInt32(indices.count))
        for index in indices {
            let text = try JSONText.write(games[index])
            writer.integer(UInt32(text.count))
            writer.text(text)
        }
        return send(.done, writer.bytes)
    }

    private func getPackedStates(_ reader: inout RequestReader) throws -> Bool {
        let indices = try gameIndices(&reader)
        try reader.finish()
        var frame = [UInt8](repeating: 0, count: 16 + indices.count * Game.packedSize)
        frame.withUnsafeMutableBytes { frame in
            frame.store(UInt32(frame.count - 4), at: 0)
            frame.store(Status.done.rawValue, at: 4)
            frame.store(UInt32(indices.count), at: 8)
            frame.store(UInt32(Game.packedSize), at: 12)
            for (row, index) in indices.enumerated() {
                let start = 16 + row * Game.packedSize
                games[index].pack(into: UnsafeMutableRawBufferPointer(rebasing: frame[start..<start + Game.packedSize]))
            }
        }
        return Pipe.writeAll(frame)
    }

    private mutating func setStates(_ reader: inout RequestReader) throws -> Bool {
        let count = Int(try reader.integer(UInt32.self))
        var read: [(index: Int, game: Game)] = []
        for _ in 0..<count {
            let index = try gameIndex(try reader.integer(UInt32.self))
            let text = try reader.text(Int(try reader.integer(UInt32.self)))
            do {
                read.append((index, try JSONText.read(Game.self, from: text)))
            } catch let fault as ProtocolFault {
                throw ProtocolFault("the state for game \(index): \(fault)")
            }
        }
        try reader.finish()
        for (index, game) in read { games[index] = game }
        return sendView(read.map(\.index))
    }

    private func getMarks(_ reader: inout RequestReader) throws -> Bool {
        try reader.finish()
        var writer = ReplyWriter()
        writer.integer(UInt32(marks.count))
        for count in marks { writer.integer(count) }
        writer.text(Array(Mark.allCases.map(\.name).joined(separator: "\n").utf8))
        return send(.done, writer.bytes)
    }

    private mutating func resetMarks(_ reader: inout RequestReader) throws -> Bool {
        try reader.finish()
        marks = [UInt64](repeating: 0, count: marks.count)
        return send(.done)
    }

    private mutating func count(_ fired: MarkSet) {
        marks.withUnsafeMutableBufferPointer { marks in
            fired.forEachIndex { marks[$0] &+= 1 }
        }
    }
}
