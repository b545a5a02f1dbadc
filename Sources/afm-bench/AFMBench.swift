import ArgumentParser
import Foundation

/// The command line. Exit codes: 0 done, 1 a measured check failed, 2 bad usage, 3 bad input file,
/// 4 the environment cannot do it.
@main
struct AFMBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "afm-bench",
    abstract: "Measures and profiles quantized language-model inference, tier by tier.",
    discussion: """
      Example: afm-bench pack model.gguf model.afmw --weights s8c && afm-bench run model.afmw
      """,
    version: Version.text,
    subcommands: [
      RunCommand.self, PackCommand.self, InspectCommand.self, VerifyCommand.self,
      DumpCommand.self, TokenizeCommand.self, LogitsCommand.self, GenerateCommand.self,
      ScoreCommand.self, TraceCommand.self,
    ])

  static func main() {
    // A reader that closes our pipe ends us quietly through a write error, not by a signal.
    _ = signal(SIGPIPE, SIG_IGN)
    do {
      var command = try parseAsRoot()
      try command.run()
    } catch {
      finish(with: error)
    }
  }

  /// Prints an error in one line (usage errors with the usage after it) and exits with its code.
  private static func finish(with error: any Error) -> Never {
    if let failure = CommandFailure(error) {
      Console.error("afm-bench: \(failure.message)")
      Foundation.exit(failure.exitCode.rawValue)
    }
    let message = fullMessage(for: error)
    guard exitCode(for: error).isSuccess else {
      Console.error(message)
      Foundation.exit(CommandFailure.Code.usage.rawValue)
    }
    Console.write(message)
    Foundation.exit(0)
  }
}
