/// The command line of the executable.

/// The mode and the options of an invocation.
enum Invocation: Equatable {
    case json, binary, version, help
    /// Play that many steps and print the time that they took.
    case bench(Int)

    static let usage = """
        usage: HackMatrix --headless-cli [--info | --debug]
               HackMatrix --binary [--info | --debug]
               HackMatrix --bench STEPS

          --headless-cli  read one JSON command a line from standard input, answer each with one line
          --binary        read and answer length-prefixed binary frames (docs/reference/protocol.md)
          --info          log what happens to standard error
          --debug         log every command to standard error
          --version       print the version of the rules
          --bench STEPS   play random valid actions on one core and print the steps and the seconds
          --help          print this text
        """

    /// - Throws: `UsageFault` for an unknown option or when no mode is given.
    static func parse(_ arguments: [String]) throws -> (invocation: Invocation, log: Log) {
        if arguments.first == "--bench" {
            guard arguments.count == 2, let steps = Int(arguments[1]), steps > 0 else {
                throw UsageFault("--bench needs the number of steps to play, a whole number above 0")
            }
            return (.bench(steps), .silent)
        }
        let known = ["--headless-cli", "--binary", "--info", "--debug", "--version", "--help", "-h"]
        if let stranger = arguments.first(where: { !known.contains($0) }) {
            throw UsageFault("unknown option \(stranger); see HackMatrix --help")
        }
        let log: Log = arguments.contains("--debug") ? .debug : arguments.contains("--info") ? .info : .silent
        if arguments.contains("--help") || arguments.contains("-h") { return (.help, log) }
        if arguments.contains("--version") { return (.version, log) }
        if arguments.contains("--binary") { return (.binary, log) }
        if arguments.contains("--headless-cli") { return (.json, log) }
        throw UsageFault("choose a mode, --headless-cli or --binary; see HackMatrix --help")
    }
}

/// A mistake in the command line, in one sentence.
struct UsageFault: Error {
    let sentence: String

    init(_ sentence: String) {
        self.sentence = sentence
    }
}

/// The level of the log on standard error.
enum Log: Int {
    case silent, info, debug

    func info(_ message: @autoclosure () -> String) {
        if rawValue >= Log.info.rawValue { Log.write(message()) }
    }

    func debug(_ message: @autoclosure () -> String) {
        if rawValue >= Log.debug.rawValue { Log.write(message()) }
    }

    static func write(_ message: String) {
        Pipe.writeAll(Array("HackMatrix: \(message)\n".utf8), to: 2)
    }
}
