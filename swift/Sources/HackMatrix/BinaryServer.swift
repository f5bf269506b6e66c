/// The binary mode: many games, one frame in, one frame out. docs/reference/protocol.md defines the frames.

import HackMatrixCore
import HackMatrixProtocol

/// Plays many games for one client.
struct BinaryServer {
    private let log: Log
    private var input = Pipe()
    private var batch = GameBatch()
    private var mode = ObservationMode.none
    private var hasShakenHands = false
    private var memory: SharedMemory?

    init(log: Log) {
        self.log = log
    }

    /// Answers until the input ends or the output is closed.
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
        let command = try reader.command()
        log.debug("command \(command)")
        guard hasShakenHands || command == .hello else { throw ProtocolFault("the first command must be hello") }
        return try FrameRequest(command, from: reader, games: batch.games.count)
    }

    private mutating func answer(_ request: FrameRequest) throws -> Bool {
        switch request {
        case .hello:
            hasShakenHands = true
            return Pipe.writeAll(Reply.hello())
        case .open, .step, .observe, .reset, .restart, .setStates:
            let layout = layout(of: request)
            return Pipe.writeAll(Reply.rows(layout) { perform(request, into: RowWriter(layout, to: $0)) })
        case .place(let offset, let request):
            guard let memory else { throw ProtocolFault("no memory is shared; send share first") }
            let layout = layout(of: request)
            perform(request, into: RowWriter(layout, to: try memory.place(offset, layout.size)))
            return Pipe.writeAll(Reply.placed(layout.size))
        case .share(let descriptor, let size):
            memory = try SharedMemory(descriptor: descriptor, size: size)
            return Pipe.writeAll(Reply.done())
        case .getStates(let numbers):
            return Pipe.writeAll(try Reply.states(of: batch.games, numbers))
        case .getPackedStates(let numbers):
            return Pipe.writeAll(Reply.packedStates(of: batch.games, numbers))
        case .setObservation(let mode):
            self.mode = mode
            return Pipe.writeAll(Reply.done())
        case .getMarks:
            return Pipe.writeAll(Reply.marks(batch.marks))
        case .resetMarks:
            batch.resetMarks()
            return Pipe.writeAll(Reply.done())
        case .setPrices(let thousandths):
            batch.prices.thousandths = thousandths
            return Pipe.writeAll(Reply.done())
        case .getPhases(let action, let game):
            return Pipe.writeAll(try Reply.phases(StepTrace(of: game, action)))
        case .getRules:
            return Pipe.writeAll(try Reply.rules(batch.prices))
        }
    }

    /// How long to poll for input: with more games the client needs longer between two requests.
    private static func patience(with games: Int) -> Duration {
        .microseconds(min(150 + 3 * games, 1000))
    }

    /// The layout of the rows in the answer to a request.
    private func layout(of request: FrameRequest) -> RowLayout {
        switch request {
        case .open(let mode, let seeds): RowLayout(rows: seeds.count, mode: mode)
        case .reset(let numbers, _), .restart(let numbers): RowLayout(rows: numbers.count, mode: mode)
        case .setStates(let states): RowLayout(rows: states.count, mode: mode)
        default: RowLayout(rows: batch.games.count, mode: mode)
        }
    }

    /// Executes a request that is answered with rows, and writes the rows.
    private mutating func perform(_ request: FrameRequest, into rows: RowWriter) {
        switch request {
        case .open(let mode, let seeds):
            self.mode = mode
            input.patience = BinaryServer.patience(with: seeds.count)
            batch.open(seeds)
            batch.look(at: Array(seeds.indices), into: rows)
        case .step(let step):
            batch.step(step, into: rows)
        case .reset(let numbers, let seeds):
            for (number, seed) in zip(numbers, seeds) { batch.start(number, Game(seed: seed)) }
            batch.look(at: numbers, into: rows)
        case .restart(let numbers):
            for number in numbers { batch.start(number, batch.games[number].successor()) }
            batch.look(at: numbers, into: rows)
        case .setStates(let states):
            for (number, state) in states { batch.set(number, state) }
            batch.look(at: states.map(\.game), into: rows)
        default:
            batch.look(at: Array(batch.games.indices), into: rows)
        }
    }
}
