/// Bytes in and out of the process.

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Reads standard input through a buffer.
struct Pipe {
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)
    private var start = 0
    private var end = 0
    /// The time for which input is polled before the process sleeps.
    var patience = Duration.microseconds(150)

    /// Reads a line, without its newline. A last line without a newline counts, too.
    /// - Parameter limit: longer lines are skipped.
    /// - Returns: nil at the end of input, `.tooLong` for a line over the limit.
    mutating func readLine(limit: Int) -> Line? {
        var line: [UInt8] = []
        var length = 0
        while true {
            if start == end && !fill() {
                return length == 0 ? nil : Pipe.line(line, length, limit)
            }
            let newline = buffer[start..<end].firstIndex(of: 0x0A)
            let stop = newline ?? end
            length += stop - start
            if length <= limit { line += buffer[start..<stop] }
            start = newline.map { $0 + 1 } ?? end
            if newline != nil { return Pipe.line(line, length, limit) }
        }
    }

    enum Line {
        case bytes([UInt8])
        case tooLong
    }

    private static func line(_ bytes: [UInt8], _ length: Int, _ limit: Int) -> Line {
        length <= limit ? .bytes(bytes) : .tooLong
    }

    /// Reads exactly `count` bytes, fewer only at the end of input.
    mutating func read(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            if start == end && !fill() { break }
            let take = min(count - bytes.count, end - start)
            bytes += buffer[start..<start + take]
            start += take
        }
        return bytes
    }

    /// Skips `count` bytes.
    mutating func skip(_ count: Int) {
        var rest = count
        while rest > 0 {
            if start == end && !fill() { return }
            let take = min(rest, end - start)
            start += take
            rest -= take
        }
    }

    private mutating func fill() -> Bool {
        watch()
        let count = buffer.withUnsafeMutableBytes { bytes in
            Pipe.retrying { systemRead(0, bytes.baseAddress, bytes.count) }
        }
        start = 0
        end = max(count, 0)
        return count > 0
    }

    /// Polls for input before `read` puts the process to sleep: waking it may take longer than a step.
    /// After many failed polls, as on a busy machine or with a slow client, it polls only now and then.
    private mutating func watch() {
        var input = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
        if poll(&input, 1, 0) != 0 { return }  // input that was there already does not count as a successful poll
        waits &+= 1
        guard trust > 0 || waits % Pipe.probe == 0 else { return }
        let start = ContinuousClock.now
        while poll(&input, 1, 0) == 0 {
            if ContinuousClock.now - start > patience {
                trust = max(trust - Pipe.disappointment, 0)
                return
            }
        }
        trust = min(trust + 1, Pipe.mostTrust)
    }

    private var trust = Pipe.mostTrust
    private var waits: UInt32 = 0
    private static let mostTrust = 8
    private static let disappointment = 4
    private static let probe: UInt32 = 64

    /// Writes all bytes to a file descriptor.
    /// - Returns: false when the reading end is closed.
    @discardableResult
    static func writeAll(_ bytes: [UInt8], to descriptor: Int32 = 1) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
                let count = retrying { systemWrite(descriptor, rest.baseAddress, rest.count) }
                if count <= 0 { return false }
                written += count
            }
            return true
        }
    }

    /// Ignores SIGPIPE, so that writing to a closed pipe returns an error instead of ending the process.
    static func ignoreBrokenPipes() {
        signal(SIGPIPE, SIG_IGN)
    }

    private static func retrying(_ call: () -> Int) -> Int {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }
}

private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}

private func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, buffer, count)
}
