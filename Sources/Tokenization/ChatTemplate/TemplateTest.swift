/// The tests of templates: `value is name`.
enum TemplateTest: String {
  case boolean, defined, divisibleby, eq, equalto, even, `false`, float, ge, greaterthan, gt, `in`
  case integer, iterable, le, lessthan, lower, lt, mapping, ne, none, number, odd, sameas, sequence
  case string, `true`, undefined, upper

  /// The test of a name, which may be a comparison's symbol.
  init?(name: String) {
    switch name {
    case "==": self = .eq
    case "!=": self = .ne
    case "<": self = .lt
    case "<=": self = .le
    case ">": self = .gt
    case ">=": self = .ge
    default: self.init(rawValue: name)
    }
  }

  static func isKnown(_ name: String) -> Bool { TemplateTest(name: name) != nil }

  /// The comparison that the test is, if it is one.
  var comparison: String? {
    switch self {
    case .eq, .equalto, .sameas: "=="
    case .ne: "!="
    case .lt, .lessthan: "<"
    case .le: "<="
    case .gt, .greaterthan: ">"
    case .ge: ">="
    case .in: "in"
    default: nil
    }
  }
}

extension TemplateEvaluator {
  /// Whether a value passes a test.
  mutating func passes(
    test name: String, _ value: TemplateValue, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> Bool {
    let line = arguments.line
    guard let test = TemplateTest(name: name) else {
      throw ChatTemplateError(.unsupported, line: line, "unknown test \(name)")
    }
    if test.comparison != nil || test == .divisibleby {
      guard let other = try arguments.bound(to: ["other"], of: name)[0] else {
        throw ChatTemplateError(.type, line: line, "the test \(name) lacks an argument")
      }
      guard let comparison = test.comparison else {
        return try remainder(value, other, line: line) == 0
      }
      return try compares(comparison, value, other, line: line)
    }
    switch (test, value) {
    case (.defined, _): return !value.isUndefined
    case (.undefined, _): return value.isUndefined
    case (.none, .none), (.string, .string), (.mapping, .mapping), (.boolean, .boolean),
      (.integer, .integer), (.float, .real), (.number, .integer), (.number, .real),
      (.number, .boolean), (.sequence, .list), (.sequence, .mapping), (.sequence, .string),
      (.sequence, .undefined), (.iterable, .list), (.iterable, .mapping), (.iterable, .string),
      (.iterable, .undefined):
      return true
    case (.true, .boolean(let truth)): return truth
    case (.false, .boolean(let truth)): return !truth
    case (.even, _): return try remainder(value, .integer(2), line: line) == 0
    case (.odd, _): return try remainder(value, .integer(2), line: line) != 0
    case (.lower, .string(let text)):
      return text.isIdentical(to: text.lowercased()) && !text.isIdentical(to: text.uppercased())
    case (.upper, .string(let text)):
      return text.isIdentical(to: text.uppercased()) && !text.isIdentical(to: text.lowercased())
    default: return false
    }
  }

  private mutating func remainder(
    _ value: TemplateValue, _ divisor: TemplateValue, line: Int
  ) throws(ChatTemplateError) -> Double? {
    try arithmetic("%", value, divisor, line: line).number
  }
}
