/// Memory that the client shares with the engine (docs/reference/protocol.md).

import HackMatrixProtocol

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A mapped file, which is unmapped with the last reference to it.
final class SharedMemory {
    private let bytes: UnsafeMutableRawBufferPointer

    /// Maps the first `size` bytes of an inherited file descriptor, and closes it.
    /// - Throws: `ProtocolFault` where there is no such file, it is shorter, or it cannot be mapped.
    init(descriptor: Int32, size: Int) throws {
        guard descriptor > 2 else { throw ProtocolFault("descriptor \(descriptor) is no shared memory") }
        var about = stat()
        guard fstat(descriptor, &about) == 0, size > 0, Int(about.st_size) >= size else {
            throw ProtocolFault("descriptor \(descriptor) is no file of \(size) bytes")
        }
        guard let start = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), start != MAP_FAILED else {
            throw ProtocolFault("descriptor \(descriptor) cannot be mapped")
        }
        close(descriptor)
        bytes = UnsafeMutableRawBufferPointer(start: start, count: size)
    }

    /// The place of `size` bytes from an offset on.
    /// - Throws: `ProtocolFault` where they reach beyond the memory or begin off a multiple of 8.
    func place(_ offset: Int, _ size: Int) throws -> UnsafeMutableRawPointer {
        guard offset % 8 == 0, offset <= bytes.count, size <= bytes.count - offset, let start = bytes.baseAddress else {
            throw ProtocolFault(
                "rows of \(size) bytes at \(offset) do not fit into the \(bytes.count) shared bytes, or begin off 8")
        }
        return start.advanced(by: offset)
    }

    deinit {
        munmap(bytes.baseAddress, bytes.count)
    }
}
