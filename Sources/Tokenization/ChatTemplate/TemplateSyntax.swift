/// A name in a template's source, ready to be looked up.
struct TemplateName: Sendable {
  let text: String
  let key: TemplateKey
  /// The method of that name, if there is one.
  let method: TemplateMethod?

  init(_ text: String) {
    self.text = text
    key = TemplateKey(given: text)
    method = TemplateMethod(rawValue: text)
  }
}

/// An expression of a template.
struct TemplateExpression: Sendable {
  indirect enum Kind: Sendable {
    case literal(TemplateValue)
    case name(TemplateName)
    case list([TemplateExpression], isTuple: Bool)
    case mapping([(key: TemplateExpression, value: TemplateExpression)])
    case attribute(TemplateExpression, TemplateName)
    case item(TemplateExpression, TemplateExpression)
    case slice(
      TemplateExpression, from: TemplateExpression?, to: TemplateExpression?,
      step: TemplateExpression?)
    case call(TemplateExpression, TemplateArguments)
    case filter(TemplateExpression, TemplateFilter, TemplateArguments)
    case test(TemplateExpression, TemplateTest, TemplateArguments)
    case not(TemplateExpression)
    case negate(TemplateExpression)
    case and(TemplateExpression, TemplateExpression)
    case or(TemplateExpression, TemplateExpression)
    case arithmetic(String, TemplateExpression, TemplateExpression)
    case comparison(TemplateExpression, [(symbol: String, operand: TemplateExpression)])
    case conditional(
      TemplateExpression, then: TemplateExpression, otherwise: TemplateExpression?)
  }

  let kind: Kind
  let line: Int
  /// The height of the tree; the parser limits it, so that evaluating cannot exhaust the stack.
  let height: Int
}

/// What stands in the parentheses of a call, filter or test.
struct TemplateArguments: Sendable {
  /// Of a call, and of the parameters of a macro.
  static let maximumCount = 255

  var positional: [TemplateExpression] = []
  var named: [(name: TemplateName, value: TemplateExpression)] = []

  var all: [TemplateExpression] { positional + named.map(\.value) }
}

/// A statement of a template, or text between statements.
struct TemplateStatement: Sendable {
  /// What `set` and `for` assign to.
  enum Target: Sendable {
    case name(TemplateName)
    case names([TemplateName])
    case attribute(of: TemplateName, TemplateName)
  }

  struct Branch: Sendable {
    var condition: TemplateExpression
    var body: [TemplateStatement]
  }

  struct Loop: Sendable {
    var target: Target
    var sequence: TemplateExpression
    var filter: TemplateExpression?
    var body: [TemplateStatement]
    var otherwise: [TemplateStatement]
  }

  struct Macro: Sendable {
    var name: TemplateName
    var parameters: [(name: TemplateName, value: TemplateExpression?)]
    var body: [TemplateStatement]
  }

  enum Kind: Sendable {
    case text(TemplateString)
    case output(TemplateExpression)
    case branches([Branch], otherwise: [TemplateStatement])
    case loop(Loop)
    case set(Target, TemplateExpression)
    /// `{% set name %} … {% endset %}`.
    case capture(Target, [TemplateStatement])
    /// Statements between tags that change nothing, such as `{% generation %}`.
    case group([TemplateStatement])
    case macro(Macro)
    case exitLoop
    case continueLoop
  }

  let kind: Kind
  let line: Int
}
