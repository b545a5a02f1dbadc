/// The tests of templates: `value is name`.
package enum TemplateTest: String, Sendable, CaseIterable {
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
    _ test: TemplateTest, _ value: TemplateValue, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> Bool {
    try budget.spend(1)
    if test.comparison != nil || test == .divisibleby {
      guard let other = try arguments.bound(to: ["other"], of: test.rawValue)[0] else {
        throw failure(.type, "the test \(test.rawValue) lacks an argument")
      }
      guard let comparison = test.comparison else { return try remainder(value, other) == 0 }
      return try compares(comparison, value, other)
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
    case (.even, _): return try remainder(value, .integer(2)) == 0
    case (.odd, _): return try remainder(value, .integer(2)) != 0
    case (.lower, .string(let text)): return try isAll(text, upper: false)
    case (.upper, .string(let text)): return try isAll(text, upper: true)
    default: return false
    }
  }

  /// Whether a text has letters with a case, and all of them have the one.
  private mutating func isAll(
    _ text: TemplateString, upper: Bool
  ) throws(ChatTemplateError) -> Bool {
    guard try text.isIdentical(to: try text.changed(toUpper: upper, &budget), &budget) else {
      return false
    }
    return !(try text.isIdentical(to: try text.changed(toUpper: !upper, &budget), &budget))
  }

  private mutating func remainder(
    _ value: TemplateValue, _ divisor: TemplateValue
  ) throws(ChatTemplateError) -> Double? {
    try arithmetic("%", value, divisor).number
  }
}
