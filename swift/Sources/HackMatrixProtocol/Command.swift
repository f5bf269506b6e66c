/// The commands of the JSON mode, read strictly. Protocol; C1's refusal of actions that do not exist.

import HackMatrixCore

public enum Command: Decodable, Sendable {
    case reset(seed: UInt64?)
    case step(Action)
    case setState(Game)
    case setPrices(PriceChanges)
    case getState, getValidActions, getActionSpace, getObservationSpace, getInternalState, getRules

    private enum Name: String, CaseIterable {
        case reset, step, setState, setPrices
        case getState, getValidActions, getActionSpace, getObservationSpace, getInternalState, getRules
    }

    private enum CommandKey: String, FieldName { case action }
    private enum ResetKey: String, FieldName { case action, seed }
    private enum StepKey: String, FieldName { case action, actionIndex }
    private enum SetStateKey: String, FieldName { case action, state }
    private enum SetPricesKey: String, FieldName { case action, prices }

    public init(from decoder: any Decoder) throws {
        let fields = try Fields<CommandKey>(decoder)
        guard let name = Name(rawValue: try fields.text(.action)) else {
            throw fields.fault(.action, "must be one of \(Name.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        switch name {
        case .reset: self = try Command.reset(decoder)
        case .step: self = try Command.step(decoder)
        case .setState: self = try Command.setState(decoder)
        case .setPrices: self = try Command.setPrices(decoder)
        case .getState: self = .getState
        case .getValidActions: self = .getValidActions
        case .getActionSpace: self = .getActionSpace
        case .getObservationSpace: self = .getObservationSpace
        case .getInternalState: self = .getInternalState
        case .getRules: self = .getRules
        }
        if Command.takesNothing(name) { try fields.refuseUnknown(in: decoder) }
    }

    private static func takesNothing(_ name: Name) -> Bool {
        ![.reset, .step, .setState, .setPrices].contains(name)
    }

    private static func reset(_ decoder: any Decoder) throws -> Command {
        let fields = try Fields<ResetKey>(decoder)
        try fields.refuseUnknown(in: decoder)
        return .reset(seed: fields.has(.seed) ? try fields.integer(.seed, in: 0...UInt64.max) : nil)
    }

    private static func step(_ decoder: any Decoder) throws -> Command {
        let fields = try Fields<StepKey>(decoder)
        try fields.refuseUnknown(in: decoder)
        let index = try fields.integer(.actionIndex, in: 0...(Action.count - 1))
        guard let action = Action(index: index) else { throw fields.fault(.actionIndex, "is no action") }
        return .step(action)
    }

    private static func setState(_ decoder: any Decoder) throws -> Command {
        let fields = try Fields<SetStateKey>(decoder)
        try fields.refuseUnknown(in: decoder)
        return .setState(try fields.value(.state, Game.self, "an object"))
    }

    private static func setPrices(_ decoder: any Decoder) throws -> Command {
        let fields = try Fields<SetPricesKey>(decoder)
        try fields.refuseUnknown(in: decoder)
        return .setPrices(try fields.value(.prices, PriceChanges.self, "an object"))
    }
}

/// Some prices by name, in thousandths.
public struct PriceChanges: Decodable, Sendable {
    /// New prices by index in `Prices.names`.
    public let thousandths: [Int: Int32]

    private struct Key: FieldName {
        let rawValue: String
        var stringValue: String { rawValue }
        var intValue: Int? { nil }

        static var allCases: [Key] { Prices.names.map(Key.init(rawValue:)) }

        init(rawValue: String) { self.rawValue = rawValue }
        init?(stringValue: String) { self.init(rawValue: stringValue) }
        init?(intValue: Int) { nil }
    }

    public init(from decoder: any Decoder) throws {
        let fields = try Fields<Key>(decoder)
        try fields.refuseUnknown(in: decoder)
        let given = Key.allCases.enumerated().filter { fields.has($0.element) }
        thousandths = Dictionary(
            uniqueKeysWithValues: try given.map { index, key in
                (index, try fields.integer(key, in: Int32.min...Int32.max))
            })
    }
}
