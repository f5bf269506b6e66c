/// The JSON mode: one command a line, one answer a line.

import HackMatrixCore
import HackMatrixProtocol

/// Plays one game for one client.
struct JSONServer {
    static let longestLine = 1 << 24

    private var game: Game?
    private var prices = Prices()
    private let log: Log

    init(log: Log) {
        self.log = log
    }

    /// Answers until the input ends or the output is closed.
    mutating func run() {
        var input = Pipe()
        while let line = input.readLine(limit: JSONServer.longestLine) {
            let answer = answer(line)
            if !Pipe.writeAll(answer + [0x0A]) {
                log.info("nobody reads the answers any more; ending")
                return
            }
        }
        log.info("the input has ended")
    }

    private mutating func answer(_ line: Pipe.Line) -> [UInt8] {
        do {
            guard case .bytes(let text) = line else {
                throw ProtocolFault("the line is longer than \(JSONServer.longestLine) bytes")
            }
            log.debug("command \(String(decoding: text, as: UTF8.self))")
            return try answer(try JSONText.read(Command.self, from: text))
        } catch {
            let sentence = (error as? ProtocolFault)?.description ?? "the command could not be answered"
            log.info("refused: \(sentence)")
            return (try? JSONText.write(["error": sentence])) ?? Array(#"{"error":"the command was refused"}"#.utf8)
        }
    }

    private mutating func answer(_ command: Command) throws -> [UInt8] {
        switch command {
        case .reset(let seed):
            let game = Game(seed: seed ?? JSONServer.systemSeed())
            self.game = game
            return try JSONText.write(ResetAnswer(game))
        case .step(let action):
            var game = try currentGame()
            let outcome = game.step(action, at: prices)
            self.game = game
            return try JSONText.write(StepAnswer(game, outcome))
        case .setState(let game):
            self.game = game
            return try JSONText.write(SetStateAnswer(game))
        case .getState:
            return try JSONText.write(["state": try currentGame()])
        case .getValidActions:
            return try JSONText.write(["validActions": try currentGame().validActions.indices])
        case .getInternalState:
            return try JSONText.write(InternalStateMessage(try currentGame()))
        case .getActionSpace:
            return try JSONText.write(["actionSpaceSize": Action.count])
        case .getObservationSpace:
            return try JSONText.write(ObservationSpaceAnswer())
        case .getRules:
            return try JSONText.write(RulesMessage(prices))
        case .setPrices(let changes):
            for (index, thousandths) in changes.thousandths { prices.thousandths[index] = thousandths }
            let inUse = Dictionary(uniqueKeysWithValues: zip(Prices.names, prices.thousandths))
            return try JSONText.write(["prices": inUse])
        }
    }

    private func currentGame() throws -> Game {
        guard let game else { throw ProtocolFault("there is no game yet; send reset or setState first") }
        return game
    }

    /// Below 2⁵³, so that clients whose numbers are floats can send it back unchanged.
    private static func systemSeed() -> UInt64 {
        UInt64.random(in: 0..<(1 << 53))
    }
}
