import Files
import Foundation
import TensorCore

/// Reports go to standard output, everything else to standard error.
enum Console {
  /// Whether somebody watches.
  static let isTerminal = isatty(STDERR_FILENO) == 1

  /// A report, with a line end. Throws where standard output cannot take it (a full disk, a closed
  /// pipe), so that a lost report is never a success.
  static func report(_ text: String) throws {
    try reportPart(text.utf8.last == UInt8(ascii: "\n") ? text : text + "\n")
  }

  /// A part of a report, written at once; nothing where it is empty.
  static func reportPart(_ text: String) throws {
    guard !text.isEmpty else { return }
    Heartbeat.hide()
    // Names that come from files stand in reports too.
    let bytes = Array(MessageText.report(text).utf8)
    do { try ByteStream.write(bytes, to: STDOUT_FILENO, name: "standard output") } catch {
      throw CommandFailure(.environment, "standard output: cannot write the report")
    }
  }

  /// One line on standard error, in place of a progress line. The text has been made fit for a
  /// terminal (`MessageText`).
  static func error(_ text: String) {
    Heartbeat.hide()
    put(text + "\n")
  }

  /// Writes to standard error, where nobody could be told of a failure.
  static func put(_ text: String) {
    try? ByteStream.write(Array(text.utf8), to: STDERR_FILENO, name: "standard error")
  }

  /// What is being done: a line that replaces itself on a terminal, a line every ten seconds
  /// elsewhere. An empty text says that it is done.
  static func progress(_ text: String, secondsLeft: Double? = nil) {
    Heartbeat.update(text, secondsLeft: secondsLeft)
  }

  /// The columns that a report may take: the terminal's, or those of a usual one where standard
  /// output is none.
  static var reportWidth: Int { TerminalSize.columns(of: STDOUT_FILENO) ?? 112 }

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
