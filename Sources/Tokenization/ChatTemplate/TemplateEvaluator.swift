/// Runs the statements of a template, within bounds on steps, bytes and nesting.
struct TemplateEvaluator {
  /// Macros that call each other, one inside the other.
  static let maximumCallDepth = 8
  static let maximumValueDepth = 64

  struct Loop {
    var elements: [TemplateValue]
    var index: Int
  }

  enum Flow {
    case onward
    case exitLoop
    case continueLoop
  }

  let limits: ChatTemplate.Limits
  private(set) var output: BoundedText
  private var steps = 0
  private var scopes: [[String: TemplateValue]]
  private var callDepth = 0
  private var macros: [TemplateStatement.Macro] = []
  var loops: [Loop] = []
  var namespaces: [TemplateMapping] = []

  init(variables: [String: TemplateValue], limits: ChatTemplate.Limits) {
    self.limits = limits
    output = BoundedText(maximumBytes: limits.maximumOutputBytes)
    var globals: [String: TemplateValue] = [:]
    for function in TemplateFunction.allCases { globals[function.rawValue] = .function(function) }
    scopes = [globals.merging(variables) { $1 }]
  }

  // MARK: Bounds

  /// Counts work done: one step is an expression, an element, or 32 bytes of text.
  mutating func charge(_ count: Int, line: Int) throws(ChatTemplateError) {
    steps += count
    guard steps <= limits.maximumSteps else {
      throw ChatTemplateError(.limit, line: line, "more than \(limits.maximumSteps) steps")
    }
  }

  /// A new text, charged for.
  mutating func text(_ text: String, line: Int) throws(ChatTemplateError) -> TemplateValue {
    try charge(1 + text.utf8.count / 32, line: line)
    return .string(text)
  }

  /// A new list or tuple, charged for and checked.
  mutating func list(
    _ elements: [TemplateValue], isTuple: Bool = false, line: Int
  ) throws(ChatTemplateError) -> TemplateValue {
    try charge(1 + elements.count, line: line)
    for element in elements { try checkPlain(element, line: line) }
    return .list(TemplateList(elements, isTuple: isTuple))
  }

  func checkPlain(_ value: TemplateValue, line: Int) throws(ChatTemplateError) {
    guard value.isPlain else {
      throw ChatTemplateError(.unsupported, line: line, "\(value.typeName) as an element")
    }
    guard value.depth < Self.maximumValueDepth else {
      throw ChatTemplateError(.limit, line: line, "values nest too deeply")
    }
  }

  /// What a value prints, charged for.
  mutating func printed(_ value: TemplateValue, line: Int) throws(ChatTemplateError) -> String {
    if case .string(let text) = value { return text }
    var buffer = BoundedText(maximumBytes: limits.maximumOutputBytes)
    value.print(into: &buffer)
    try checkFull(buffer, line: line)
    try charge(1 + buffer.text.utf8.count / 32, line: line)
    return buffer.text
  }

  func checkFull(_ buffer: BoundedText, line: Int) throws(ChatTemplateError) {
    guard !buffer.isFull else {
      throw ChatTemplateError(
        .limit, line: line, "more than \(buffer.maximumBytes) bytes of output")
    }
  }

  // MARK: Names

  func lookUp(_ name: String) -> TemplateValue {
    for scope in scopes.reversed() {
      if let value = scope[name] { return value }
    }
    return .undefined("'\(name)' is undefined")
  }

  private mutating func assign(_ name: String, _ value: TemplateValue) {
    scopes[scopes.count - 1][name] = value
  }

  private mutating func assign(
    _ target: TemplateStatement.Target, _ value: TemplateValue, line: Int
  ) throws(ChatTemplateError) {
    switch target {
    case .name(let name): assign(name, value)
    case .names(let names):
      let elements = try elements(of: value, line: line)
      guard elements.count == names.count else {
        throw ChatTemplateError(
          .type, line: line, "\(elements.count) values for \(names.count) names")
      }
      for (name, element) in zip(names, elements) { assign(name, element) }
    case .attribute(let name, let attribute):
      guard case .namespace(let index) = lookUp(name) else {
        throw ChatTemplateError(.type, line: line, "'\(name)' is no namespace")
      }
      try checkPlain(value, line: line)
      namespaces[index][key: attribute] = value
    }
  }

  // MARK: Statements

  mutating func run(_ statements: [TemplateStatement]) throws(ChatTemplateError) -> Flow {
    for statement in statements {
      let line = statement.line
      try charge(1, line: line)
      var flow = Flow.onward
      switch statement.kind {
      case .text(let text):
        output.append(text)
        try checkFull(output, line: line)
      case .output(let expression):
        output.append(try printed(try evaluate(expression), line: line))
        try checkFull(output, line: line)
      case .branches(let branches, let otherwise):
        flow = try run(branches, otherwise: otherwise)
      case .loop(let loop): flow = try run(loop, line: line)
      case .set(let target, let expression):
        try assign(target, try evaluate(expression), line: line)
      case .capture(let target, let body):
        let captured = try capture(line: line) { (self) throws(ChatTemplateError) in
          flow = try self.run(body)
        }
        try assign(target, captured, line: line)
      case .group(let body): flow = try run(body)
      case .macro(let macro):
        try charge(16, line: line)
        macros.append(macro)
        assign(macro.name, .macro(macros.count - 1))
      case .exitLoop: flow = .exitLoop
      case .continueLoop: flow = .continueLoop
      }
      if flow != .onward { return flow }
    }
    return .onward
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
    _ loop: TemplateStatement.Loop, line: Int
  ) throws(ChatTemplateError) -> Flow {
    var elements = try elements(of: try evaluate(loop.sequence), line: line)
    scopes.append([:])
    defer { scopes.removeLast() }
    if let filter = loop.filter {
      var kept: [TemplateValue] = []
      for element in elements {
        try assign(loop.target, element, line: line)
        if try evaluate(filter).isTrue { kept.append(element) }
      }
      elements = kept
    }
    guard !elements.isEmpty else {
      scopes[scopes.count - 1] = [:]
      return try run(loop.otherwise)
    }
    loops.append(Loop(elements: elements, index: 0))
    defer { loops.removeLast() }
    for index in elements.indices {
      try charge(1, line: line)
      loops[loops.count - 1].index = index
      scopes[scopes.count - 1] = ["loop": .loop(loops.count - 1)]
      try assign(loop.target, elements[index], line: line)
      if try run(loop.body) == .exitLoop { break }
    }
    return .onward
  }

  /// The text that some statements print, in place of printing it.
  private mutating func capture(
    line: Int, _ body: (inout TemplateEvaluator) throws(ChatTemplateError) -> Void
  ) throws(ChatTemplateError) -> TemplateValue {
    var outer = BoundedText(maximumBytes: limits.maximumOutputBytes)
    swap(&outer, &output)
    defer { swap(&outer, &output) }
    try body(&self)
    return try text(output.text, line: line)
  }

  /// What a macro prints; it sees the names of the outermost scope and its parameters.
  mutating func call(
    macro index: Int, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    let macro = macros[index]
    let line = arguments.line
    guard callDepth < Self.maximumCallDepth else {
      throw ChatTemplateError(.limit, line: line, "macros call each other too deeply")
    }
    let values = try arguments.bound(to: macro.parameters.map(\.name), of: macro.name)
    var outer = [scopes[0], [:]]
    swap(&outer, &scopes)
    callDepth += 1
    defer {
      // The first scope is shared: what it held stays what it was.
      swap(&outer, &scopes)
      callDepth -= 1
    }
    for (parameter, value) in zip(macro.parameters, values) {
      let name = parameter.name
      if let value {
        assign(name, value)
      } else if let standard = parameter.value {
        assign(name, try evaluate(standard))
      } else {
        assign(name, .undefined("parameter '\(name)' was not given"))
      }
    }
    return try capture(line: line) { (self) throws(ChatTemplateError) in
      _ = try self.run(macro.body)
    }
  }
}

/// The values that a function, method, filter or test is called with.
struct TemplateCallArguments {
  var positional: [TemplateValue] = []
  var named: [(name: String, value: TemplateValue)] = []
  var line: Int

  /// The values in the order of the parameters; nil for those not given.
  func bound(
    to parameters: [String], of name: String
  ) throws(ChatTemplateError) -> [TemplateValue?] {
    guard positional.count <= parameters.count else {
      throw ChatTemplateError(
        .type, line: line, "\(name) takes \(parameters.count) arguments, not \(positional.count)")
    }
    var values: [TemplateValue?] = positional
    values += Array(repeating: nil, count: parameters.count - positional.count)
    for (key, value) in named {
      guard let index = parameters.firstIndex(of: key), values[index] == nil else {
        throw ChatTemplateError(.type, line: line, "\(name) cannot take the argument \(key)")
      }
      values[index] = value
    }
    return values
  }
}
