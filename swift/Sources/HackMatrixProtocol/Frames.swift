/// The elements of binary frames: commands, statuses, limits, and their bytes.
/// docs/reference/protocol.md holds the layout.

/// The constants of the protocol.
public enum FrameProtocol {
    public static let version: UInt32 = 3
    static let magic = Array("HKMX".utf8)
    static let mostGames = 1 << 16
    public static let longestFrame = 1 << 30
    /// The size of a frame's length field and of all numbers without another documented size.
    public static let wordSize = MemoryLayout<UInt32>.size
    /// The count that stands for all games.
    static let allGames = UInt32.max
}

/// The commands of the binary mode.
public enum FrameCommand: UInt32, Sendable {
    case hello, open, step, observe, reset, getStates, setStates, getMarks, resetMarks, setObservation, getRules
    case getPackedStates, restart, share, place, setPrices, getPhases

    public var needsGames: Bool {
        switch self {
        case .step, .observe, .reset, .getStates, .setStates, .getPackedStates, .restart: true
        case .hello, .open, .getMarks, .resetMarks, .setObservation, .getRules, .share, .place, .setPrices,
            .getPhases:
            false
        }
    }

    /// True for commands whose answer has rows.
    public var hasRows: Bool {
        switch self {
        case .open, .step, .observe, .reset, .setStates, .restart: true
        case .hello, .getStates, .getMarks, .resetMarks, .setObservation, .getRules, .getPackedStates, .share, .place,
            .setPrices, .getPhases:
            false
        }
    }
}

/// The first word of every reply.
enum Status: UInt32 {
    case done, refused
}

/// The format of observations in rows.
public enum ObservationMode: UInt32, Sendable {
    case none, floats, compact
}

/// Reads little-endian fields from front to back.
public struct ByteReader {
    private let bytes: [UInt8]
    private var place = 0

    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// - Throws: `ProtocolFault` when the frame is too short.
    public mutating func integer<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
        let size = MemoryLayout<Number>.size
        let start = place
        try advance(size)
        return bytes.withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(fromByteOffset: start, as: type)) }
    }

    /// - Throws: `ProtocolFault` when there is no such command.
    public mutating func command() throws -> FrameCommand {
        let number = try integer(UInt32.self)
        guard let command = FrameCommand(rawValue: number) else { throw ProtocolFault("there is no command \(number)") }
        return command
    }

    /// - Throws: `ProtocolFault` when fewer than `count` follow.
    mutating func integers<Number: FixedWidthInteger>(_ type: Number.Type, _ count: Int) throws -> [Number] {
        let (size, overflow) = count.multipliedReportingOverflow(by: MemoryLayout<Number>.size)
        guard !overflow, size <= bytes.count - place else { throw ByteReader.short }
        let start = place
        place += size
        return bytes.withUnsafeBytes { bytes in
            (0..<count).map {
                let offset = start + $0 * MemoryLayout<Number>.size
                return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type))
            }
        }
    }

    mutating func text(_ count: Int) throws -> [UInt8] {
        let start = place
        try advance(count)
        return Array(bytes[start..<place])
    }

    /// - Throws: `ProtocolFault` when bytes are left.
    func finish() throws {
        guard place == bytes.count else {
            throw ProtocolFault("the frame goes on after its command; bytes left over: \(bytes.count - place)")
        }
    }

    private mutating func advance(_ count: Int) throws {
        guard count <= bytes.count - place else { throw ByteReader.short }
        place += count
    }

    private static let short = ProtocolFault("the frame ends before its command does")
}

/// Bytes written from front to back, numbers in little-endian order.
struct ByteWriter {
    /// The bytes written so far, then zeros for later ones.
    private var storage: [UInt8]
    private(set) var count = 0

    /// - Parameter capacity: the expected number of bytes; more make the storage grow.
    init(capacity: Int = 256) {
        storage = [UInt8](repeating: 0, count: capacity)
    }

    mutating func integer<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number) {
        fill(MemoryLayout<Number>.size) { $0.storeBytes(of: number.littleEndian, as: Number.self) }
    }

    mutating func append(_ bytes: [UInt8]) {
        fill(bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// Appends `size` zeros, which `body` may change.
    mutating func fill(_ size: Int, _ body: (UnsafeMutableRawBufferPointer) -> Void = { _ in }) {
        let end = count + size
        if end > storage.count { storage += [UInt8](repeating: 0, count: max(size, storage.count)) }
        storage.withUnsafeMutableBytes { body(UnsafeMutableRawBufferPointer(rebasing: $0[count..<end])) }
        count = end
    }

    /// Appends zeros up to a multiple of `size`.
    mutating func align(to size: Int) {
        fill((size - count % size) % size)
    }

    /// The bytes written so far.
    mutating func finish() -> [UInt8] {
        storage.removeLast(storage.count - count)
        return storage
    }

    /// The bytes written so far, whose first word becomes the number of bytes after it.
    mutating func finishFrame() -> [UInt8] {
        let length = UInt32(truncatingIfNeeded: count - FrameProtocol.wordSize)
        storage.withUnsafeMutableBytes { $0.storeBytes(of: length.littleEndian, as: UInt32.self) }
        return finish()
    }
}
