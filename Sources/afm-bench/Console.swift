import Foundation

/// Reports go to standard output, everything else to standard error.
enum Console {
  /// Whether somebody watches: progress is shown then, and only then.
  static let isTerminal = isatty(STDERR_FILENO) == 1

  /// A report, with a line end. Throws where standard output cannot take it (a full disk, a closed
  /// pipe), so that a lost report is never a success.
  static func report(_ text: String) throws {
    var bytes = Data(text.utf8)
    if bytes.last != UInt8(ascii: "\n") { bytes.append(UInt8(ascii: "\n")) }
    do { try FileHandle.standardOutput.write(contentsOf: bytes) } catch {
      throw CommandFailure(.environment, "standard output: cannot write the report")
    }
  }

  /// One line on standard error, in place of a progress line.
  static func error(_ text: String) {
    progress("")
    try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8))
  }

  /// A line that replaces itself, shown on a terminal only.
  static func progress(_ text: String) {
    guard isTerminal else { return }
    try? FileHandle.standardError.write(contentsOf: Data("\r\u{1B}[2K\(text)".utf8))
  }

  /// One object as JSON, keys in a stable order.
  static func json<Value: Encodable>(_ value: Value, pretty: Bool = false) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting =
      pretty
      ? [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
      : [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }
}
