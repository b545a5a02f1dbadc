/// A JSON value whose objects keep the order of their members, so that columns stay where they are.
package enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case unsigned(UInt64)
  case real(Double)
  case string(String)
  case array([JSONValue])
  case object([Member])

  /// One name and its value.
  package struct Member: Hashable, Sendable {
    package var name: String
    package var value: JSONValue

    package init(name: String, value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  /// The value as one line of JSON (RFC 8259), ASCII control characters escaped. Reals are written
  /// with the fewest digits that read back equal; those that are no numbers, as null.
  package var text: String {
    var text = ""
    append(to: &text)
    return text
  }

  /// The value with a line for each member of an object, indented by two spaces a level; arrays
  /// that hold no object stay on one line.
  package var indentedText: String {
    var text = ""
    appendIndented(to: &text, level: 0)
    return text
  }

  private func append(to text: inout String) {
    switch self {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .integer(let value): text += String(value)
    case .unsigned(let value): text += String(value)
    case .real(let value): text += value.isFinite ? Self.shortest(value) : "null"
    case .string(let value): Self.appendQuoted(value, to: &text)
    case .array(let values):
      text += "["
      for (index, value) in values.enumerated() {
        if index > 0 { text += "," }
        value.append(to: &text)
      }
      text += "]"
    case .object(let members):
      text += "{"
      for (index, member) in members.enumerated() {
        if index > 0 { text += "," }
        Self.appendQuoted(member.name, to: &text)
        text += ":"
        member.value.append(to: &text)
      }
      text += "}"
    }
  }

  private var holdsObjects: Bool {
    switch self {
    case .object(let members): !members.isEmpty
    case .array(let values): values.contains(where: \.holdsObjects)
    default: false
    }
  }

  private func appendIndented(to text: inout String, level: Int) {
    let inner = String(repeating: "  ", count: level + 1)
    let outer = String(repeating: "  ", count: level)
    switch self {
    case .array(let values) where holdsObjects:
      text += "["
      for (index, value) in values.enumerated() {
        text += (index > 0 ? ",\n" : "\n") + inner
        value.appendIndented(to: &text, level: level + 1)
      }
      text += "\n\(outer)]"
    case .object(let members) where holdsObjects:
      text += "{"
      for (index, member) in members.enumerated() {
        text += (index > 0 ? ",\n" : "\n") + inner
        Self.appendQuoted(member.name, to: &text)
        text += ": "
        member.value.appendIndented(to: &text, level: level + 1)
      }
      text += "\n\(outer)}"
    default: append(to: &text)
    }
  }

  /// The shortest decimal that reads back equal; whole numbers without `.0`.
  private static func shortest(_ value: Double) -> String {
    let text = "\(value)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  private static func appendQuoted(_ string: String, to text: inout String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case "\u{0}"..."\u{1F}", "\u{7F}":
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}
