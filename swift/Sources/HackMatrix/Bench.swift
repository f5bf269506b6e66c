/// The benchmark of the engine by itself, without a client.

import HackMatrixCore

enum Bench {
    /// Plays random valid actions, one game after another, without observations.
    /// - Returns: the steps and the seconds they took, as one JSON object.
    static func play(_ steps: Int) -> String {
        var choices = Choices(state: 1)
        var game = Game(seed: 0)
        let prices = Prices()
        let time = ContinuousClock().measure {
            for _ in 0..<steps {
                let actions = game.validActions.bits
                guard let action = Action(index: choices.bit(of: actions)) else { return }
                if game.step(action, at: prices).isTerminated { game = game.successor() }
            }
        }
        let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        return #"{"steps":\#(steps),"seconds":\#(seconds)}"#
    }

    /// Random numbers for the player's choices: xorshift, independent of the draws of the game.
    private struct Choices {
        var state: UInt64

        /// The place of a random one of the bits that are set.
        mutating func bit(of bits: UInt32) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            var rest = bits
            for _ in 0..<Int(state % UInt64(max(bits.nonzeroBitCount, 1))) { rest &= rest &- 1 }
            return rest.trailingZeroBitCount
        }
    }
}
