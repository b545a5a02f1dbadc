// The methods of strings and mappings that templates may call.

/// Python's text operations over Unicode scalars.
enum TemplateText {
  /// What `str.strip` removes and `str.split` cuts at.
  static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    (0x1C...0x1F).contains(scalar.value)
      || ScalarClassTable.shared.kind(of: scalar.value).isWhitespace
  }

  static func stripped(
    _ text: String, _ set: Set<Unicode.Scalar>? = nil, left: Bool = true, right: Bool = true
  ) -> String {
    func isStripped(_ scalar: Unicode.Scalar) -> Bool { set?.contains(scalar) ?? isSpace(scalar) }
    var rest = text.unicodeScalars[...]
    if left { rest = rest.drop(while: isStripped) }
    while right, let last = rest.last, isStripped(last) { rest.removeLast() }
    return String(String.UnicodeScalarView(rest))
  }

  /// The words of a text, at most so many cuts; what is left then is one piece.
  static func words(of text: String, maximumCuts: Int) -> [String] {
    var words: [String] = []
    var rest = text.unicodeScalars.drop(while: isSpace)
    while !rest.isEmpty {
      let isLast = words.count >= maximumCuts
      let word = isLast ? rest : rest.prefix { !isSpace($0) }
      words.append(String(String.UnicodeScalarView(word)))
      rest = rest[word.endIndex...].drop(while: isSpace)
    }
    return words
  }

  /// The first scalar as a title has it, the rest in lower case.
  static func capitalized(_ text: String) -> String {
    guard let first = text.unicodeScalars.first else { return "" }
    let rest = String(String.UnicodeScalarView(text.unicodeScalars.dropFirst()))
    return first.properties.titlecaseMapping + rest.lowercased()
  }

  /// Each word capitalized; words begin after white space, hyphens and opening brackets.
  static func titled(_ text: String) -> String {
    var result = ""
    var word = String.UnicodeScalarView()
    func finish(_ word: String.UnicodeScalarView) -> String {
      guard let first = word.first else { return "" }
      return String(first).uppercased()
        + String(String.UnicodeScalarView(word.dropFirst())).lowercased()
    }
    for scalar in text.unicodeScalars {
      if isSpace(scalar) || "-({[<".unicodeScalars.contains(scalar) {
        result += finish(word) + String(scalar)
        word = String.UnicodeScalarView()
      } else {
        word.append(scalar)
      }
    }
    return result + finish(word)
  }
}

extension TemplateEvaluator {
  /// Calls a method; nil where the value has none of that name.
  mutating func call(
    method name: String, of value: TemplateValue, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue? {
    switch value {
    case .string(let source):
      try charge(1 + source.utf8.count / 32, line: arguments.line)
      return try call(textMethod: name, of: source, arguments)
    case .mapping(let mapping): return try call(mappingMethod: name, of: mapping, arguments)
    case .loop(let index) where name == "cycle" && loops.indices.contains(index):
      guard !arguments.positional.isEmpty else {
        throw ChatTemplateError(.type, line: arguments.line, "cycle lacks an argument")
      }
      return arguments.positional[loops[index].index % arguments.positional.count]
    default: return nil
    }
  }

  private mutating func call(
    mappingMethod name: String, of mapping: TemplateMapping, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue? {
    let line = arguments.line
    switch name {
    case "get":
      let values = try arguments.bound(to: ["key", "default"], of: name)
      try charge(mapping.entries.count / 8, line: line)
      guard case .string(let key)? = values[0] else { return values[1] ?? TemplateValue.none }
      return mapping[key: key] ?? values[1] ?? TemplateValue.none
    case "items":
      return try apply(filter: "items", to: .mapping(mapping), arguments)
    case "keys":
      return try list(mapping.entries.map { .string($0.key) }, line: line)
    case "values":
      return try list(mapping.entries.map(\.value), line: line)
    default: return nil
    }
  }

  private mutating func call(
    textMethod name: String, of source: String, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue? {
    let line = arguments.line
    switch name {
    case "upper", "lower", "capitalize":
      _ = try arguments.bound(to: [], of: name)
      let result =
        name == "capitalize"
        ? TemplateText.capitalized(source)
        : name == "upper" ? source.uppercased() : source.lowercased()
      return try text(result, line: line)
    case "strip", "lstrip", "rstrip":
      let values = try arguments.bound(to: ["chars"], of: name)
      let set = try strings(values[0], of: name, line: line).first.map { Set($0.unicodeScalars) }
      return try text(
        TemplateText.stripped(source, set, left: name != "rstrip", right: name != "lstrip"),
        line: line)
    case "split", "splitlines":
      return try split(source, name, arguments)
    case "startswith", "endswith":
      let values = try arguments.bound(to: ["prefix"], of: name)
      let parts = try strings(values[0], of: name, line: line)
      return .boolean(
        parts.contains {
          name == "startswith"
            ? source.utf8.starts(with: $0.utf8)
            : source.utf8.reversed().starts(with: $0.utf8.reversed())
        })
    case "removeprefix", "removesuffix":
      let values = try arguments.bound(to: ["part"], of: name)
      let part = try strings(values[0], of: name, line: line).first ?? ""
      let bytes = Array(source.utf8)
      if name == "removeprefix", bytes.starts(with: part.utf8) {
        return try text(
          String(decoding: bytes.dropFirst(part.utf8.count), as: UTF8.self), line: line)
      }
      if name == "removesuffix", bytes.reversed().starts(with: part.utf8.reversed()) {
        return try text(
          String(decoding: bytes.dropLast(part.utf8.count), as: UTF8.self), line: line)
      }
      return .string(source)
    case "replace": return try replaced(source, arguments)
    case "find", "count":
      let values = try arguments.bound(to: ["part"], of: name)
      let part = try strings(values[0], of: name, line: line).first ?? ""
      if name == "count", !part.isEmpty {
        return .integer(TextSearch(part).pieces(of: source).count - 1)
      }
      let bytes = Array(source.utf8)
      guard let match = TextSearch(part).firstMatch(in: bytes, from: 0) else { return .integer(-1) }
      return .integer(String(decoding: bytes[..<match], as: UTF8.self).unicodeScalars.count)
    case "join":
      let elements = try arguments.bound(to: ["iterable"], of: name)[0]
      let separator = TemplateCallArguments(positional: [.string(source)], line: line)
      return try apply(
        filter: "join", to: elements ?? .undefined("nothing to join"), separator)
    default: return nil
    }
  }

  /// An argument that is a string, or a tuple of strings; nothing where it is missing or none.
  private func strings(
    _ value: TemplateValue?, of name: String, line: Int
  ) throws(ChatTemplateError) -> [String] {
    switch value {
    case nil, .some(.none): return []
    case .string(let text)?: return [text]
    case .list(let list)?:
      var texts: [String] = []
      for element in list.elements { texts += try strings(element, of: name, line: line) }
      return texts
    case let other?:
      throw ChatTemplateError(.type, line: line, "\(name) takes a string, not \(other.typeName)")
    }
  }

  private mutating func split(
    _ source: String, _ name: String, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    let line = arguments.line
    if name == "splitlines" {
      var lines = TextSearch("\n").pieces(of: source)
      if lines.last == "" { lines.removeLast() }
      return try list(lines.map { .string($0) }, line: line)
    }
    let values = try arguments.bound(to: ["sep", "maxsplit"], of: name)
    let limit = values[1]?.integerValue ?? -1
    let cuts = limit < 0 ? Int.max : limit
    guard let separator = try strings(values[0], of: name, line: line).first else {
      let words = TemplateText.words(of: source, maximumCuts: cuts)
      return try list(words.map { .string($0) }, line: line)
    }
    guard !separator.isEmpty else {
      throw ChatTemplateError(.type, line: line, "split at an empty separator")
    }
    let pieces = TextSearch(separator).pieces(of: source, maximumCuts: cuts)
    return try list(pieces.map { .string($0) }, line: line)
  }

  private mutating func replaced(
    _ source: String, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    let line = arguments.line
    let values = try arguments.bound(to: ["old", "new", "count"], of: "replace")
    let old = try strings(values[0], of: "replace", line: line).first ?? ""
    let new = try strings(values[1], of: "replace", line: line).first ?? ""
    guard !old.isEmpty else {
      throw ChatTemplateError(.unsupported, line: line, "replace of an empty text")
    }
    let limit = values[2]?.integerValue ?? -1
    let pieces = TextSearch(old).pieces(of: source, maximumCuts: limit < 0 ? .max : limit)
    let separators = new.utf8.count.multipliedReportingOverflow(by: pieces.count)
    guard !separators.overflow, separators.partialValue <= limits.maximumOutputBytes else {
      throw ChatTemplateError(.limit, line: line, "a replaced text is too long")
    }
    return try text(pieces.joined(separator: new), line: line)
  }
}
