/// Strict reading of JSON objects: types, ranges and unknown names. Protocol; ranges of
/// docs/reference/hackmatrix-rules.md.

/// A fault in a message, in one sentence that names the field.
public struct ProtocolFault: Error, Equatable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) {
        self.description = description
    }
}

/// Any name that an object may hold.
struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

typealias FieldName = CodingKey & CaseIterable & RawRepresentable<String>

/// The fields of one JSON object.
struct Fields<Name: FieldName> {
    private let container: KeyedDecodingContainer<Name>
    private let path: [any CodingKey]

    init(_ decoder: any Decoder) throws {
        path = decoder.codingPath
        guard let container = try? decoder.container(keyedBy: Name.self) else {
            throw ProtocolFault("\(Fields.text(path)) must be an object")
        }
        self.container = container
    }

    /// Refuses every name that is neither in `Name` nor in `others`.
    func refuseUnknown(besides others: [String] = [], in decoder: any Decoder) throws {
        let known = Set(Name.allCases.map(\.rawValue) + others)
        let names = try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
        guard let stranger = names.filter({ !known.contains($0) }).min() else { return }
        let list = known.sorted().joined(separator: ", ")
        throw ProtocolFault("unknown field \(Fields.text(path, stranger)); the fields are \(list)")
    }

    func has(_ name: Name) -> Bool { container.contains(name) }

    /// - Parameter absent: the value when the field is absent; nil makes it required.
    func integer<Number: FixedWidthInteger & Decodable>(
        _ name: Name, in range: ClosedRange<Number>, absent: Number? = nil
    ) throws -> Number {
        let demand = "an integer from \(range.lowerBound) to \(range.upperBound)"
        let value = try read(Number.self, name, absent, demand)
        guard range.contains(value) else { throw fault(name, "must be \(demand)") }
        return value
    }

    func flag(_ name: Name) throws -> Bool {
        try read(Bool.self, name, false, "true or false")
    }

    func text(_ name: Name) throws -> String {
        try read(String.self, name, nil, "a string")
    }

    /// A list or object; its own faults name the field inside it.
    func value<Value: Decodable>(
        _ name: Name, _ type: Value.Type, absent: Value? = nil, _ demand: String
    ) throws -> Value {
        try read(type, name, absent, demand)
    }

    /// An object that may also be null.
    func nullable<Value: Decodable>(_ name: Name, _ type: Value.Type) throws -> Value? {
        guard has(name), (try? container.decodeNil(forKey: name)) == false else { return nil }
        return try read(type, name, nil, "an object or null")
    }

    func fault(_ name: Name, _ problem: String) -> ProtocolFault {
        ProtocolFault("\(Fields.text(path, name.rawValue)) \(problem)")
    }

    private func read<Value: Decodable>(
        _ type: Value.Type, _ name: Name, _ absent: Value?, _ demand: String
    ) throws -> Value {
        guard has(name) else {
            if let absent { return absent }
            throw fault(name, "is missing; it must be \(demand)")
        }
        do {
            return try container.decode(type, forKey: name)
        } catch let fault as ProtocolFault {
            throw fault
        } catch {
            throw fault(name, "must be \(demand)")
        }
    }

    private static func append(_ name: String, to text: inout String) {
        text += text.isEmpty ? name : ".\(name)"
    }

    /// A path in the form `state.enemies[0].hp`.
    private static func text(_ path: [any CodingKey], _ last: String? = nil) -> String {
        var text = ""
        for key in path {
            if let index = key.intValue { text += "[\(index)]" } else { append(key.stringValue, to: &text) }
        }
        if let last { append(last, to: &text) }
        return text.isEmpty ? "the message" : text
    }
}
