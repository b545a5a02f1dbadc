import Foundation
import Testing

/// The Python oracles, and the fixtures, as the tests of this target find them.
///
/// `AFM_PYTHON` names a Python that has PyPI `tokenizers`, `jinja2` and `gguf`; `AFM_TEST_MODEL` a
/// GGUF file of SmolLM2. Where one is not set the tests that need it are skipped, unless `CI` is
/// `true`: there they fail.
enum Oracle {
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  private static func variable(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  private static let mustRun = variable("CI") == "true"

  static let skipReason: Comment = "AFM_PYTHON names no Python with the oracle packages"
  static let modelSkipReason: Comment = "AFM_PYTHON or AFM_TEST_MODEL is not set"

  static var isAvailable: Bool { mustRun || variable("AFM_PYTHON") != nil }
  static var hasModel: Bool { isAvailable && (mustRun || variable("AFM_TEST_MODEL") != nil) }

  static func modelPath() throws -> String {
    guard let path = variable("AFM_TEST_MODEL") else {
      throw Failure(description: "AFM_TEST_MODEL is not set")
    }
    return path
  }

  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  static func fixture(_ name: String) throws -> Data {
    try Data(contentsOf: root.appendingPathComponent("Tests/Fixtures/\(name)"))
  }

  /// Runs a script of tools/oracles on one request.
  static func ask<Answer: Decodable>(
    _ script: String, _ request: some Encodable, as: Answer.Type = Answer.self
  ) throws -> Answer {
    guard let python = variable("AFM_PYTHON") else {
      throw Failure(description: "AFM_PYTHON is not set")
    }
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("tokenization-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (source, target) = (
      folder.appendingPathComponent("request.json"), folder.appendingPathComponent("answer.json")
    )
    try JSONEncoder().encode(request).write(to: source)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: python)
    process.arguments = [
      root.appendingPathComponent("tools/oracles/\(script)").path, source.path, target.path,
    ]
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failure(description: "\(script) exited with \(process.terminationStatus)")
    }
    return try JSONDecoder().decode(Answer.self, from: Data(contentsOf: target))
  }
}
