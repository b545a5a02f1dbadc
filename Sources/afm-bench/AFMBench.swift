import ArgumentParser
import CAllocationGuard
import CPlatform
import CProcess
import Foundation
import TensorCore

/// The command line. Exit codes: 0 done, 1 a measured check failed, 2 bad usage, 3 bad input file,
/// 4 the environment cannot do it (or an internal error, whose line says so). What the signals do is
/// said at `cpr_install`.
@main
struct AFMBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "afm-bench",
    abstract: "Measures and profiles quantized language-model inference, tier by tier.",
    discussion: """
      Example: afm-bench pack model.gguf model.afmw --weights s8c
      Example: afm-bench run model.afmw
      """,
    version: Version.line,
    groupedSubcommands: [
      CommandGroup(
        name: "Measure",
        subcommands: [
          RunCommand.self, KernelsCommand.self, RoofCommand.self, LoadCommand.self,
          ReplayCommand.self, CacheCommand.self, ScoreCommand.self,
        ]),
      CommandGroup(
        name: "Models",
        subcommands: [
          PackCommand.self, MakeCommand.self, VerifyCommand.self, ExportCommand.self,
          ASTCCommand.self,
        ]),
      CommandGroup(
        name: "Text",
        subcommands: [GenerateCommand.self, TokenizeCommand.self, LogitsCommand.self]),
      CommandGroup(
        name: "Read",
        subcommands: [
          TraceCommand.self, CompareCommand.self, InspectCommand.self, DumpCommand.self,
        ]),
    ])

  static func main() {
    ProcessEnd.install()
    let arguments = Array(CommandLine.arguments.dropFirst())
    if let refusal = LlamaBenchOptions.refusal(in: arguments) {
      finish(with: CommandFailure(.usage, refusal))
    }
    var command: any ParsableCommand
    do { command = try parseAsRoot() } catch { finishParsing(with: error) }
    do {
      // Every leaf of the tree is one; the others only show their help.
      try (command as? any FileUsingCommand)?.files.check()
      try command.run()
      ProcessEnd.noteRefusedThreads()
    } catch {
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
      let arguments = Array(CommandLine.arguments.dropFirst())
      let usage = UsageMessage(arguments: arguments, commands: CommandNames(Self.self))
      Console.error(
        usage.improved(EscapedUsage.line(self.message(for: error), in: message)))
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

/// How the process ends where no error can be thrown.
private enum ProcessEnd {
  /// Installs the signal handlers, and has failed allocations end in one line.
  static func install() {
    // The program's name is a constant; nothing else of it is kept.
    unsafe cpr_install("afm-bench")
    MemoryRefusal.onRefusal { cpr_end_out_of_memory($0) }
  }

  /// Says that the work ran on fewer threads than it would have; what measures has thrown already.
  static func noteRefusedThreads() {
    var error: Int32 = 0
    // `error` outlives the call.
    let count = unsafe cp_refused_thread_count(&error)
    guard count > 0 else { return }
    // strerror's text is copied before anything else runs.
    let reason = unsafe String(cString: strerror(error))
    Console.error(
      "afm-bench: note: the system refused \(count) thread\(count == 1 ? "" : "s") (\(reason)); "
        + "fewer did the work")
  }
}

/// What the argument parser says about a command line, fit for a terminal.
private enum EscapedUsage {
  /// The parser's text with what the user typed escaped and cut. Its own lines stay lines.
  static func line(_ reason: String, in whole: String) -> String {
    // "Error: REASON", then usage lines; only the reason repeats what was typed.
    let opening = "Error: \(reason)"
    guard whole.hasPrefix(opening) else { return MessageText.lines(whole) }
    // Where an argument has line ends, a line of the reason may be the argument's.
    let isOneLine = CommandLine.arguments.contains { $0.contains(where: \.isNewline) }
    let shown =
      isOneLine
      ? MessageText.line(reason, limit: 2 * MessageText.limit)
      : reason.split(separator: "\n", omittingEmptySubsequences: false)
        .map { MessageText.line(String($0), limit: 2 * MessageText.limit) }.joined(separator: "\n")
    return "Error: \(shown)" + MessageText.lines(String(whole.dropFirst(opening.count)))
  }
}
