import Foundation
import Testing

/// Fixtures, scratch files and Python as the tests of this target reach them.
enum Reading {
  private static func variable(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Whether Python's readers are there, or have to be.
  static let hasPython = variable("AFM_PYTHON") != nil || variable("CI") == "true"
  static let noPython: Comment = "AFM_PYTHON names no Python"

  /// The rows that Python reads from the text of a format.
  static func rows(_ kind: String, _ text: String) throws -> [[String: Value]] {
    let python = try #require(variable("AFM_PYTHON"), "AFM_PYTHON is not set")
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("report-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(text.utf8).write(to: file)
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: python)
    process.arguments = [
      root.appendingPathComponent("tools/oracles/report_reader.py").path, kind, file.path,
    ]
    process.standardOutput = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
    return try JSONDecoder().decode([[String: Value]].self, from: output)
  }

  /// A golden file's text. With `AFM_UPDATE_GOLDEN=1` the file is written first.
  static func golden(_ name: String, producing text: String) throws -> String {
    let file = root.appendingPathComponent("Tests/Fixtures/golden/\(name)")
    if variable("AFM_UPDATE_GOLDEN") == "1" { try Data(text.utf8).write(to: file) }
    return String(decoding: try Data(contentsOf: file), as: UTF8.self)
  }

  /// A value of JSON.
  enum Value: Decodable, Hashable {
    case null
    case number(Double)
    case text(String)
    case other

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if container.decodeNil() {
        self = .null
      } else if let number = try? container.decode(Double.self) {
        self = .number(number)
      } else if let text = try? container.decode(String.self) {
        self = .text(text)
      } else {
        self = .other
      }
    }
  }
}
