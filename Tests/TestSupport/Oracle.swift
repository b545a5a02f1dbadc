import Foundation
import Testing

/// Something outside the package that tests compare with: a Python with the packages of
/// tools/oracles/requirements.txt, the real model, a tool of Debian, a library.
///
///     @Test(.needs(.python, .tool("zstd"))) func agrees() throws {
///       let zstd = try Oracle.tool("zstd").path()
///
/// tools/test installs all of them and names them in variables. Where one is missing the tests that
/// need it are skipped and say so; under `CI=true` they run, and fail by `path()`.
package struct Oracle: Sendable {
  package struct Failure: Error, CustomStringConvertible {
    package var description: String

    package init(description: String) { self.description = description }
  }

  /// Its path, or nil where it is missing.
  private let location: String?
  /// What is missing, in the words of a skipped test.
  package let missing: String

  /// A file that a variable names.
  private init(variable: String, _ kind: String) {
    location = Self.variable(variable)
    missing = "\(variable) names no \(kind)"
  }

  /// One that is found in a way of its own.
  package init(location: String?, missing: String) {
    self.location = location
    self.missing = missing
  }

  /// A Python with the packages of tools/oracles/requirements.txt.
  package static let python = Oracle(variable: "AFM_PYTHON", "Python with the oracles' packages")
  /// SmolLM2-135M-Instruct as GGUF.
  package static let model = Oracle(variable: "AFM_TEST_MODEL", "GGUF file of SmolLM2")
  /// The program over libastcenc that tools/test builds.
  package static let astc = Oracle(variable: "AFM_ASTC_ORACLE", "program over libastcenc")

  /// A program on `PATH`.
  package static func tool(_ name: String) -> Oracle {
    let folders = variable("PATH")?.split(separator: ":") ?? []
    let location = folders.lazy.map { "\($0)/\(name)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
    return Oracle(location: location, missing: "no \(name) on PATH")
  }

  /// Whether nothing may be missing here.
  package static let mustRun = variable("CI") == "true"

  package var isPresent: Bool { location != nil }

  /// Its path; throws where it is missing.
  package func path() throws -> String {
    guard let location else { throw Failure(description: missing) }
    return location
  }

  /// Runs it to a good end and returns its standard output.
  package func run(_ arguments: [String], input: String = "") throws -> Data {
    let program = try path()
    // Minutes: a machine with other work to do must not fail a test.
    let result = try Program.run(program, arguments, input: input, seconds: 900)
    guard result.status == 0 else {
      throw Failure(description: "\(program) \(arguments.joined(separator: " ")): \(result)")
    }
    return result.output
  }

  /// Runs a script of tools/oracles and returns its standard output.
  package static func script(_ name: String, _ arguments: String...) throws -> Data {
    try python.run([Repository.file("tools/oracles/\(name)").path] + arguments)
  }

  /// The answer of a script of tools/oracles that reads one JSON file and writes another.
  package static func ask<Answer: Decodable>(
    _ script: String, _ request: some Encodable, as: Answer.Type = Answer.self
  ) throws -> Answer {
    let folder = try TemporaryFolder()
    try JSONEncoder().encode(request).write(to: folder.url("request.json"))
    _ = try Self.script(script, folder.file("request.json"), folder.file("answer.json"))
    return try JSONDecoder().decode(Answer.self, from: Data(contentsOf: folder.url("answer.json")))
  }

  private static func variable(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips where one of the oracles is missing, unless `CI=true` says that none may be.
  package static func needs(_ oracles: Oracle...) -> Self {
    let missing = oracles.filter { !$0.isPresent }.map(\.missing)
    return .enabled(
      if: missing.isEmpty || Oracle.mustRun, "\(missing.joined(separator: "; "))")
  }
}

/// The files of the checkout that the tests were built from.
package enum Repository {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  package static func file(_ path: String) -> URL { root.appendingPathComponent(path) }

  /// A file of Tests/Fixtures.
  package static func fixture(_ name: String) -> URL { file("Tests/Fixtures/\(name)") }
}
