/// The filters of templates: `value | name(arguments)`.
enum TemplateFilter: String {
  case abs, capitalize, count, d, `default`, dictsort, first, float, indent, int, items, join
  case last, length, list, lower, map, max, min, reject, rejectattr, replace, reverse, round
  case safe, select, selectattr, sort, string, sum, title, tojson, trim, unique, upper

  static func isKnown(_ name: String) -> Bool { TemplateFilter(rawValue: name) != nil }
}

extension TemplateEvaluator {
  /// What a filter makes of a value; the parser knows the name to be one.
  mutating func apply(
    filter name: String, to value: TemplateValue, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    let line = arguments.line
    guard let filter = TemplateFilter(rawValue: name) else {
      throw ChatTemplateError(.unsupported, line: line, "unknown filter \(name)")
    }
    switch filter {
    case .default, .d: return try defaulted(value, arguments)
    case .length, .count: return .integer(try length(of: value, line: line))
    case .tojson: return try json(of: value, arguments)
    case .string: return try text(try printed(value, line: line), line: line)
    case .safe: return value
    case .capitalize, .indent, .lower, .replace, .title, .trim, .upper:
      return try applyText(filter, to: value, arguments)
    case .abs, .float, .int, .round: return try applyNumber(filter, to: value, arguments)
    case .map, .reject, .rejectattr, .select, .selectattr:
      return try applyChoice(filter, to: value, arguments)
    case .dictsort, .first, .items, .join, .last, .list, .max, .min, .reverse, .sort, .sum, .unique:
      return try applyElements(filter, to: value, arguments)
    }
  }

  private func defaulted(
    _ value: TemplateValue, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    let values = try arguments.bound(to: ["default_value", "boolean"], of: "default")
    let isMissing = value.isUndefined || (values[1]?.isTrue == true && !value.isTrue)
    return isMissing ? values[0] ?? .string("") : value
  }

  private mutating func length(
    of value: TemplateValue, line: Int
  ) throws(ChatTemplateError) -> Int {
    switch value {
    case .undefined: return 0
    case .list(let list): return list.elements.count
    case .mapping(let mapping): return mapping.entries.count
    case .string(let text):
      try charge(text.utf8.count / 32, line: line)
      return text.unicodeScalars.count
    default: throw ChatTemplateError(.type, line: line, "\(value.typeName) has no length")
    }
  }

  private mutating func json(
    of value: TemplateValue, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    let line = arguments.line
    let values = try arguments.bound(
      to: ["ensure_ascii", "indent", "separators", "sort_keys"], of: "tojson")
    guard values[0]?.isTrue != true else {
      throw ChatTemplateError(.unsupported, line: line, "tojson with ensure_ascii")
    }
    var layout = TemplateValue.JSONLayout(
      indent: values[1]?.integerValue.map { Swift.min(Swift.max($0, 0), 16) })
    if case .list(let separators)? = values[2], separators.elements.count == 2 {
      layout.itemSeparator = try printed(separators.elements[0], line: line)
      layout.keySeparator = try printed(separators.elements[1], line: line)
    }
    layout.sortsKeys = values[3]?.isTrue == true
    var buffer = BoundedText(maximumBytes: limits.maximumOutputBytes)
    if let problem = value.printJSON(layout, into: &buffer) {
      throw ChatTemplateError(.type, line: line, "\(problem) cannot be JSON")
    }
    try checkFull(buffer, line: line)
    return try text(buffer.text, line: line)
  }

  private mutating func applyText(
    _ filter: TemplateFilter, to value: TemplateValue, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    let line = arguments.line
    let source = TemplateValue.string(try printed(value, line: line))
    switch filter {
    case .indent: return try indented(source, arguments)
    case .title:
      _ = try arguments.bound(to: [], of: "title")
      return try text(TemplateText.titled(try printed(source, line: line)), line: line)
    default:
      let method = filter == .trim ? "strip" : filter.rawValue
      guard let result = try call(method: method, of: source, arguments) else { return .none }
      return result
    }
  }

  private mutating func indented(
    _ value: TemplateValue, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    let line = arguments.line
    let values = try arguments.bound(to: ["width", "first", "blank"], of: "indent")
    var indent = String(repeating: " ", count: 4)
    switch values[0] {
    case .string(let text)?: indent = text
    case let width?:
      indent = String(repeating: " ", count: min(max(width.integerValue ?? 4, 0), 256))
    case nil: break
    }
    let source = try printed(value, line: line)
    var result = values[1]?.isTrue == true ? indent : ""
    for (index, piece) in TextSearch("\n").pieces(of: source).enumerated() {
      try charge(1 + indent.utf8.count / 32, line: line)
      if index > 0 {
        result += "\n"
        if !piece.isEmpty || values[2]?.isTrue == true { result += indent }
      }
      result += piece
    }
    return try text(result, line: line)
  }

  private mutating func applyNumber(
    _ filter: TemplateFilter, to value: TemplateValue, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    let line = arguments.line
    switch filter {
    case .int:
      let values = try arguments.bound(to: ["default", "base"], of: "int")
      if let integer = value.integerValue { return .integer(integer) }
      var real = value.number
      if case .string(let text) = value {
        let trimmed = TemplateText.stripped(text)
        if let integer = Int(trimmed) { return .integer(integer) }
        real = Double(trimmed)
      }
      return real.flatMap { Int(exactly: $0.rounded(.towardZero)) }.map { .integer($0) }
        ?? values[0] ?? .integer(0)
    case .float:
      let values = try arguments.bound(to: ["default"], of: "float")
      if case .string(let text) = value, let real = Double(TemplateText.stripped(text)) {
        return .real(real)
      }
      return value.number.map { .real($0) } ?? values[0] ?? .real(0)
    case .abs:
      guard let number = value.number else { break }
      return number < 0 ? try negated(value, line: line) : value
    default:
      let values = try arguments.bound(to: ["precision", "method"], of: "round")
      guard let number = value.number else { break }
      guard values[1] == nil else {
        throw ChatTemplateError(.unsupported, line: line, "round with a method")
      }
      var scale = 1.0
      for _ in 0..<min(max(values[0]?.integerValue ?? 0, 0), 15) { scale *= 10 }
      return .real((number * scale).rounded(.toNearestOrEven) / scale)
    }
    throw ChatTemplateError(.type, line: line, "\(value.typeName) is no number")
  }

  // MARK: Elements

  private mutating func applyElements(
    _ filter: TemplateFilter, to value: TemplateValue, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    let line = arguments.line
    if filter == .items || filter == .dictsort {
      guard case .mapping(let mapping) = value else {
        if value.isUndefined { return .list([]) }
        throw ChatTemplateError(.type, line: line, "\(value.typeName) has no items")
      }
      var pairs: [TemplateValue] = []
      for entry in mapping.entries {
        pairs.append(try list([.string(entry.key), entry.value], isTuple: true, line: line))
      }
      return try list(
        filter == .items ? pairs : try sorted(pairs, by: .integer(0), line: line), line: line)
    }
    if filter == .reverse, case .string = value {
      var text = String.UnicodeScalarView()
      text.append(contentsOf: (try printed(value, line: line)).unicodeScalars.reversed())
      return try self.text(String(text), line: line)
    }
    let elements = try elements(of: value, line: line)
    switch filter {
    case .first: return elements.first ?? .undefined("there is no first element")
    case .last: return elements.last ?? .undefined("there is no last element")
    case .list: return try list(elements, line: line)
    case .reverse: return try list(elements.reversed(), line: line)
    case .join: return try joined(elements, arguments)
    case .sum: return try total(of: elements, arguments)
    case .unique: return try list(try unique(elements, line: line), line: line)
    case .max, .min:
      let ordered = try sorted(elements, by: nil, line: line)
      return (filter == .min ? ordered.first : ordered.last)
        ?? .undefined("there is no element to take")
    default:
      let names = ["reverse", "case_sensitive", "attribute"]
      let values = try arguments.bound(to: names, of: "sort")
      let ordered = try sorted(
        elements, by: values[2], ignoresCase: values[1]?.isTrue != true, line: line)
      return try list(values[0]?.isTrue == true ? ordered.reversed() : ordered, line: line)
    }
  }

  private mutating func joined(
    _ elements: [TemplateValue], _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    let line = arguments.line
    let values = try arguments.bound(to: ["d", "attribute"], of: "join")
    let separator = try printed(values[0] ?? .string(""), line: line)
    var buffer = BoundedText(maximumBytes: limits.maximumOutputBytes)
    for (index, element) in elements.enumerated() {
      if index > 0 { buffer.append(separator) }
      buffer.append(try printed(try part(values[1], of: element, line: line), line: line))
      try checkFull(buffer, line: line)
      try charge(1 + separator.utf8.count / 32, line: line)
    }
    return try text(buffer.text, line: line)
  }

  private mutating func total(
    of elements: [TemplateValue], _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    let values = try arguments.bound(to: ["attribute", "start"], of: "sum")
    var total = values[1] ?? .integer(0)
    for element in elements {
      let part = try part(values[0], of: element, line: arguments.line)
      total = try arithmetic("+", total, part, line: arguments.line)
    }
    return total
  }

  private mutating func unique(
    _ elements: [TemplateValue], line: Int
  ) throws(ChatTemplateError) -> [TemplateValue] {
    var kept: [TemplateValue] = []
    next: for element in elements {
      for other in kept where try areEqual(element, other, line: line) { continue next }
      kept.append(element)
    }
    return kept
  }

  /// An attribute, element or path of them (`a.b`); the value itself where none is asked for.
  private mutating func part(
    _ name: TemplateValue?, of value: TemplateValue, line: Int
  ) throws(ChatTemplateError) -> TemplateValue {
    guard let name else { return value }
    if case .string(let path) = name {
      var result = value
      for name in TextSearch(".").pieces(of: path) {
        result = try attribute(name, of: result, line: line)
      }
      return result
    }
    if let index = name.integerValue, case .list(let list) = value,
      list.elements.indices.contains(index)
    {
      return list.elements[index]
    }
    return .undefined("\(value.typeName) has no such element")
  }

  /// A stable merge sort, whose comparisons are charged for.
  private mutating func sorted(
    _ elements: [TemplateValue], by name: TemplateValue?, ignoresCase: Bool = true, line: Int
  ) throws(ChatTemplateError) -> [TemplateValue] {
    var keyed: [(key: TemplateValue, value: TemplateValue)] = []
    for element in elements {
      var key = try part(name, of: element, line: line)
      if ignoresCase, case .string(let string) = key {
        key = try text(string.lowercased(), line: line)
      }
      keyed.append((key, element))
    }
    var width = 1
    while width < keyed.count {
      var merged: [(key: TemplateValue, value: TemplateValue)] = []
      for start in stride(from: 0, to: keyed.count, by: 2 * width) {
        let middle = Swift.min(start + width, keyed.count)
        let end = Swift.min(middle + width, keyed.count)
        var (left, right) = (start, middle)
        while left < middle || right < end {
          let takesLeft: Bool
          if left < middle, right < end {
            takesLeft = try order(keyed[right].key, keyed[left].key, line: line) >= 0
          } else {
            takesLeft = left < middle
          }
          merged.append(keyed[takesLeft ? left : right])
          if takesLeft { left += 1 } else { right += 1 }
        }
      }
      keyed = merged
      width *= 2
    }
    return keyed.map(\.value)
  }

  /// `map`, and the filters that keep or drop elements by a test.
  private mutating func applyChoice(
    _ filter: TemplateFilter, to value: TemplateValue, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    let line = arguments.line
    var rest = arguments
    var name: TemplateValue?
    if filter == .map, let index = rest.named.firstIndex(where: { $0.name == "attribute" }) {
      name = rest.named[index].value
    } else if filter == .map || filter == .selectattr || filter == .rejectattr {
      guard !rest.positional.isEmpty else {
        throw ChatTemplateError(.type, line: line, "\(filter.rawValue) lacks an argument")
      }
      let first = rest.positional.removeFirst()
      if filter == .map {
        return try mapped(value, filter: try printed(first, line: line), rest)
      }
      name = first
    }
    var test: String?
    if filter != .map, !rest.positional.isEmpty {
      test = try printed(rest.positional.removeFirst(), line: line)
    }
    let keeps = filter == .select || filter == .selectattr
    var result: [TemplateValue] = []
    for element in try elements(of: value, line: line) {
      let part = try part(name, of: element, line: line)
      if filter == .map {
        result.append(part)
        continue
      }
      let holds = test == nil ? part.isTrue : try passes(test: test ?? "", part, rest)
      if holds == keeps { result.append(element) }
    }
    return try list(result, line: line)
  }

  private mutating func mapped(
    _ value: TemplateValue, filter: String, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    guard filter != "map" else {
      throw ChatTemplateError(.unsupported, line: arguments.line, "map of map")
    }
    var result: [TemplateValue] = []
    for element in try elements(of: value, line: arguments.line) {
      result.append(try apply(filter: filter, to: element, arguments))
    }
    return try list(result, line: arguments.line)
  }
}
