// Arithmetic and comparisons, as Python has them.

extension TemplateEvaluator {
  func negated(_ value: TemplateValue) throws(ChatTemplateError) -> TemplateValue {
    if let integer = value.integerValue {
      let (result, overflows) = (0).subtractingReportingOverflow(integer)
      guard !overflows else { throw failure(.type, "integer overflow") }
      return .integer(result)
    }
    guard case .real(let real) = value else {
      throw failure(.type, "\(value.type.rawValue) has no sign")
    }
    return .real(-real)
  }

  mutating func arithmetic(
    _ symbol: String, _ left: TemplateValue, _ right: TemplateValue
  ) throws(ChatTemplateError) -> TemplateValue {
    try budget.spend(1)
    if symbol == "~" { return try joined(try printed(left), try printed(right)) }
    for operand in [left, right] {
      if case .undefined(let undefined) = operand { throw try failure(undefined) }
    }
    switch (symbol, left, right) {
    case ("+", .string(let a), .string(let b)): return try joined(a, b)
    case ("+", .list(let a), .list(let b)) where a.isTuple == b.isTuple:
      var sum = try TemplateListBuilder(reserving: a.count + b.count, &budget)
      try sum.append(contentsOf: a, &budget)
      try sum.append(contentsOf: b, &budget)
      return .list(TemplateList(sum, isTuple: a.isTuple))
    case ("*", .string(let unit), let count), ("*", let count, .string(let unit)):
      if let count = count.integerValue { return try repeated(unit, max(count, 0)) }
    case ("*", .list(let unit), let count), ("*", let count, .list(let unit)):
      if let count = count.integerValue { return try repeated(unit, max(count, 0)) }
    default: break
    }
    if let a = left.integerValue, let b = right.integerValue, symbol != "/" {
      return .integer(try integerArithmetic(symbol, a, b))
    }
    guard let a = left.number, let b = right.number else {
      throw failure(
        .type, "\(left.type.rawValue) \(symbol) \(right.type.rawValue) has no meaning")
    }
    return .real(try realArithmetic(symbol, a, b))
  }

  private mutating func joined(
    _ left: TemplateString, _ right: TemplateString
  ) throws(ChatTemplateError) -> TemplateValue {
    let (byteCount, limit) = (left.byteCount + right.byteCount, budget.limits.maximumOutputBytes)
    guard byteCount <= limit else { throw failure(.limit, "a text of more than \(limit) bytes") }
    try budget.makeRoom(for: byteCount)
    let text = try left.read(&budget) + (try right.read(&budget))
    return .string(try TemplateString(text, &budget))
  }

  /// A text many times over, made by doubling: no repetition of an empty text takes time.
  private mutating func repeated(
    _ unit: TemplateString, _ count: Int
  ) throws(ChatTemplateError) -> TemplateValue {
    let (byteCount, overflows) = unit.byteCount.multipliedReportingOverflow(by: count)
    let limit = budget.limits.maximumOutputBytes
    guard !overflows, byteCount <= limit else {
      throw failure(.limit, "a text of more than \(limit) bytes")
    }
    guard byteCount > 0 else { return .string("") }
    try budget.makeRoom(for: 4 * byteCount)
    var bytes = try unit.bytes(&budget)
    while bytes.count < byteCount { bytes += Array(bytes.prefix(byteCount - bytes.count)) }
    return .string(try TemplateString(utf8: bytes[...], &budget))
  }

  private mutating func repeated(
    _ unit: TemplateList, _ count: Int
  ) throws(ChatTemplateError) -> TemplateValue {
    let (total, overflows) = unit.count.multipliedReportingOverflow(by: count)
    var list = try TemplateListBuilder(reserving: overflows ? .max : total, &budget)
    if total > 0 {
      for _ in 0..<count { try list.append(contentsOf: unit, &budget) }
    }
    return .list(TemplateList(list, isTuple: unit.isTuple))
  }

  private func integerArithmetic(
    _ symbol: String, _ a: Int, _ b: Int
  ) throws(ChatTemplateError) -> Int {
    let result: (partialValue: Int, overflow: Bool)
    switch symbol {
    case "+": result = a.addingReportingOverflow(b)
    case "-": result = a.subtractingReportingOverflow(b)
    case "*": result = a.multipliedReportingOverflow(by: b)
    case "**":
      guard b >= 0 else { throw failure(.unsupported, "a negative exponent") }
      result = Self.power(a, b)
    default:
      guard b != 0 else { throw failure(.type, "division by zero") }
      // Python rounds down, and the remainder has the sign of the divisor.
      let quotient = a.dividedReportingOverflow(by: b)
      let rest = a.remainderReportingOverflow(dividingBy: b).partialValue
      let isBelow = rest != 0 && (rest < 0) != (b < 0)
      if symbol == "%" { return isBelow ? rest + b : rest }
      result = (isBelow ? quotient.partialValue - 1 : quotient.partialValue, quotient.overflow)
    }
    guard !result.overflow else { throw failure(.type, "integer overflow") }
    return result.partialValue
  }

  /// At most 64 multiplications: more of any base but -1, 0 and 1 overflow.
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
    _ symbol: String, _ a: Double, _ b: Double
  ) throws(ChatTemplateError) -> Double {
    switch symbol {
    case "+": return a + b
    case "-": return a - b
    case "*": return a * b
    case "/", "//", "%":
      guard b != 0 else { throw failure(.type, "division by zero") }
      if symbol == "/" { return a / b }
      let rest = a.truncatingRemainder(dividingBy: b)
      let remainder = rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest
      return symbol == "%" ? remainder : ((a - remainder) / b).rounded()
    default: throw failure(.unsupported, "\(symbol) of numbers with a fraction")
    }
  }

  // MARK: Comparisons

  mutating func evaluateComparison(
    _ first: TemplateExpression, _ others: [(symbol: String, operand: TemplateExpression)]
  ) throws(ChatTemplateError) -> TemplateValue {
    var left = try evaluate(first)
    for (symbol, operand) in others {
      let right = try evaluate(operand)
      guard try compares(symbol, left, right) else { return .boolean(false) }
      left = right
    }
    return .boolean(true)
  }

  mutating func compares(
    _ symbol: String, _ left: TemplateValue, _ right: TemplateValue
  ) throws(ChatTemplateError) -> Bool {
    switch symbol {
    case "==": return try areEqual(left, right)
    case "!=": return !(try areEqual(left, right))
    case "in": return try contains(right, left)
    case "not in": return !(try contains(right, left))
    case "<": return try order(left, right) < 0
    case "<=": return try order(left, right) <= 0
    case ">": return try order(left, right) > 0
    default: return try order(left, right) >= 0
    }
  }

  /// Whether two values are equal. Each pair visited is paid for, however often a value is shared.
  mutating func areEqual(
    _ left: TemplateValue, _ right: TemplateValue
  ) throws(ChatTemplateError) -> Bool {
    try budget.spend(1)
    switch (left, right) {
    case (.undefined, .undefined), (.none, .none): return true
    case (.string(let a), .string(let b)): return try a.isIdentical(to: b, &budget)
    case (.list(let a), .list(let b)):
      guard a.isTuple == b.isTuple, a.count == b.count else { return false }
      for (x, y) in zip(try a.elements(&budget), try b.elements(&budget)) {
        guard try areEqual(x, y) else { return false }
      }
      return true
    case (.mapping(let a), .mapping(let b)):
      guard a.count == b.count else { return false }
      for entry in try a.entries(&budget) {
        try budget.spend(searching: 2 * entry.key.text.byteCount)
        guard let other = try b.value(for: entry.key, &budget),
          try areEqual(entry.value, other)
        else { return false }
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
    _ left: TemplateValue, _ right: TemplateValue
  ) throws(ChatTemplateError) -> Int {
    try budget.spend(1)
    if let a = left.integerValue, let b = right.integerValue { return a < b ? -1 : a > b ? 1 : 0 }
    if let a = left.number, let b = right.number { return a < b ? -1 : a > b ? 1 : 0 }
    switch (left, right) {
    case (.string(let a), .string(let b)):
      if try a.isIdentical(to: b, &budget) { return 0 }
      return try a.precedes(b, &budget) ? -1 : 1
    case (.list(let a), .list(let b)):
      for (x, y) in zip(try a.elements(&budget), try b.elements(&budget)) {
        let result = try order(x, y)
        if result != 0 { return result }
      }
      return a.count - b.count
    case (.undefined(let undefined), _), (_, .undefined(let undefined)):
      throw try failure(undefined)
    default:
      throw failure(
        .type, "\(left.type.rawValue) and \(right.type.rawValue) have no order")
    }
  }

  mutating func contains(
    _ container: TemplateValue, _ value: TemplateValue
  ) throws(ChatTemplateError) -> Bool {
    switch container {
    case .string(let text):
      guard case .string(let part) = value else {
        throw failure(.type, "\(value.type.rawValue) cannot be in a string")
      }
      return try firstMatch(of: part, in: text) != nil
    case .mapping(let mapping):
      guard case .string(let text) = value else { return false }
      return try mapping.value(for: try TemplateKey(text, &budget), &budget) != nil
    case .namespace(let index):
      guard case .string(let text) = value else { return false }
      let key = try TemplateKey(text, &budget)
      return try namespaces[index].value(for: key, &budget) != nil
    default:
      for element in try elements(of: container) where try areEqual(element, value) {
        return true
      }
      return false
    }
  }

  /// The offset in bytes of a text in another.
  mutating func firstMatch(
    of part: TemplateString, in text: TemplateString
  ) throws(ChatTemplateError) -> Int? {
    let search = try TextSearch(part, &budget)
    return try search.firstMatch(in: try text.bytes(&budget), from: 0, &budget)
  }
}
