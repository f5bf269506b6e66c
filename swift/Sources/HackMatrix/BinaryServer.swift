/// The binary mode: many games, one frame in, one frame out. Rules R3, R6 for the games; docs/protocol.md.

import HackMatrixCore
import HackMatrixProtocol

/// Plays many games for one client.
struct BinaryServer {
    private let log: Log
    private var input = Pipe()
    private var games: [Game] = []
    private var mode = ObservationMode.none
    private var marks = [UInt64](repeating: 0, count: MarkSet.names.count)
    private var hasShakenHands = false
    private var batch = BatchReply()

    init(log: Log) {
        self.log = log
    }

    /// Answers until the input ends or nobody listens.
    mutating func run() {
        while let frame = nextFrame() {
            if !answer(frame) {
                log.info("nobody reads the answers any more; ending")
                return
            }
        }
        log.info("the input has ended")
    }

    /// - Returns: nil at the end of input, also in the middle of a frame.
    private mutating func nextFrame() -> Result<[UInt8], ProtocolFault>? {
        var prefix = ByteReader(input.read(FrameProtocol.wordSize))
        guard let length = try? prefix.integer(UInt32.self) else { return nil }
        guard length <= FrameProtocol.longestFrame else {
            input.skip(Int(length))
            return .failure(ProtocolFault("the frame is longer than \(FrameProtocol.longestFrame) bytes"))
        }
        let bytes = input.read(Int(length))
        return bytes.count == Int(length) ? .success(bytes) : nil
    }

    /// - Returns: false when the answer could not be written.
    private mutating func answer(_ frame: Result<[UInt8], ProtocolFault>) -> Bool {
        do {
            return try answer(try request(try frame.get()))
        } catch {
            let sentence = (error as? ProtocolFault)?.description ?? "the command could not be answered"
            log.info("refused: \(sentence)")
            return Pipe.writeAll(Reply.refused(sentence))
        }
    }

    private func request(_ frame: [UInt8]) throws -> FrameRequest {
        var reader = ByteReader(frame)
        let number = try reader.integer(UInt32.self)
        guard let command = FrameCommand(rawValue: number) else { throw ProtocolFault("there is no command \(number)") }
        log.debug("command \(command)")
        guard hasShakenHands || command == .hello else { throw ProtocolFault("the first command must be hello") }
        if command.needsGames && games.isEmpty { throw ProtocolFault("no games are open; send open first") }
        return try FrameRequest(command, from: &reader, games: games.count)
    }

    private mutating func answer(_ request: FrameRequest) throws -> Bool {
        switch request {
        case .hello:
            hasShakenHands = true
            return Pipe.writeAll(Reply.hello())
        case .open(let mode, let seeds):
            self.mode = mode
            games = seeds.map(Game.init(seed:))
            for game in games { game.firedMarks.count(in: &marks) }
            return sendRows(of: Array(games.indices))
        case .step(let actions, let seeds, let autoReset):
            return step(actions, seeds, autoReset)
        case .observe:
            return sendRows(of: Array(games.indices))
        case .reset(let numbers, let seeds):
            for (number, seed) in zip(numbers, seeds) { start(number, Game(seed: seed)) }
            return sendRows(of: numbers)
        case .restart(let numbers):
            for number in numbers { start(number, games[number].successor()) }
            return sendRows(of: numbers)
        case .setStates(let states):
            for (number, state) in states { games[number] = state }
            return sendRows(of: states.map(\.game))
        case .getStates(let numbers):
            return Pipe.writeAll(try Reply.states(of: games, numbers))
        case .getPackedStates(let numbers):
            return Pipe.writeAll(Reply.packedStates(of: games, numbers))
        case .setObservation(let mode):
            self.mode = mode
            return Pipe.writeAll(Reply.done())
        case .getMarks:
            return Pipe.writeAll(Reply.marks(marks))
        case .resetMarks:
            marks = [UInt64](repeating: 0, count: marks.count)
            return Pipe.writeAll(Reply.done())
        case .getRules:
            return Pipe.writeAll(try Reply.rules())
        }
    }

    private mutating func step(_ actions: [Action], _ seeds: [UInt64]?, _ autoReset: [Bool]) -> Bool {
        batch.begin(rows: games.count, mode: mode)
        for number in games.indices {
            let outcome = games[number].step(actions[number])
            games[number].firedMarks.count(in: &marks)
            let ends = outcome.isTerminated && autoReset[number]
            batch.setOutcome(number, outcome, of: games[number], wasReset: ends)
            if ends { start(number, games[number].successor(seed: seeds?[number])) }
            setView(of: number, row: number)
        }
        return Pipe.writeAll(batch.bytes)
    }

    private mutating func start(_ number: Int, _ game: Game) {
        games[number] = game
        game.firedMarks.count(in: &marks)
    }

    /// Answers with what the players of some games see.
    private mutating func sendRows(of numbers: [Int]) -> Bool {
        batch.begin(rows: numbers.count, mode: mode)
        for (row, number) in numbers.enumerated() {
            batch.setOutcome(row, nil, of: games[number], wasReset: false)
            setView(of: number, row: row)
        }
        return Pipe.writeAll(batch.bytes)
    }

    private mutating func setView(of number: Int, row: Int) {
        var seen = MarkSet()
        batch.setView(row, games[number], marks: &seen)
        seen.count(in: &marks)
    }
}
