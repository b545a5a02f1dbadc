// Values as text: as Python prints them, as it prints them inside lists, and as JSON.

/// Collects text up to a limit, so that no value can print more than a template may.
struct BoundedText {
  private(set) var text = ""
  private(set) var isFull = false
  let maximumBytes: Int

  init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

  mutating func append(_ addition: String) {
    guard !isFull, addition.utf8.count <= maximumBytes - text.utf8.count else {
      isFull = true
      return
    }
    text += addition
  }
}

extension TemplateValue {
  /// What `{{ value }}` prints.
  func print(into output: inout BoundedText) {
    switch self {
    case .undefined: break
    case .string(let value): output.append(value)
    default: printInside(&output)
    }
  }

  /// What a list prints for an element: strings in quotes.
  func printInside(_ output: inout BoundedText) {
    guard !output.isFull else { return }
    switch self {
    case .undefined: output.append("Undefined")
    case .none: output.append("None")
    case .boolean(let value): output.append(value ? "True" : "False")
    case .integer(let value): output.append(String(value))
    case .real(let value): output.append("\(value)")
    case .string(let value): output.append(Self.quoted(value))
    case .list(let list):
      output.append(list.isTuple ? "(" : "[")
      for (index, element) in list.elements.enumerated() {
        if index > 0 { output.append(", ") }
        element.printInside(&output)
      }
      let closing = list.isTuple ? (list.elements.count == 1 ? ",)" : ")") : "]"
      output.append(closing)
    case .mapping(let mapping):
      output.append("{")
      for (index, entry) in mapping.entries.enumerated() {
        if index > 0 { output.append(", ") }
        output.append(Self.quoted(entry.key) + ": ")
        entry.value.printInside(&output)
      }
      output.append("}")
    case .namespace, .loop, .macro, .function: output.append("<\(typeName)>")
    }
  }

  private static func quoted(_ text: String) -> String {
    let scalars = text.unicodeScalars
    let quote: Unicode.Scalar = scalars.contains("'") && !scalars.contains("\"") ? "\"" : "'"
    var result = String.UnicodeScalarView([quote])
    for scalar in scalars {
      switch scalar {
      case "\\", quote: result.append(contentsOf: ["\\", scalar])
      case "\n": result.append(contentsOf: "\\n".unicodeScalars)
      case "\r": result.append(contentsOf: "\\r".unicodeScalars)
      case "\t": result.append(contentsOf: "\\t".unicodeScalars)
      case _ where scalar.value < 0x20 || (0x7F...0xA0).contains(scalar.value):
        result.append(contentsOf: ("\\x" + hex(scalar.value, digits: 2)).unicodeScalars)
      default: result.append(scalar)
      }
    }
    result.append(quote)
    return String(result)
  }

  private static func hex(_ value: UInt32, digits: Int) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }

  /// How JSON is laid out: `json.dumps` with `ensure_ascii=False`.
  struct JSONLayout {
    /// Spaces a level; nil for one line.
    var indent: Int?
    var sortsKeys = false
    var itemSeparator: String
    var keySeparator = ": "

    init(indent: Int? = nil) {
      self.indent = indent
      itemSeparator = indent == nil ? ", " : ","
    }
  }

  /// Prints JSON; returns what kind of value JSON cannot express, if there is one.
  func printJSON(_ layout: JSONLayout, level: Int = 0, into output: inout BoundedText) -> String? {
    guard !output.isFull else { return nil }
    switch self {
    case .undefined, .namespace, .loop, .macro, .function: return typeName
    case .none: output.append("null")
    case .boolean(let value): output.append(value ? "true" : "false")
    case .integer(let value): output.append(String(value))
    case .real(let value):
      output.append(value.isNaN ? "NaN" : value.isInfinite ? "Infinity" : "\(value)")
    case .string(let value): output.append(Self.jsonString(value))
    case .list(let list):
      return Self.printJSONItems(list.elements, "[", "]", layout, level, &output) {
        $0.printJSON(layout, level: level + 1, into: &$1)
      }
    case .mapping(let mapping):
      var entries = mapping.entries
      if layout.sortsKeys {
        entries.sort { $0.key.unicodeScalars.lexicographicallyPrecedes($1.key.unicodeScalars) }
      }
      return Self.printJSONItems(entries, "{", "}", layout, level, &output) {
        $1.append(Self.jsonString($0.key) + layout.keySeparator)
        return $0.value.printJSON(layout, level: level + 1, into: &$1)
      }
    }
    return nil
  }

  private static func printJSONItems<Item>(
    _ items: [Item], _ opening: String, _ closing: String, _ layout: JSONLayout, _ level: Int,
    _ output: inout BoundedText, _ printItem: (Item, inout BoundedText) -> String?
  ) -> String? {
    func lineBreak(_ level: Int) -> String {
      layout.indent.map { "\n" + String(repeating: " ", count: $0 * level) } ?? ""
    }
    output.append(opening)
    for (index, item) in items.enumerated() {
      if index > 0 { output.append(layout.itemSeparator) }
      output.append(lineBreak(level + 1))
      if let problem = printItem(item, &output) { return problem }
    }
    if !items.isEmpty { output.append(lineBreak(level)) }
    output.append(closing)
    return nil
  }

  private static func jsonString(_ text: String) -> String {
    var result = String.UnicodeScalarView(["\""])
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": result.append(contentsOf: ["\\", scalar])
      case "\n": result.append(contentsOf: "\\n".unicodeScalars)
      case "\r": result.append(contentsOf: "\\r".unicodeScalars)
      case "\t": result.append(contentsOf: "\\t".unicodeScalars)
      case "\u{8}": result.append(contentsOf: "\\b".unicodeScalars)
      case "\u{C}": result.append(contentsOf: "\\f".unicodeScalars)
      case _ where scalar.value < 0x20:
        result.append(contentsOf: ("\\u" + hex(scalar.value, digits: 4)).unicodeScalars)
      default: result.append(scalar)
      }
    }
    result.append("\"")
    return String(result)
  }
}
