// Arithmetic and comparisons, as Python has them.

extension TemplateEvaluator {
  func negated(_ value: TemplateValue, line: Int) throws(ChatTemplateError) -> TemplateValue {
    if let integer = value.integerValue {
      let (result, overflows) = (0).subtractingReportingOverflow(integer)
      guard !overflows else { throw ChatTemplateError(.type, line: line, "integer overflow") }
      return .integer(result)
    }
    guard case .real(let real) = value else {
      throw ChatTemplateError(.type, line: line, "\(value.typeName) has no sign")
    }
    return .real(-real)
  }

  mutating func arithmetic(
    _ symbol: String, _ left: TemplateValue, _ right: TemplateValue, line: Int
  ) throws(ChatTemplateError) -> TemplateValue {
    if symbol == "~" {
      let joined = try printed(left, line: line) + (try printed(right, line: line))
      return try text(joined, line: line)
    }
    for operand in [left, right] {
      if case .undefined(let reason) = operand {
        throw ChatTemplateError(.undefined, line: line, reason)
      }
    }
    switch (symbol, left, right) {
    case ("+", .string(let a), .string(let b)): return try text(a + b, line: line)
    case ("+", .list(let a), .list(let b)) where a.isTuple == b.isTuple:
      return try list(a.elements + b.elements, isTuple: a.isTuple, line: line)
    case ("*", .string(let unit), let count), ("*", let count, .string(let unit)):
      guard let count = count.integerValue else { break }
      try charge(1, line: line)
      let (bytes, overflows) = unit.utf8.count.multipliedReportingOverflow(by: max(count, 0))
      guard !overflows, bytes <= limits.maximumOutputBytes else {
        throw ChatTemplateError(.limit, line: line, "a repeated text is too long")
      }
      return try text(String(repeating: unit, count: max(count, 0)), line: line)
    default: break
    }
    if let a = left.integerValue, let b = right.integerValue, symbol != "/" {
      return .integer(try integerArithmetic(symbol, a, b, line: line))
    }
    guard let a = left.number, let b = right.number else {
      throw ChatTemplateError(
        .type, line: line, "\(left.typeName) \(symbol) \(right.typeName) has no meaning")
    }
    return .real(try realArithmetic(symbol, a, b, line: line))
  }

  private func integerArithmetic(
    _ symbol: String, _ a: Int, _ b: Int, line: Int
  ) throws(ChatTemplateError) -> Int {
    let result: (partialValue: Int, overflow: Bool)
    switch symbol {
    case "+": result = a.addingReportingOverflow(b)
    case "-": result = a.subtractingReportingOverflow(b)
    case "*": result = a.multipliedReportingOverflow(by: b)
    case "**":
      guard b >= 0 else {
        throw ChatTemplateError(.unsupported, line: line, "a negative exponent")
      }
      result = Self.power(a, b)
    default:
      guard b != 0 else { throw ChatTemplateError(.type, line: line, "division by zero") }
      // Python rounds down, and the remainder has the sign of the divisor.
      let quotient = a.dividedReportingOverflow(by: b)
      let rest = a.remainderReportingOverflow(dividingBy: b).partialValue
      let isBelow = rest != 0 && (rest < 0) != (b < 0)
      if symbol == "%" { return isBelow ? rest + b : rest }
      result = (isBelow ? quotient.partialValue - 1 : quotient.partialValue, quotient.overflow)
    }
    guard !result.overflow else { throw ChatTemplateError(.type, line: line, "integer overflow") }
    return result.partialValue
  }

  private static func power(_ base: Int, _ exponent: Int) -> (partialValue: Int, overflow: Bool) {
    if base == 0 || base == 1 { return (exponent == 0 ? 1 : base, false) }
    if base == -1 { return (exponent % 2 == 0 ? 1 : -1, false) }
    var value = 1
    for _ in 0..<min(exponent, 64) {
      let (product, overflows) = value.multipliedReportingOverflow(by: base)
      if overflows { return (0, true) }
      value = product
    }
    return (value, exponent > 64)
  }

  private func realArithmetic(
    _ symbol: String, _ a: Double, _ b: Double, line: Int
  ) throws(ChatTemplateError) -> Double {
    switch symbol {
    case "+": return a + b
    case "-": return a - b
    case "*": return a * b
    case "/", "//", "%":
      guard b != 0 else { throw ChatTemplateError(.type, line: line, "division by zero") }
      if symbol == "/" { return a / b }
      let rest = a.truncatingRemainder(dividingBy: b)
      let remainder = rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest
      return symbol == "%" ? remainder : ((a - remainder) / b).rounded()
    default:
      throw ChatTemplateError(.unsupported, line: line, "\(symbol) of numbers with a fraction")
    }
  }

  // MARK: Comparisons

  mutating func evaluateComparison(
    _ first: TemplateExpression, _ others: [(symbol: String, operand: TemplateExpression)]
  ) throws(ChatTemplateError) -> TemplateValue {
    var left = try evaluate(first)
    for (symbol, operand) in others {
      let right = try evaluate(operand)
      guard try compares(symbol, left, right, line: operand.line) else { return .boolean(false) }
      left = right
    }
    return .boolean(true)
  }

  mutating func compares(
    _ symbol: String, _ left: TemplateValue, _ right: TemplateValue, line: Int
  ) throws(ChatTemplateError) -> Bool {
    switch symbol {
    case "==": return try areEqual(left, right, line: line)
    case "!=": return !(try areEqual(left, right, line: line))
    case "in": return try contains(right, left, line: line)
    case "not in": return !(try contains(right, left, line: line))
    case "<": return try order(left, right, line: line) < 0
    case "<=": return try order(left, right, line: line) <= 0
    case ">": return try order(left, right, line: line) > 0
    default: return try order(left, right, line: line) >= 0
    }
  }

  mutating func areEqual(
    _ left: TemplateValue, _ right: TemplateValue, line: Int
  ) throws(ChatTemplateError) -> Bool {
    try charge(1, line: line)
    switch (left, right) {
    case (.undefined, .undefined), (.none, .none): return true
    case (.string(let a), .string(let b)):
      try charge(min(a.utf8.count, b.utf8.count) / 32, line: line)
      return a.isIdentical(to: b)
    case (.list(let a), .list(let b)):
      guard a.isTuple == b.isTuple, a.elements.count == b.elements.count else { return false }
      for (x, y) in zip(a.elements, b.elements) {
        guard try areEqual(x, y, line: line) else { return false }
      }
      return true
    case (.mapping(let a), .mapping(let b)):
      guard a.entries.count == b.entries.count else { return false }
      try charge(a.entries.count * b.entries.count / 8, line: line)
      for entry in a.entries {
        guard let other = b[key: entry.key], try areEqual(entry.value, other, line: line) else {
          return false
        }
      }
      return true
    case (.namespace(let a), .namespace(let b)), (.loop(let a), .loop(let b)),
      (.macro(let a), .macro(let b)):
      return a == b
    default:
      if let a = left.integerValue, let b = right.integerValue { return a == b }
      guard let a = left.number, let b = right.number else { return false }
      return a == b
    }
  }

  /// Negative where the left comes first, positive where the right does.
  mutating func order(
    _ left: TemplateValue, _ right: TemplateValue, line: Int
  ) throws(ChatTemplateError) -> Int {
    try charge(1, line: line)
    if let a = left.integerValue, let b = right.integerValue { return a < b ? -1 : a > b ? 1 : 0 }
    if let a = left.number, let b = right.number { return a < b ? -1 : a > b ? 1 : 0 }
    switch (left, right) {
    case (.string(let a), .string(let b)):
      try charge(min(a.utf8.count, b.utf8.count) / 32, line: line)
      // The order of UTF-8 is the order of the scalars.
      if a.isIdentical(to: b) { return 0 }
      return a.utf8.lexicographicallyPrecedes(b.utf8) ? -1 : 1
    case (.list(let a), .list(let b)):
      for (x, y) in zip(a.elements, b.elements) {
        let result = try order(x, y, line: line)
        if result != 0 { return result }
      }
      return a.elements.count - b.elements.count
    case (.undefined(let reason), _), (_, .undefined(let reason)):
      throw ChatTemplateError(.undefined, line: line, reason)
    default:
      throw ChatTemplateError(
        .type, line: line, "\(left.typeName) and \(right.typeName) have no order")
    }
  }

  mutating func contains(
    _ container: TemplateValue, _ value: TemplateValue, line: Int
  ) throws(ChatTemplateError) -> Bool {
    switch container {
    case .string(let text):
      guard case .string(let part) = value else {
        throw ChatTemplateError(.type, line: line, "\(value.typeName) cannot be in a string")
      }
      try charge((text.utf8.count + part.utf8.count) / 32, line: line)
      return TextSearch(part).firstMatch(in: Array(text.utf8), from: 0) != nil
    case .mapping(let mapping):
      guard case .string(let key) = value else { return false }
      try charge(mapping.entries.count / 8, line: line)
      return mapping[key: key] != nil
    case .namespace(let index):
      guard case .string(let key) = value else { return false }
      return namespaces[index][key: key] != nil
    default:
      for element in try elements(of: container, line: line) {
        if try areEqual(element, value, line: line) { return true }
      }
      return false
    }
  }
}
