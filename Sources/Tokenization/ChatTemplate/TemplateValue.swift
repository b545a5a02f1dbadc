/// A value in a chat template, with the meaning that Python gives it.
package enum TemplateValue: Sendable {
  /// What a missing name, attribute or element is: printed as nothing, and false.
  case undefined(TemplateUndefined)
  case none
  case boolean(Bool)
  case integer(Int)
  case real(Double)
  case string(TemplateString)
  case list(TemplateList)
  case mapping(TemplateMapping)
  /// Places in the evaluator's own tables; they never become elements of other values.
  case namespace(Int)
  case loop(Int)
  case macro(Int)
  case function(TemplateFunction)

  /// A text of the caller's, or a constant.
  package static func string(_ text: String) -> TemplateValue {
    .string(TemplateString(given: text))
  }

  /// A list of the caller's.
  package static func list(_ elements: [TemplateValue]) -> TemplateValue {
    .list(TemplateList(given: elements))
  }

  /// A mapping of the caller's with its keys in the order given; of equal keys the last counts.
  package static func mapping(_ entries: [(String, TemplateValue)]) -> TemplateValue {
    .mapping(TemplateMapping(given: entries))
  }
}

/// The functions that every template can call.
package enum TemplateFunction: String, Sendable, CaseIterable {
  case raiseException = "raise_exception"
  case namespace
  case range
  case dict
}

/// The types of values, as errors call them.
enum TemplateType: String, Sendable {
  case undefined = "undefined"
  case none = "none"
  case boolean = "a boolean"
  case integer = "an integer"
  case real = "a number"
  case string = "a string"
  case list = "a list"
  case mapping = "a mapping"
  case namespace = "a namespace"
  case loop = "a loop"
  case function = "a function"
}

/// Why a value is undefined. The sentence is made only where an error needs it.
package struct TemplateUndefined: Sendable {
  enum Cause: Sendable {
    case name
    case parameter
    case attribute(of: TemplateType)
    case element(of: TemplateType)
    case noElement
    case condition
    case argument
  }

  let cause: Cause
  /// The name or index that was looked for.
  var name = TemplateString(given: "")

  func reason(_ budget: inout TemplateBudget) throws(ChatTemplateError) -> String {
    let name = try self.name.read(&budget)
    return switch cause {
    case .name: "'\(name)' is undefined"
    case .parameter: "parameter '\(name)' was not given"
    case .attribute(let type): "\(type.rawValue) has no attribute '\(name)'"
    case .element(let type): "\(type.rawValue) has no element \(name)"
    case .noElement: "there is no element to take"
    case .condition: "the condition is false and has no else"
    case .argument: "an argument is missing"
    }
  }
}

extension TemplateValue {
  static func undefined(_ cause: TemplateUndefined.Cause) -> TemplateValue {
    .undefined(TemplateUndefined(cause: cause))
  }

  var depth: Int {
    switch self {
    case .list(let list): list.depth
    case .mapping(let mapping): mapping.depth
    default: 0
    }
  }

  /// Whether the value may be an element of a list or mapping.
  var isPlain: Bool {
    switch self {
    case .namespace, .loop, .macro, .function: false
    default: true
    }
  }

  /// What an `if` makes of the value.
  var isTrue: Bool {
    switch self {
    case .undefined, .none: false
    case .boolean(let value): value
    case .integer(let value): value != 0
    case .real(let value): value != 0
    case .string(let value): !value.isEmpty
    case .list(let list): !list.isEmpty
    case .mapping(let mapping): !mapping.isEmpty
    case .namespace, .loop, .macro, .function: true
    }
  }

  /// The value as a number, where it is one (a boolean is 0 or 1).
  var number: Double? {
    switch self {
    case .boolean(let value): value ? 1 : 0
    case .integer(let value): Double(value)
    case .real(let value): value
    default: nil
    }
  }

  /// The value as an integer, where it is one (a boolean is 0 or 1).
  var integerValue: Int? {
    switch self {
    case .boolean(let value): value ? 1 : 0
    case .integer(let value): value
    default: nil
    }
  }

  var isUndefined: Bool {
    if case .undefined = self { return true }
    return false
  }

  var type: TemplateType {
    switch self {
    case .undefined: .undefined
    case .none: .none
    case .boolean: .boolean
    case .integer: .integer
    case .real: .real
    case .string: .string
    case .list: .list
    case .mapping: .mapping
    case .namespace: .namespace
    case .loop: .loop
    case .macro, .function: .function
    }
  }
}
