/// Runs the statements of a template against a budget.
struct TemplateEvaluator {
  struct Loop {
    var elements: [TemplateValue]
    var index: Int
  }

  enum Flow {
    case onward
    case exitLoop
    case continueLoop
  }

  var budget: TemplateBudget
  private(set) var output = TemplateTextBuilder()
  private var scopes: [[TemplateKey: TemplateValue]]
  private var macros: [TemplateStatement.Macro] = []
  var loops: [Loop] = []
  var namespaces: [TemplateMapping] = []

  private static let loopKey = TemplateKey(given: "loop")

  init(variables: [String: TemplateValue], limits: ChatTemplate.Limits) {
    budget = TemplateBudget(limits)
    var globals: [TemplateKey: TemplateValue] = [:]
    for function in TemplateFunction.allCases {
      globals[TemplateKey(given: function.rawValue)] = .function(function)
    }
    for (name, value) in variables { globals[TemplateKey(given: name)] = value }
    scopes = [globals]
  }

  /// An error at the line that is being evaluated.
  func failure(_ kind: ChatTemplateError.Kind, _ reason: String) -> ChatTemplateError {
    budget.failure(kind, reason)
  }

  /// The error of using a value that is undefined.
  mutating func failure(_ undefined: TemplateUndefined) throws(ChatTemplateError)
    -> ChatTemplateError
  {
    failure(.undefined, try undefined.reason(&budget))
  }

  // MARK: Names

  mutating func lookUp(_ name: TemplateName) throws(ChatTemplateError) -> TemplateValue {
    for scope in scopes.reversed() {
      try budget.spend(1)
      if let value = scope[name.key] { return value }
    }
    return .undefined(TemplateUndefined(cause: .name, name: name.key.text))
  }

  private mutating func assign(_ name: TemplateName, _ value: TemplateValue) {
    scopes[scopes.count - 1][name.key] = value
  }

  private mutating func assign(
    _ target: TemplateStatement.Target, _ value: TemplateValue
  ) throws(ChatTemplateError) {
    try budget.spend(1)
    switch target {
    case .name(let name): assign(name, value)
    case .names(let names):
      let elements = try elements(of: value)
      guard elements.count == names.count else {
        throw failure(.type, "\(elements.count) values for \(names.count) names")
      }
      try budget.spend(names.count)
      for (name, element) in zip(names, elements) { assign(name, element) }
    case .attribute(let name, let attribute):
      guard case .namespace(let index) = try lookUp(name) else {
        throw failure(.type, "'\(name.text)' is no namespace")
      }
      try namespaces[index].set(attribute.key, value, &budget)
    }
  }

  // MARK: Statements

  mutating func run(_ statements: [TemplateStatement]) throws(ChatTemplateError) -> Flow {
    let outer = try budget.enter(line: budget.line)
    defer { budget.leave(to: outer) }
    for statement in statements {
      budget.line = statement.line
      try budget.spend(1)
      let flow = try run(statement)
      if flow != .onward { return flow }
    }
    return .onward
  }

  private mutating func run(_ statement: TemplateStatement) throws(ChatTemplateError) -> Flow {
    var flow = Flow.onward
    switch statement.kind {
    case .text(let text): try output.append(text, &budget)
    case .output(let expression):
      try (try evaluate(expression)).print(into: &output, &budget)
    case .branches(let branches, let otherwise):
      return try run(branches, otherwise: otherwise)
    case .loop(let loop): return try run(loop)
    case .set(let target, let expression): try assign(target, try evaluate(expression))
    case .capture(let target, let body):
      let captured = try capture { (self) throws(ChatTemplateError) in
        flow = try self.run(body)
      }
      try assign(target, captured)
    case .group(let body): return try run(body)
    case .macro(let macro):
      try budget.spend(memory: 128)
      macros.append(macro)
      assign(macro.name, .macro(macros.count - 1))
    case .exitLoop: return .exitLoop
    case .continueLoop: return .continueLoop
    }
    return flow
  }

  private mutating func run(
    _ branches: [TemplateStatement.Branch], otherwise: [TemplateStatement]
  ) throws(ChatTemplateError) -> Flow {
    for branch in branches where try evaluate(branch.condition).isTrue {
      return try run(branch.body)
    }
    return try run(otherwise)
  }

  private mutating func run(
    _ loop: TemplateStatement.Loop
  ) throws(ChatTemplateError) -> Flow {
    var elements = try elements(of: try evaluate(loop.sequence))
    scopes.append([:])
    defer { scopes.removeLast() }
    if let filter = loop.filter {
      var kept = TemplateListBuilder()
      for element in elements {
        try assign(loop.target, element)
        if try evaluate(filter).isTrue { try kept.append(element, &budget) }
      }
      elements = kept.elements
    }
    guard !elements.isEmpty else {
      scopes[scopes.count - 1] = [:]
      return try run(loop.otherwise)
    }
    loops.append(Loop(elements: elements, index: 0))
    defer { loops.removeLast() }
    for index in elements.indices {
      // A scope of its own is an allocation.
      try budget.spend(3)
      loops[loops.count - 1].index = index
      scopes[scopes.count - 1] = [Self.loopKey: .loop(loops.count - 1)]
      try assign(loop.target, elements[index])
      if try run(loop.body) == .exitLoop { break }
    }
    return .onward
  }

  /// The text that some statements print, in place of printing it.
  private mutating func capture(
    _ body: (inout TemplateEvaluator) throws(ChatTemplateError) -> Void
  ) throws(ChatTemplateError) -> TemplateValue {
    var outer = TemplateTextBuilder()
    swap(&outer, &output)
    defer { swap(&outer, &output) }
    try body(&self)
    return .string(try output.finished(&budget))
  }

  /// What a macro prints; it sees the names of the outermost scope and its parameters.
  mutating func call(
    macro index: Int, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    let macro = macros[index]
    try budget.spend(4 + 2 * macro.parameters.count)
    let values = try bind(arguments, to: macro)
    var outer = [scopes[0], [:]]
    swap(&outer, &scopes)
    // The first scope is shared: what it held stays what it was.
    defer { swap(&outer, &scopes) }
    for (parameter, value) in zip(macro.parameters, values) {
      let name = parameter.name
      if let value {
        assign(name, value)
      } else if let standard = parameter.value {
        assign(name, try evaluate(standard))
      } else {
        assign(name, .undefined(TemplateUndefined(cause: .parameter, name: name.key.text)))
      }
    }
    return try capture { (self) throws(ChatTemplateError) in
      _ = try self.run(macro.body)
    }
  }

  private mutating func bind(
    _ arguments: TemplateCallArguments, to macro: TemplateStatement.Macro
  ) throws(ChatTemplateError) -> [TemplateValue?] {
    try budget.spend(arguments.named.count * macro.parameters.count / 8)
    return try arguments.bound(toKeys: macro.parameters.map(\.name.key), of: macro.name.text)
  }
}

/// The values that a function, method, filter or test is called with; the parser limits how many.
struct TemplateCallArguments {
  var positional: [TemplateValue] = []
  var named: [(name: TemplateName, value: TemplateValue)] = []
  var line: Int

  /// The values in the order of the parameters; nil for those not given.
  func bound(
    toKeys parameters: [TemplateKey], of name: String
  ) throws(ChatTemplateError) -> [TemplateValue?] {
    guard positional.count <= parameters.count else {
      throw ChatTemplateError(
        .type, line: line, "\(name) takes \(parameters.count) arguments, not \(positional.count)")
    }
    var values: [TemplateValue?] = positional
    values += Array(repeating: nil, count: parameters.count - positional.count)
    for (key, value) in named {
      guard let index = parameters.firstIndex(of: key.key), values[index] == nil else {
        throw ChatTemplateError(.type, line: line, "\(name) cannot take the argument \(key.text)")
      }
      values[index] = value
    }
    return values
  }

  /// The values in the order of a function's parameters, of which there are a few.
  func bound(
    to parameters: [String], of name: String
  ) throws(ChatTemplateError) -> [TemplateValue?] {
    if named.isEmpty, positional.count <= parameters.count {
      return positional + Array(repeating: nil, count: parameters.count - positional.count)
    }
    return try bound(toKeys: parameters.map { TemplateKey(given: $0) }, of: name)
  }
}
