/// The replies of the binary mode as whole frames, except those with rows (RowWriter.swift).
/// docs/reference/protocol.md holds their layout.

import HackMatrixCore

public enum Reply {
    /// The reply without content.
    public static func done() -> [UInt8] { frame(.done) { _ in } }

    public static func refused(_ sentence: String) -> [UInt8] {
        frame(.refused) { $0.append(Array(sentence.utf8)) }
    }

    public static func hello() -> [UInt8] {
        let sizes = [
            Observation.size, Action.count, Component.allCases.count, EpisodeFact.allCases.count, MarkSet.names.count,
        ]
        return frame(.done) { body in
            body.integer(FrameProtocol.version)
            for size in sizes { body.integer(UInt32(size)) }
            body.append(Array(Rules.version.utf8))
        }
    }

    /// The reply to a request whose rows, of that many bytes, lie in the shared memory.
    public static func placed(_ size: Int) -> [UInt8] {
        frame(.done) { $0.integer(UInt32(size)) }
    }

    /// The reply with rows.
    /// - Parameter write: called with the memory of the body.
    public static func rows(_ layout: RowLayout, _ write: (UnsafeMutableRawPointer) -> Void) -> [UInt8] {
        let prefix = FrameProtocol.wordSize
        return [UInt8](unsafeUninitializedCapacity: prefix + layout.size) { frame, count in
            count = prefix + layout.size
            frame.withMemoryRebound(to: UInt8.self) { frame in
                let bytes = UnsafeMutableRawBufferPointer(frame)
                bytes.storeBytes(of: UInt32(layout.size).littleEndian, as: UInt32.self)
                if let start = bytes.baseAddress { write(start.advanced(by: prefix)) }
            }
        }
    }

    public static func phases(_ trace: StepTrace) throws -> [UInt8] {
        let text = try JSONText.write(trace.entries.map(PhaseMessage.init))
        return frame(.done) { $0.append(text) }
    }

    public static func rules(_ prices: Prices) throws -> [UInt8] {
        let text = try JSONText.write(RulesMessage(prices))
        return frame(.done) { $0.append(text) }
    }

    /// - Parameter numbers: the games, in this order.
    public static func states(of games: [Game], _ numbers: [Int]) throws -> [UInt8] {
        let texts = try numbers.map { try JSONText.write(games[$0]) }
        return frame(.done) { body in
            body.integer(UInt32(texts.count))
            for text in texts {
                body.integer(UInt32(text.count))
                body.append(text)
            }
        }
    }

    /// - Parameter numbers: the games, in this order.
    public static func packedStates(of games: [Game], _ numbers: [Int]) -> [UInt8] {
        let prefix = 4 * FrameProtocol.wordSize
        return frame(.done, capacity: prefix + numbers.count * Game.packedSize) { body in
            body.integer(UInt32(numbers.count))
            body.integer(UInt32(Game.packedSize))
            for number in numbers { games[number].pack(into: &body) }
        }
    }

    /// - Parameter counts: one for each of `MarkSet.names`.
    public static func marks(_ counts: [UInt64]) -> [UInt8] {
        frame(.done) { body in
            body.integer(UInt32(counts.count))
            for count in counts { body.integer(count) }
            body.append(Array(MarkSet.names.joined(separator: "\n").utf8))
        }
    }

    /// A length, a status and a body.
    private static func frame(
        _ status: Status, capacity: Int = 256, _ write: (inout ByteWriter) -> Void
    ) -> [UInt8] {
        var writer = ByteWriter(capacity: capacity)
        writer.integer(UInt32(0))
        writer.integer(status.rawValue)
        write(&writer)
        return writer.finishFrame()
    }
}
