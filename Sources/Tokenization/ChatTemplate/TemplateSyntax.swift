/// An expression of a template.
struct TemplateExpression: Sendable {
  indirect enum Kind: Sendable {
    case literal(TemplateValue)
    case name(String)
    case list([TemplateExpression], isTuple: Bool)
    case mapping([(key: TemplateExpression, value: TemplateExpression)])
    case attribute(TemplateExpression, String)
    case item(TemplateExpression, TemplateExpression)
    case slice(
      TemplateExpression, from: TemplateExpression?, to: TemplateExpression?,
      step: TemplateExpression?)
    case call(TemplateExpression, TemplateArguments)
    case filter(TemplateExpression, String, TemplateArguments)
    case test(TemplateExpression, String, TemplateArguments)
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
  var positional: [TemplateExpression] = []
  var named: [(name: String, value: TemplateExpression)] = []

  var all: [TemplateExpression] { positional + named.map(\.value) }
}

/// A statement of a template, or text between statements.
struct TemplateStatement: Sendable {
  /// What `set` and `for` assign to.
  enum Target: Sendable {
    case name(String)
    case names([String])
    case attribute(of: String, String)
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
    var name: String
    var parameters: [(name: String, value: TemplateExpression?)]
    var body: [TemplateStatement]
  }

  enum Kind: Sendable {
    case text(String)
    case output(TemplateExpression)
    case branches([Branch], otherwise: [TemplateStatement])
    case loop(Loop)
    case set(Target, TemplateExpression)
    /// `{% set name %} … {% endset %}`, through filters where some are named.
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
