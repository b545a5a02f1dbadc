/// The methods of strings, mappings and loops that templates may call.
package enum TemplateMethod: String, Sendable, CaseIterable {
  case capitalize, count, cycle, endswith, find, `get`, items, join, keys, lower, lstrip
  case removeprefix, removesuffix, replace, rstrip, split, splitlines, startswith, strip, upper
  case values
}

extension TemplateEvaluator {
  /// Calls a method; nil where the value has none of that name.
  mutating func call(
    _ method: TemplateMethod, of value: TemplateValue, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue? {
    try budget.spend(1)
    switch value {
    case .string(let source): return try call(method, of: source, arguments)
    case .mapping(let mapping): return try call(method, of: mapping, arguments)
    case .loop(let index) where method == .cycle && loops.indices.contains(index):
      guard !arguments.positional.isEmpty else {
        throw failure(.type, "cycle lacks an argument")
      }
      return arguments.positional[loops[index].index % arguments.positional.count]
    default: return nil
    }
  }

  private mutating func call(
    _ method: TemplateMethod, of mapping: TemplateMapping, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue? {
    switch method {
    case .get:
      let values = try arguments.bound(to: ["key", "default"], of: "get")
      guard case .string(let text)? = values[0] else { return values[1] ?? TemplateValue.none }
      let key = try TemplateKey(text, &budget)
      return try mapping.value(for: key, &budget) ?? values[1] ?? TemplateValue.none
    case .items: return try apply(.items, to: .mapping(mapping), arguments)
    case .keys, .values:
      var parts = try TemplateListBuilder(reserving: mapping.count, &budget)
      for entry in try mapping.entries(&budget) {
        try parts.append(method == .keys ? .string(entry.key.text) : entry.value, &budget)
      }
      return .list(TemplateList(parts, isTuple: false))
    default: return nil
    }
  }

  mutating func call(
    _ method: TemplateMethod, of source: TemplateString, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue? {
    let name = method.rawValue
    switch method {
    case .upper, .lower:
      _ = try arguments.bound(to: [], of: name)
      return .string(try source.changed(toUpper: method == .upper, &budget))
    case .capitalize:
      _ = try arguments.bound(to: [], of: name)
      return .string(try capitalized(source))
    case .strip, .lstrip, .rstrip:
      let values = try arguments.bound(to: ["chars"], of: name)
      return .string(
        try stripped(
          source, try text(values[0], of: name), left: method != .rstrip,
          right: method != .lstrip))
    case .split, .splitlines: return try split(source, method, arguments)
    case .startswith, .endswith:
      let values = try arguments.bound(to: ["prefix"], of: name)
      return .boolean(
        try begins(source, with: values[0] ?? .none, atEnd: method == .endswith, of: name))
    case .removeprefix, .removesuffix:
      let values = try arguments.bound(to: ["part"], of: name)
      let part = try text(values[0], of: name) ?? TemplateString(given: "")
      let isSuffix = method == .removesuffix
      guard try begins(source, with: .string(part), atEnd: isSuffix, of: name) else {
        return .string(source)
      }
      let bytes = try source.bytes(&budget)
      let rest =
        isSuffix ? bytes.dropLast(part.byteCount) : bytes.dropFirst(part.byteCount)
      return .string(try TemplateString(utf8: rest, &budget))
    case .replace: return try replaced(source, arguments)
    case .find, .count:
      let values = try arguments.bound(to: ["part"], of: name)
      let part = try text(values[0], of: name) ?? TemplateString(given: "")
      return .integer(
        method == .find ? try place(of: part, in: source) : try count(of: part, in: source))
    case .join:
      let elements = try arguments.bound(to: ["iterable"], of: name)[0]
      let separator = TemplateCallArguments(positional: [.string(source)], line: budget.line)
      return try apply(.join, to: elements ?? .undefined(.argument), separator)
    default: return nil
    }
  }

  /// An argument that is a string; nil where it is missing or none.
  private func text(
    _ value: TemplateValue?, of name: String
  ) throws(ChatTemplateError) -> TemplateString? {
    switch value {
    case nil, .some(.none): return nil
    case .string(let text)?: return text
    case let other?:
      throw failure(.type, "\(name) takes a string, not \(other.type.rawValue)")
    }
  }

  /// Whether a text begins or ends with another, or with one of a tuple.
  private mutating func begins(
    _ source: TemplateString, with value: TemplateValue, atEnd: Bool, of name: String
  ) throws(ChatTemplateError) -> Bool {
    if case .list(let parts) = value, parts.isTuple {
      for part in try parts.elements(&budget) {
        guard case .string = part else {
          throw failure(.type, "\(name) takes strings, not \(part.type.rawValue)")
        }
        if try begins(source, with: part, atEnd: atEnd, of: name) { return true }
      }
      return false
    }
    guard case .string(let part) = value else {
      throw failure(.type, "\(name) takes a string, not \(value.type.rawValue)")
    }
    guard part.byteCount <= source.byteCount else { return false }
    let utf8 = try part.read(&budget).utf8
    // Only as much of the source is looked at as the part is long; its own read is paid for, too.
    try budget.spend(searching: part.byteCount)
    let other = try source.read(&budget).utf8
    return atEnd ? other.suffix(utf8.count).elementsEqual(utf8) : other.starts(with: utf8)
  }

  private mutating func place(
    of part: TemplateString, in source: TemplateString
  ) throws(ChatTemplateError) -> Int {
    guard let match = try firstMatch(of: part, in: source) else { return -1 }
    let before = try TemplateString(utf8: try source.bytes(&budget)[..<match], &budget)
    return try before.scalarCount(&budget)
  }

  private mutating func count(
    of part: TemplateString, in source: TemplateString
  ) throws(ChatTemplateError) -> Int {
    guard !part.isEmpty else { return try source.scalarCount(&budget) + 1 }
    var pieces = try TextPieces(of: source, between: part, &budget)
    var count = -1
    while try pieces.next(&budget) != nil { count += 1 }
    return count
  }

  private mutating func split(
    _ source: TemplateString, _ method: TemplateMethod, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    if method == .splitlines {
      _ = try arguments.bound(to: [], of: method.rawValue)
      return try split(source, at: TemplateString(given: "\n"), maximumCuts: .max, dropsLast: true)
    }
    let values = try arguments.bound(to: ["sep", "maxsplit"], of: method.rawValue)
    let limit = values[1]?.integerValue ?? -1
    let cuts = limit < 0 ? Int.max : limit
    guard let separator = try text(values[0], of: method.rawValue) else {
      return try words(of: source, maximumCuts: cuts)
    }
    guard !separator.isEmpty else { throw failure(.type, "split at an empty separator") }
    return try split(source, at: separator, maximumCuts: cuts, dropsLast: false)
  }

  private mutating func split(
    _ source: TemplateString, at separator: TemplateString, maximumCuts: Int, dropsLast: Bool
  ) throws(ChatTemplateError) -> TemplateValue {
    var list = TemplateListBuilder()
    var pieces = try TextPieces(
      of: source, between: separator, maximumCuts: maximumCuts, &budget)
    while let piece = try pieces.next(&budget) {
      // What follows the last line break is a line only where there is something.
      if dropsLast, piece.isEmpty, pieces.isAtEnd { break }
      try list.append(.string(try TemplateString(utf8: piece, &budget)), &budget)
    }
    return .list(TemplateList(list, isTuple: false))
  }

  private mutating func replaced(
    _ source: TemplateString, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    let values = try arguments.bound(to: ["old", "new", "count"], of: "replace")
    guard let old = try text(values[0], of: "replace"), !old.isEmpty else {
      throw failure(.unsupported, "replace of an empty text")
    }
    let new = try text(values[1], of: "replace") ?? TemplateString(given: "")
    let limit = values[2]?.integerValue ?? -1
    var pieces = try TextPieces(
      of: source, between: old, maximumCuts: limit < 0 ? .max : limit, &budget)
    var result = TemplateTextBuilder()
    var isFirst = true
    while let piece = try pieces.next(&budget) {
      if !isFirst { try result.append(new, &budget) }
      isFirst = false
      try result.append(utf8: piece, &budget)
    }
    return .string(try result.finished(&budget))
  }
}
