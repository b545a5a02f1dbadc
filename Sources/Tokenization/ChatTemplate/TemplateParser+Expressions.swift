// Expressions, from the loosest binding to the tightest:
// if else · or · and · not · comparisons · + - · ~ · * / // % · ** · unary · | is · . [] ()

extension TemplateParser {
  /// Makes a node, unless its tree is too high.
  private func node(
    _ kind: TemplateExpression.Kind, line: Int, over children: [TemplateExpression]
  ) throws(ChatTemplateError) -> TemplateExpression {
    let height = 1 + (children.map(\.height).max() ?? 0)
    guard height <= Self.maximumExpressionHeight else {
      throw ChatTemplateError(.limit, line: line, "the expression nests too deeply")
    }
    return TemplateExpression(kind: kind, line: line, height: height)
  }

  /// One expression, or several with commas between them.
  mutating func parseTuple(
    allowsConditional: Bool = true
  ) throws(ChatTemplateError) -> TemplateExpression {
    let line = line
    let first = try parseExpression(allowsConditional: allowsConditional)
    guard token == .symbol(",") else { return first }
    var elements = [first]
    while acceptSymbol(",") {
      if token == .statementEnd || token == .outputEnd { break }
      elements.append(try parseExpression(allowsConditional: allowsConditional))
    }
    return try node(.list(elements, isTuple: true), line: line, over: elements)
  }

  mutating func parseExpression(
    allowsConditional: Bool = true
  ) throws(ChatTemplateError) -> TemplateExpression {
    expressionDepth += 1
    defer { expressionDepth -= 1 }
    guard expressionDepth <= Self.maximumExpressionHeight else {
      throw ChatTemplateError(.limit, line: line, "the expression nests too deeply")
    }
    var value = try parseOr()
    while allowsConditional, token == .name("if") {
      let line = line
      advance()
      let condition = try parseOr()
      let otherwise = acceptName("else") ? try parseExpression() : nil
      let children = [condition, value] + (otherwise.map { [$0] } ?? [])
      value = try node(
        .conditional(condition, then: value, otherwise: otherwise), line: line, over: children)
    }
    return value
  }

  private mutating func parseOr() throws(ChatTemplateError) -> TemplateExpression {
    var left = try parseAnd()
    while token == .name("or") {
      let line = line
      advance()
      let right = try parseAnd()
      left = try node(.or(left, right), line: line, over: [left, right])
    }
    return left
  }

  private mutating func parseAnd() throws(ChatTemplateError) -> TemplateExpression {
    var left = try parseNot()
    while token == .name("and") {
      let line = line
      advance()
      let right = try parseNot()
      left = try node(.and(left, right), line: line, over: [left, right])
    }
    return left
  }

  private mutating func parseNot() throws(ChatTemplateError) -> TemplateExpression {
    let line = line
    var count = 0
    while token == .name("not") {
      advance()
      count += 1
    }
    var value = try parseComparison()
    for _ in 0..<count { value = try node(.not(value), line: line, over: [value]) }
    return value
  }

  private mutating func parseComparison() throws(ChatTemplateError) -> TemplateExpression {
    let line = line
    let first = try parseArithmetic(level: 0)
    var others: [(symbol: String, operand: TemplateExpression)] = []
    while true {
      var symbol: String
      switch token {
      case .symbol(let found) where ["==", "!=", "<", "<=", ">", ">="].contains(found):
        symbol = found
      case .name("in"): symbol = "in"
      case .name("not") where following == .name("in"):
        advance()
        symbol = "not in"
      default:
        guard !others.isEmpty else { return first }
        return try node(
          .comparison(first, others), line: line, over: [first] + others.map(\.operand))
      }
      advance()
      others.append((symbol, try parseArithmetic(level: 0)))
    }
  }

  /// The symbols of each level, all of which bind to the left.
  private static let arithmetic = [["+", "-"], ["~"], ["*", "/", "//", "%"], ["**"]]

  private mutating func parseArithmetic(
    level: Int
  ) throws(ChatTemplateError) -> TemplateExpression {
    guard level < Self.arithmetic.count else { return try parseUnary() }
    var left = try parseArithmetic(level: level + 1)
    while case .symbol(let symbol) = token, Self.arithmetic[level].contains(symbol) {
      let line = line
      advance()
      let right = try parseArithmetic(level: level + 1)
      left = try node(.arithmetic(symbol, left, right), line: line, over: [left, right])
    }
    return left
  }

  private mutating func parseUnary() throws(ChatTemplateError) -> TemplateExpression {
    let line = line
    var negates = false
    var hasSign = false
    while case .symbol(let symbol) = token, symbol == "-" || symbol == "+" {
      advance()
      hasSign = true
      if symbol == "-" { negates.toggle() }
    }
    var value = try parsePostfix(try parsePrimary())
    if hasSign {
      value = try node(.negate(value), line: line, over: [value])
      if !negates { value = try node(.negate(value), line: line, over: [value]) }
    }
    return try parseFiltersAndTests(value)
  }

  // MARK: Tight binding

  private mutating func parsePrimary() throws(ChatTemplateError) -> TemplateExpression {
    let line = line
    let token = token
    switch token {
    case .string(var text):
      advance()
      while case .string(let more) = self.token {
        text += more
        advance()
      }
      return try node(.literal(.string(text)), line: line, over: [])
    case .integer(let value):
      advance()
      return try node(.literal(.integer(value)), line: line, over: [])
    case .real(let value):
      advance()
      return try node(.literal(.real(value)), line: line, over: [])
    case .name(let name):
      advance()
      let literal: TemplateValue? =
        switch name {
        case "true", "True": .boolean(true)
        case "false", "False": .boolean(false)
        case "none", "None": TemplateValue.none
        default: nil
        }
      return try node(
        literal.map { .literal($0) } ?? .name(TemplateName(name)), line: line, over: [])
    case .symbol("("):
      advance()
      return try parseParentheses(line: line)
    case .symbol("["):
      advance()
      let elements = try parseElements(until: "]")
      return try node(.list(elements, isTuple: false), line: line, over: elements)
    case .symbol("{"):
      advance()
      return try parseMapping(line: line)
    default: throw failure("expected an expression")
    }
  }

  private mutating func parseParentheses(line: Int) throws(ChatTemplateError) -> TemplateExpression
  {
    if acceptSymbol(")") { return try node(.list([], isTuple: true), line: line, over: []) }
    let first = try parseExpression()
    if acceptSymbol(")") { return first }
    try expect(.symbol(","), "a closing parenthesis")
    let elements = [first] + (try parseElements(until: ")"))
    return try node(.list(elements, isTuple: true), line: line, over: elements)
  }

  private mutating func parseElements(
    until closing: String
  ) throws(ChatTemplateError) -> [TemplateExpression] {
    var elements: [TemplateExpression] = []
    while !acceptSymbol(closing) {
      elements.append(try parseExpression())
      if acceptSymbol(closing) { break }
      try expect(.symbol(","), "a comma or \(closing)")
    }
    return elements
  }

  private mutating func parseMapping(line: Int) throws(ChatTemplateError) -> TemplateExpression {
    var entries: [(key: TemplateExpression, value: TemplateExpression)] = []
    while !acceptSymbol("}") {
      let key = try parseExpression()
      try expect(.symbol(":"), "a colon")
      entries.append((key, try parseExpression()))
      if acceptSymbol("}") { break }
      try expect(.symbol(","), "a comma or }")
    }
    return try node(.mapping(entries), line: line, over: entries.flatMap { [$0.key, $0.value] })
  }

  private mutating func parsePostfix(
    _ first: TemplateExpression
  ) throws(ChatTemplateError) -> TemplateExpression {
    var value = first
    while true {
      let line = line
      if acceptSymbol(".") {
        if case .integer(let index) = token {
          advance()
          let item = try node(.literal(.integer(index)), line: line, over: [])
          value = try node(.item(value, item), line: line, over: [value, item])
        } else {
          let name = try expectName("the name of an attribute")
          value = try node(
            .attribute(value, TemplateName(name)), line: line, over: [value])
        }
      } else if acceptSymbol("[") {
        value = try parseSubscript(of: value, line: line)
      } else if token == .symbol("(") {
        let arguments = try parseArguments()
        value = try node(.call(value, arguments), line: line, over: [value] + arguments.all)
      } else {
        return value
      }
    }
  }

  private mutating func parseSubscript(
    of value: TemplateExpression, line: Int
  ) throws(ChatTemplateError) -> TemplateExpression {
    var bounds: [TemplateExpression?] = []
    var bound: TemplateExpression?
    var isSlice = false
    while true {
      if acceptSymbol(":") {
        isSlice = true
        bounds.append(bound)
        bound = nil
      } else if acceptSymbol("]") {
        bounds.append(bound)
        break
      } else {
        guard bound == nil, bounds.count < 3 else { throw failure("expected ]") }
        bound = try parseExpression()
      }
    }
    if !isSlice, let index = bounds[0] {
      return try node(.item(value, index), line: line, over: [value, index])
    }
    guard isSlice, bounds.count <= 3 else { throw failure("expected an index or a slice") }
    let step = bounds.count == 3 ? bounds[2] : nil
    return try node(
      .slice(value, from: bounds[0], to: bounds[1], step: step), line: line,
      over: [value] + bounds.compactMap { $0 })
  }

  private mutating func parseArguments() throws(ChatTemplateError) -> TemplateArguments {
    var arguments = TemplateArguments()
    try expect(.symbol("("), "an opening parenthesis")
    while !acceptSymbol(")") {
      try checkArgumentCount(arguments.positional.count + arguments.named.count + 1)
      if case .name(let name) = token, following == .symbol("=") {
        advance()
        advance()
        arguments.named.append((TemplateName(name), try parseExpression()))
      } else {
        guard arguments.named.isEmpty else {
          throw failure("an argument without a name comes late")
        }
        arguments.positional.append(try parseExpression())
      }
      if acceptSymbol(")") { break }
      try expect(.symbol(","), "a comma or )")
    }
    return arguments
  }

  private mutating func parseFiltersAndTests(
    _ first: TemplateExpression
  ) throws(ChatTemplateError) -> TemplateExpression {
    var value = first
    while true {
      let line = line
      if acceptSymbol("|") {
        let name = try expectName("the name of a filter")
        guard let filter = TemplateFilter(rawValue: name) else {
          throw ChatTemplateError(.unsupported, line: line, "unknown filter \(name)")
        }
        let arguments = token == .symbol("(") ? try parseArguments() : TemplateArguments()
        value = try node(
          .filter(value, filter, arguments), line: line, over: [value] + arguments.all)
      } else if acceptName("is") {
        value = try parseTest(of: value, line: line)
      } else if token == .symbol("(") {
        let arguments = try parseArguments()
        value = try node(.call(value, arguments), line: line, over: [value] + arguments.all)
      } else {
        return value
      }
    }
  }

  private mutating func parseTest(
    of value: TemplateExpression, line: Int
  ) throws(ChatTemplateError) -> TemplateExpression {
    let isNegated = acceptName("not")
    let name = try expectName("the name of a test")
    guard let known = TemplateTest(name: name) else {
      throw ChatTemplateError(.unsupported, line: line, "unknown test \(name)")
    }
    var arguments = TemplateArguments()
    switch token {
    case .symbol("("): arguments = try parseArguments()
    case .name("else"), .name("or"), .name("and"), .name("if"), .name("in"), .name("not"),
      .name("is"):
      break
    case .name, .string, .integer, .real, .symbol("["), .symbol("{"):
      arguments.positional = [try parsePostfix(try parsePrimary())]
    default: break
    }
    let test = try node(.test(value, known, arguments), line: line, over: [value] + arguments.all)
    return isNegated ? try node(.not(test), line: line, over: [test]) : test
  }
}
