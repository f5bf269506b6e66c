/// The executable `HackMatrix`: runs the mode that the command line names.

import Foundation
import HackMatrixCore

do {
    let (invocation, log) = try Invocation.parse(Array(CommandLine.arguments.dropFirst()))
    Pipe.ignoreBrokenPipes()
    switch invocation {
    case .help: print(Invocation.usage)
    case .version: print(Rules.version)
    case .bench(let steps): print(Bench.play(steps))
    case .json:
        var server = JSONServer(log: log)
        server.run()
    case .binary:
        var server = BinaryServer(log: log)
        server.run()
    }
} catch {
    Log.write((error as? UsageFault)?.sentence ?? "\(error)")
    exit(2)
}
