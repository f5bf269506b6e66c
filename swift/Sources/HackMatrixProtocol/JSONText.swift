/// JSON text to values and back.

import Foundation

public enum JSONText {
    /// - Throws: `ProtocolFault` for every fault of the text.
    public static func read<Value: Decodable>(_ type: Value.Type, from text: [UInt8]) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(text))
        } catch let fault as ProtocolFault {
            throw fault
        } catch {
            throw ProtocolFault("the message is not a valid JSON object")
        }
    }

    /// One line of text, names in alphabetical order.
    public static func write(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }
}
