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

  package var kind: Kind
  /// 1 for the first line of the template.
  package var line: Int
  package var reason: String

  package init(_ kind: Kind, line: Int, _ reason: String) {
    self.kind = kind
    self.line = line
    self.reason = reason
  }

  package var description: String { "chat template: line \(line): \(reason)" }
}
