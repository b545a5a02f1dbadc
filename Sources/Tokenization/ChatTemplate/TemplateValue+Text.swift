// Values as text: as Python prints them, as it prints them inside lists, and as JSON.

extension TemplateEvaluator {
  /// What a value prints.
  mutating func printed(_ value: TemplateValue) throws(ChatTemplateError) -> TemplateString {
    if case .string(let text) = value { return text }
    var builder = TemplateTextBuilder()
    try value.print(into: &builder, &budget)
    return try builder.finished(&budget)
  }
}

extension TemplateValue {
  /// What `{{ value }}` prints.
  func print(
    into output: inout TemplateTextBuilder, _ budget: inout TemplateBudget
  ) throws(ChatTemplateError) {
    switch self {
    case .undefined: break
    case .string(let value): try output.append(value, &budget)
    default: try printInside(&output, &budget)
    }
  }

  /// What a list prints for an element: strings in quotes. Each value visited is paid for.
  private func printInside(
    _ output: inout TemplateTextBuilder, _ budget: inout TemplateBudget
  ) throws(ChatTemplateError) {
    try budget.spend(1)
    switch self {
    case .undefined: try output.append(short: "Undefined", &budget)
    case .none: try output.append(short: "None", &budget)
    case .boolean(let value): try output.append(short: value ? "True" : "False", &budget)
    case .integer(let value): try output.append(short: String(value), &budget)
    case .real(let value): try output.append(short: "\(value)", &budget)
    case .string(let value): try output.append(quoted: value, &budget)
    case .list(let list):
      try output.append(short: list.isTuple ? "(" : "[", &budget)
      for (index, element) in try list.elements(&budget).enumerated() {
        if index > 0 { try output.append(short: ", ", &budget) }
        try element.printInside(&output, &budget)
      }
      try output.append(short: list.isTuple ? (list.count == 1 ? ",)" : ")") : "]", &budget)
    case .mapping(let mapping):
      try output.append(short: "{", &budget)
      for (index, entry) in try mapping.entries(&budget).enumerated() {
        if index > 0 { try output.append(short: ", ", &budget) }
        try output.append(quoted: entry.key.text, &budget)
        try output.append(short: ": ", &budget)
        try entry.value.printInside(&output, &budget)
      }
      try output.append(short: "}", &budget)
    case .namespace, .loop, .macro, .function:
      try output.append(short: "<\(type.rawValue)>", &budget)
    }
  }

  /// How JSON is laid out: `json.dumps` with `ensure_ascii=False`.
  struct JSONLayout {
    /// Spaces per level; nil for one line.
    var indent: Int?
    var sortsKeys = false
    var itemSeparator: TemplateString
    var keySeparator = TemplateString(given: ": ")

    init(indent: Int? = nil) {
      self.indent = indent
      itemSeparator = TemplateString(given: indent == nil ? ", " : ",")
    }
  }

  /// Prints JSON. Each value visited is paid for.
  func printJSON(
    _ layout: JSONLayout, level: Int = 0, into output: inout TemplateTextBuilder,
    _ budget: inout TemplateBudget
  ) throws(ChatTemplateError) {
    try budget.spend(1)
    func breakLine(
      _ level: Int, _ output: inout TemplateTextBuilder, _ budget: inout TemplateBudget
    ) throws(ChatTemplateError) {
      guard let indent = layout.indent else { return }
      try output.append(UInt8(ascii: "\n"), count: 1, &budget)
      try output.append(UInt8(ascii: " "), count: indent * level, &budget)
    }
    switch self {
    case .undefined, .namespace, .loop, .macro, .function:
      throw budget.failure(.type, "\(type.rawValue) cannot be JSON")
    case .none: try output.append(short: "null", &budget)
    case .boolean(let value): try output.append(short: value ? "true" : "false", &budget)
    case .integer(let value): try output.append(short: String(value), &budget)
    case .real(let value):
      let text = value.isNaN ? "NaN" : value.isInfinite ? "Infinity" : "\(value)"
      try output.append(short: text, &budget)
    case .string(let value): try output.append(json: value, &budget)
    case .list(let list):
      try output.append(short: "[", &budget)
      for (index, element) in try list.elements(&budget).enumerated() {
        if index > 0 { try output.append(layout.itemSeparator, &budget) }
        try breakLine(level + 1, &output, &budget)
        try element.printJSON(layout, level: level + 1, into: &output, &budget)
      }
      if !list.isEmpty { try breakLine(level, &output, &budget) }
      try output.append(short: "]", &budget)
    case .mapping(let mapping):
      var entries = try mapping.entries(&budget)
      if layout.sortsKeys {
        entries = try TemplateSort.sorted(entries, &budget) { a, b, budget throws(ChatTemplateError) in
          try a.key.text.precedes(b.key.text, &budget)
        }
      }
      try output.append(short: "{", &budget)
      for (index, entry) in entries.enumerated() {
        if index > 0 { try output.append(layout.itemSeparator, &budget) }
        try breakLine(level + 1, &output, &budget)
        try output.append(json: entry.key.text, &budget)
        try output.append(layout.keySeparator, &budget)
        try entry.value.printJSON(layout, level: level + 1, into: &output, &budget)
      }
      if !mapping.isEmpty { try breakLine(level, &output, &budget) }
      try output.append(short: "}", &budget)
    }
  }
}

extension TemplateTextBuilder {
  /// Appends a text as Python prints it inside a list.
  fileprivate mutating func append(
    quoted text: TemplateString, _ budget: inout TemplateBudget
  ) throws(ChatTemplateError) {
    let bytes = try text.bytes(&budget)
    try budget.spend(searching: 2 * bytes.count)
    let (single, double) = (UInt8(ascii: "'"), UInt8(ascii: "\""))
    let quote = bytes.contains(single) && !bytes.contains(double) ? double : single
    try append(quote, count: 1, &budget)
    var start = 0
    for (index, byte) in bytes.enumerated() {
      var escape: String?
      var width = 1
      switch byte {
      case UInt8(ascii: "\\"): escape = "\\\\"
      case quote: escape = quote == single ? "\\'" : "\\\""
      case 0x0A: escape = "\\n"
      case 0x0D: escape = "\\r"
      case 0x09: escape = "\\t"
      case 0..<0x20, 0x7F: escape = "\\x" + Self.hex(byte, digits: 2)
      // U+0080 to U+00A0.
      case 0xC2 where (0x80...0xA0).contains(bytes[index + 1]):
        escape = "\\x" + Self.hex(bytes[index + 1], digits: 2)
        width = 2
      default: break
      }
      guard let escape else { continue }
      try append(utf8: bytes[start..<index], &budget)
      try append(short: escape, &budget)
      start = index + width
    }
    try append(utf8: bytes[start...], &budget)
    try append(quote, count: 1, &budget)
  }

  /// Appends a text as JSON.
  fileprivate mutating func append(
    json text: TemplateString, _ budget: inout TemplateBudget
  ) throws(ChatTemplateError) {
    let bytes = try text.bytes(&budget)
    try budget.spend(searching: bytes.count)
    try append(short: "\"", &budget)
    var start = 0
    for (index, byte) in bytes.enumerated() {
      let escape: String
      switch byte {
      case UInt8(ascii: "\""): escape = "\\\""
      case UInt8(ascii: "\\"): escape = "\\\\"
      case 0x0A: escape = "\\n"
      case 0x0D: escape = "\\r"
      case 0x09: escape = "\\t"
      case 0x08: escape = "\\b"
      case 0x0C: escape = "\\f"
      case 0..<0x20: escape = "\\u" + Self.hex(byte, digits: 4)
      default: continue
      }
      try append(utf8: bytes[start..<index], &budget)
      try append(short: escape, &budget)
      start = index + 1
    }
    try append(utf8: bytes[start...], &budget)
    try append(short: "\"", &budget)
  }

  private static func hex(_ value: UInt8, digits: Int) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
  }
}
