/// Why a chat template cannot be read or rendered, and on which line of it.
package struct ChatTemplateError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Kind: String, Hashable, Sendable {
    /// The source is not a template.
    case syntax = "syntax"
    /// A part of Jinja that this interpreter does not have.
    case unsupported = "unsupported"
    /// A name, attribute or element that does not exist was used.
    case undefined = "undefined"
    /// An operation on a value that does not have it.
    case type = "type"
    /// The template called `raise_exception`.
    case raised = "raised"
    /// Rendering would take more steps, bytes or nesting than allowed.
    case limit = "limit"
  }

  /// A longer reason is cut: names and messages in it are the template's own.
  package static let maximumReasonScalars = 240

  package var kind: Kind
  /// 1 for the first line of the template.
  package var line: Int
  /// One line without control characters, at most `maximumReasonScalars` long and an ellipsis.
  package private(set) var reason: String

  package init(_ kind: Kind, line: Int, _ reason: String) {
    self.kind = kind
    self.line = line
    self.reason = Self.printable(reason)
  }

  package var description: String { "line \(line): \(reason)" }

  /// The beginning of a text, with escapes for what would move a terminal's cursor or hide text.
  private static func printable(_ text: String) -> String {
    var result = ""
    var count = 0
    for scalar in text.unicodeScalars {
      let shown =
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
          scalar.escaped(asASCII: true)
        default: String(scalar)
        }
      count += shown.unicodeScalars.count
      guard count <= maximumReasonScalars else { return result + "…" }
      result += shown
    }
    return result
  }
}
