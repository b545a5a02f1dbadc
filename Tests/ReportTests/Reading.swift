import Foundation
import TestSupport

/// Fixtures and Python as the tests of this target reach them.
enum Reading {
  /// The rows that Python reads from the text of a format.
  static func rows(_ kind: String, _ text: String) throws -> [[String: Value]] {
    let folder = try TemporaryFolder()
    try Data(text.utf8).write(to: folder.url("report"))
    let output = try Oracle.script("report_reader.py", kind, folder.file("report"))
    return try JSONDecoder().decode([[String: Value]].self, from: output)
  }

  /// A golden file's text. With `AFM_UPDATE_GOLDEN=1` the file is written first.
  static func golden(_ name: String, producing text: String) throws -> String {
    let file = Repository.fixture("golden/\(name)")
    if ProcessInfo.processInfo.environment["AFM_UPDATE_GOLDEN"] == "1" {
      try Data(text.utf8).write(to: file)
    }
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
