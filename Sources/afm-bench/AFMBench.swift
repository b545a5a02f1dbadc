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
    version: Version.line,
    subcommands: [
      RunCommand.self, PackCommand.self, MakeCommand.self, InspectCommand.self, VerifyCommand.self,
      LoadCommand.self, DumpCommand.self, ExportCommand.self, TokenizeCommand.self,
      LogitsCommand.self, GenerateCommand.self, ScoreCommand.self, TraceCommand.self,
      KernelsCommand.self, RoofCommand.self, ASTCCommand.self, CacheCommand.self,
      ReplayCommand.self,
    ])

  static func main() {
    // A reader that closes our pipe ends us quietly through a write error, not by a signal.
    _ = signal(SIGPIPE, SIG_IGN)
    var command: any ParsableCommand
    do { command = try parseAsRoot() } catch { finishParsing(with: error) }
    do { try command.run() } catch {
      // A command that only holds others "runs" by showing its help.
      if exitCode(for: error).isSuccess { finishParsing(with: error) }
      finish(
        with: CommandFailure(error) ?? CommandFailure(.environment, String(describing: error)))
    }
  }

  /// Shows the help or version that was asked for, or why the command line is not understood.
  private static func finishParsing(with error: any Error) -> Never {
    let message = fullMessage(for: error)
    guard exitCode(for: error).isSuccess else {
      Console.error(message)
      Foundation.exit(CommandFailure.Code.usage.rawValue)
    }
    do { try Console.report(message) } catch {
      finish(with: CommandFailure(.environment, "standard output: cannot write the report"))
    }
    Foundation.exit(0)
  }

  /// Prints an error in one line and exits with its code.
  private static func finish(with failure: CommandFailure) -> Never {
    Console.error("afm-bench: \(failure.message)")
    Foundation.exit(failure.exitCode.rawValue)
  }
}
