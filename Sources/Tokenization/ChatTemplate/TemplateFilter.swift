/// The filters of templates: `value | name(arguments)`.
package enum TemplateFilter: String, Sendable, CaseIterable {
  case abs, capitalize, count, d, `default`, dictsort, first, float, indent, int, items, join
  case last, length, list, lower, map, max, min, reject, rejectattr, replace, reverse, round
  case safe, select, selectattr, sort, string, sum, title, tojson, trim, unique, upper
}

extension TemplateEvaluator {
  /// What a filter makes of a value.
  mutating func apply(
    _ filter: TemplateFilter, to value: TemplateValue, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    try budget.spend(1)
    switch filter {
    case .default, .d: return try defaulted(value, arguments)
    case .length, .count: return .integer(try length(of: value))
    case .tojson: return .string(try json(of: value, arguments))
    case .string: return .string(try printed(value))
    case .safe: return value
    case .capitalize, .indent, .lower, .replace, .title, .trim, .upper:
      return try applyText(filter, to: try printed(value), arguments)
    case .abs, .float, .int, .round: return try applyNumber(filter, to: value, arguments)
    case .map, .reject, .rejectattr, .select, .selectattr:
      return try applyChoice(filter, to: value, arguments)
    case .dictsort, .items: return try applyPairs(filter, to: value)
    case .first, .join, .last, .list, .max, .min, .reverse, .sort, .sum, .unique:
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

  private mutating func length(of value: TemplateValue) throws(ChatTemplateError) -> Int {
    switch value {
    case .undefined: return 0
    case .list(let list): return list.count
    case .mapping(let mapping): return mapping.count
    case .string(let text): return try text.scalarCount(&budget)
    default: throw failure(.type, "\(value.type.rawValue) has no length")
    }
  }

  private mutating func json(
    of value: TemplateValue, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateString {
    let values = try arguments.bound(
      to: ["ensure_ascii", "indent", "separators", "sort_keys"], of: "tojson")
    guard values[0]?.isTrue != true else {
      throw failure(.unsupported, "tojson with ensure_ascii")
    }
    var layout = TemplateValue.JSONLayout(
      indent: values[1]?.integerValue.map { Swift.min(Swift.max($0, 0), 16) })
    if case .list(let separators)? = values[2], separators.count == 2 {
      layout.itemSeparator = try printed(separators.element(at: 0) ?? .none)
      layout.keySeparator = try printed(separators.element(at: 1) ?? .none)
    }
    layout.sortsKeys = values[3]?.isTrue == true
    var builder = TemplateTextBuilder()
    try value.printJSON(layout, into: &builder, &budget)
    return try builder.finished(&budget)
  }

  private mutating func applyText(
    _ filter: TemplateFilter, to source: TemplateString, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    switch filter {
    case .indent: return .string(try indented(source, arguments))
    case .title:
      _ = try arguments.bound(to: [], of: "title")
      return .string(try titled(source))
    case .trim: return try call(.strip, of: source, arguments) ?? .none
    case .capitalize: return try call(.capitalize, of: source, arguments) ?? .none
    case .lower: return try call(.lower, of: source, arguments) ?? .none
    case .upper: return try call(.upper, of: source, arguments) ?? .none
    default: return try call(.replace, of: source, arguments) ?? .none
    }
  }

  private mutating func applyNumber(
    _ filter: TemplateFilter, to value: TemplateValue, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    switch filter {
    case .int:
      let values = try arguments.bound(to: ["default", "base"], of: "int")
      if let integer = value.integerValue { return .integer(integer) }
      var real = value.number
      if case .string(let text) = value {
        let number = try number(in: text)
        if let integer = number.integer { return .integer(integer) }
        real = number.real
      }
      return real.flatMap { Int(exactly: $0.rounded(.towardZero)) }.map { .integer($0) }
        ?? values[0] ?? .integer(0)
    case .float:
      let values = try arguments.bound(to: ["default"], of: "float")
      if case .string(let text) = value, let real = try number(in: text).real {
        return .real(real)
      }
      return value.number.map { .real($0) } ?? values[0] ?? .real(0)
    case .abs:
      guard let number = value.number else { break }
      return number < 0 ? try negated(value) : value
    default:
      let values = try arguments.bound(to: ["precision", "method"], of: "round")
      guard let number = value.number else { break }
      guard values[1] == nil else { throw failure(.unsupported, "round with a method") }
      var scale = 1.0
      for _ in 0..<min(max(values[0]?.integerValue ?? 0, 0), 15) { scale *= 10 }
      return .real((number * scale).rounded(.toNearestOrEven) / scale)
    }
    throw failure(.type, "\(value.type.rawValue) is no number")
  }
}
