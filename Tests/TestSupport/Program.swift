import Foundation

/// The `afm-bench` that was built beside the test bundle, run as a process of its own.
package struct Program {
  /// How a run ended and what it wrote.
  package struct Result: CustomStringConvertible {
    /// The exit code, or the signal's negative number.
    package var status: Int32
    package var output: Data
    package var error: String

    package var outputText: String { String(decoding: output, as: UTF8.self) }
    package var errorLines: [Substring] { error.split(separator: "\n") }

    /// The output as JSON.
    package func json() throws -> Any {
      try JSONSerialization.jsonObject(with: output, options: .fragmentsAllowed)
    }

    package var description: String {
      "status \(status), output \(outputText.prefix(300)), error \(error.prefix(600))"
    }
  }

  struct Failure: Error, CustomStringConvertible { var description: String }

  /// The program's path; `AFM_BENCH` names another one.
  package static let path: String = {
    if let named = ProcessInfo.processInfo.environment["AFM_BENCH"] { return named }
    let bundle =
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      ?? CommandLine.arguments[0]
    return URL(fileURLWithPath: bundle).deletingLastPathComponent()
      .appendingPathComponent("afm-bench").path
  }()

  /// Runs it to its end, or kills it after `seconds` and throws.
  package static func run(
    _ arguments: [String], input: String = "", environment: [String: String] = [:],
    seconds: Double = 60
  ) throws -> Result {
    try run(path, arguments, input: input, environment: environment, seconds: seconds)
  }

  /// The same for a shell's line; `$AFM` is the program.
  package static func shell(
    _ line: String, environment: [String: String] = [:], seconds: Double = 60
  ) throws -> Result {
    var environment = environment
    environment["AFM"] = path
    return try run("/bin/bash", ["-c", line], environment: environment, seconds: seconds)
  }

  /// Runs any program; `whileRunning` is called once it has started.
  package static func run(
    _ program: String, _ arguments: [String], input: String = "",
    environment: [String: String] = [:], seconds: Double = 60,
    whileRunning: (Process) -> Void = { _ in }
  ) throws -> Result {
    let folder = try TemporaryFolder()
    try Data(input.utf8).write(to: folder.url("in"))
    for name in ["out", "err"] { try Data().write(to: folder.url(name)) }
    let process = Process()
    // A thread of a pool blocks every signal, and its children inherit that; env undoes it.
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["--default-signal", program] + arguments
    var variables = ProcessInfo.processInfo.environment
    variables["AFM_ISA"] = nil
    process.environment = variables.merging(environment) { $1 }
    process.standardInput = try FileHandle(forReadingFrom: folder.url("in"))
    process.standardOutput = try FileHandle(forWritingTo: folder.url("out"))
    process.standardError = try FileHandle(forWritingTo: folder.url("err"))
    let ended = DispatchSemaphore(value: 0)
    process.terminationHandler = { _ in ended.signal() }
    try process.run()
    whileRunning(process)
    if ended.wait(timeout: .now() + seconds) == .timedOut {
      kill(process.processIdentifier, SIGKILL)
      throw Failure(description: "\(program) \(arguments): ran for more than \(seconds) s")
    }
    let status = process.terminationStatus
    return Result(
      status: process.terminationReason == .uncaughtSignal ? -status : status,
      output: try Data(contentsOf: folder.url("out")),
      error: String(decoding: try Data(contentsOf: folder.url("err")), as: UTF8.self))
  }
}

/// A folder that goes away with its owner.
package final class TemporaryFolder: Sendable {
  package let path: String

  package init() throws {
    let url = FileManager.default.temporaryDirectory
      .appendingPathComponent("afm-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// A place in it.
  package func url(_ name: String) -> URL {
    URL(fileURLWithPath: path).appendingPathComponent(name)
  }

  package func file(_ name: String) -> String { url(name).path }

  /// The names in it, hidden ones too.
  package var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
  }
}
