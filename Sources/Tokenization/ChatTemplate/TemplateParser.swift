/// Builds the statements of a template from its tokens.
struct TemplateParser {
  /// Nesting of statements, and height of expressions: far above any real template.
  static let maximumStatementDepth = 32
  static let maximumExpressionHeight = 64

  private let tokens: [(token: TemplateToken, line: Int)]
  private var index = 0
  private var statementDepth = 0
  private var loopDepth = 0
  /// How many expressions are being parsed one inside the other.
  var expressionDepth = 0

  private init(_ source: String) throws(ChatTemplateError) {
    tokens = try TemplateLexer.tokens(of: source)
  }

  static func statements(of source: String) throws(ChatTemplateError) -> [TemplateStatement] {
    var parser = try TemplateParser(source)
    let (body, _) = try parser.parseBody(until: [])
    return body
  }

  // MARK: Tokens

  /// The last token is always `end`, and is never passed.
  var token: TemplateToken { tokens[index].token }
  var line: Int { tokens[index].line }
  var following: TemplateToken { tokens[min(index + 1, tokens.count - 1)].token }

  mutating func advance() { if index + 1 < tokens.count { index += 1 } }

  mutating func accept(_ expected: TemplateToken) -> Bool {
    guard token == expected else { return false }
    advance()
    return true
  }

  mutating func acceptSymbol(_ symbol: String) -> Bool { accept(.symbol(symbol)) }
  mutating func acceptName(_ name: String) -> Bool { accept(.name(name)) }

  func failure(_ reason: String) -> ChatTemplateError {
    ChatTemplateError(.syntax, line: line, reason)
  }

  mutating func expect(_ expected: TemplateToken, _ words: String) throws(ChatTemplateError) {
    guard accept(expected) else { throw failure("expected \(words)") }
  }

  mutating func expectName(_ words: String) throws(ChatTemplateError) -> String {
    guard case .name(let name) = token else { throw failure("expected \(words)") }
    advance()
    return name
  }

  /// Refuses more arguments or parameters than any template has a use for.
  func checkArgumentCount(_ count: Int) throws(ChatTemplateError) {
    guard count <= TemplateArguments.maximumCount else {
      throw ChatTemplateError(
        .limit, line: line, "more than \(TemplateArguments.maximumCount) arguments")
    }
  }

  // MARK: Statements

  /// Parses up to a statement that begins with one of the words, and past the word.
  private mutating func parseBody(
    until words: [String]
  ) throws(ChatTemplateError) -> (body: [TemplateStatement], word: String) {
    statementDepth += 1
    defer { statementDepth -= 1 }
    guard statementDepth <= Self.maximumStatementDepth else {
      throw ChatTemplateError(.limit, line: line, "statements nest too deeply")
    }
    var body: [TemplateStatement] = []
    while true {
      let line = line
      switch token {
      case .end:
        guard words.isEmpty else {
          throw failure("the template ends where \(words.joined(separator: " or ")) is missing")
        }
        return (body, "")
      case .text(let text):
        advance()
        body.append(TemplateStatement(kind: .text(TemplateString(given: text)), line: line))
      case .outputBegin:
        advance()
        let value = try parseTuple()
        try expect(.outputEnd, "}} after an expression")
        body.append(TemplateStatement(kind: .output(value), line: line))
      case .statementBegin:
        advance()
        let word = try expectName("the name of a statement")
        if words.contains(word) { return (body, word) }
        let kind = try parseStatement(word, line: line)
        body.append(TemplateStatement(kind: kind, line: line))
      default: throw failure("unexpected token")
      }
    }
  }

  private mutating func parseStatement(
    _ word: String, line: Int
  ) throws(ChatTemplateError) -> TemplateStatement.Kind {
    switch word {
    case "if": return try parseBranches()
    case "for": return try parseLoop()
    case "set": return try parseSet()
    case "macro": return try parseMacro()
    case "generation":
      try expectStatementEnd()
      return .group(try parseBlock(until: "endgeneration"))
    case "break", "continue":
      guard loopDepth > 0 else { throw failure("\(word) is outside a loop") }
      try expectStatementEnd()
      return word == "break" ? .exitLoop : .continueLoop
    case "block", "call", "do", "extends", "filter", "from", "import", "include", "with":
      throw ChatTemplateError(.unsupported, line: line, "the statement \(word) is not supported")
    default: throw ChatTemplateError(.syntax, line: line, "unknown statement \(word)")
    }
  }

  private mutating func expectStatementEnd() throws(ChatTemplateError) {
    try expect(.statementEnd, "%} at the end of a statement")
  }

  /// The statements up to the one word, and past the end of its tag.
  private mutating func parseBlock(
    until word: String
  ) throws(ChatTemplateError) -> [TemplateStatement] {
    let (body, _) = try parseBody(until: [word])
    if word == "endmacro", case .name = token { advance() }
    try expectStatementEnd()
    return body
  }

  private mutating func parseBranches() throws(ChatTemplateError) -> TemplateStatement.Kind {
    var branches: [TemplateStatement.Branch] = []
    while true {
      let condition = try parseTuple()
      try expectStatementEnd()
      let (body, word) = try parseBody(until: ["elif", "else", "endif"])
      branches.append(TemplateStatement.Branch(condition: condition, body: body))
      if word == "elif" { continue }
      try expectStatementEnd()
      return .branches(branches, otherwise: word == "else" ? try parseBlock(until: "endif") : [])
    }
  }

  private mutating func parseLoop() throws(ChatTemplateError) -> TemplateStatement.Kind {
    let target = try parseTarget(allowsAttribute: false)
    guard acceptName("in") else { throw failure("expected in") }
    let sequence = try parseTuple(allowsConditional: false)
    let filter = acceptName("if") ? try parseExpression() : nil
    if token == .name("recursive") {
      throw ChatTemplateError(.unsupported, line: line, "recursive loops are not supported")
    }
    try expectStatementEnd()
    loopDepth += 1
    let (body, word) = try parseBody(until: ["else", "endfor"])
    loopDepth -= 1
    try expectStatementEnd()
    let otherwise = word == "else" ? try parseBlock(until: "endfor") : []
    return .loop(
      TemplateStatement.Loop(
        target: target, sequence: sequence, filter: filter, body: body, otherwise: otherwise))
  }

  private mutating func parseTarget(
    allowsAttribute: Bool
  ) throws(ChatTemplateError) -> TemplateStatement.Target {
    let isBracketed = acceptSymbol("(")
    let first = try expectName("a name to assign to")
    if allowsAttribute, !isBracketed, acceptSymbol(".") {
      let attribute = try expectName("the name of an attribute")
      return .attribute(of: TemplateName(first), TemplateName(attribute))
    }
    var names = [TemplateName(first)]
    var isTuple = false
    while acceptSymbol(",") {
      isTuple = true
      guard case .name(let name) = token, name != "in" else { break }
      advance()
      names.append(TemplateName(name))
    }
    if isBracketed { try expect(.symbol(")"), "a closing parenthesis") }
    return isTuple ? .names(names) : .name(names[0])
  }

  private mutating func parseSet() throws(ChatTemplateError) -> TemplateStatement.Kind {
    let target = try parseTarget(allowsAttribute: true)
    if acceptSymbol("=") {
      let value = try parseTuple()
      try expectStatementEnd()
      return .set(target, value)
    }
    if token == .symbol("|") {
      throw ChatTemplateError(.unsupported, line: line, "filters of a set block are not supported")
    }
    try expectStatementEnd()
    return .capture(target, try parseBlock(until: "endset"))
  }

  private mutating func parseMacro() throws(ChatTemplateError) -> TemplateStatement.Kind {
    let name = TemplateName(try expectName("the name of a macro"))
    try expect(.symbol("("), "an opening parenthesis")
    var parameters: [(name: TemplateName, value: TemplateExpression?)] = []
    while !acceptSymbol(")") {
      if !parameters.isEmpty { try expect(.symbol(","), "a comma") }
      let parameter = TemplateName(try expectName("the name of a parameter"))
      try checkArgumentCount(parameters.count + 1)
      parameters.append((parameter, acceptSymbol("=") ? try parseExpression() : nil))
    }
    try expectStatementEnd()
    let outerLoopDepth = loopDepth
    loopDepth = 0
    defer { loopDepth = outerLoopDepth }
    let body = try parseBlock(until: "endmacro")
    return .macro(TemplateStatement.Macro(name: name, parameters: parameters, body: body))
  }
}
