/// A value in a chat template, with the meaning that Python gives it.
///
/// Strings are sequences of Unicode scalars: two are equal when their scalars are, and never by
/// canonical equivalence.
package enum TemplateValue: Sendable {
  /// What a missing name, attribute or element is: printed as nothing, and false.
  case undefined(String)
  case none
  case boolean(Bool)
  case integer(Int)
  case real(Double)
  case string(String)
  case list(TemplateList)
  case mapping(TemplateMapping)
  /// Places in the evaluator's own tables; they never become elements of other values.
  case namespace(Int)
  case loop(Int)
  case macro(Int)
  case function(TemplateFunction)

  /// A list of values.
  package static func list(_ elements: [TemplateValue]) -> TemplateValue {
    .list(TemplateList(elements))
  }

  /// A mapping with its keys in the order given; of equal keys the last counts.
  package static func mapping(_ entries: [(String, TemplateValue)]) -> TemplateValue {
    .mapping(TemplateMapping(entries))
  }
}

/// The functions that every template can call.
package enum TemplateFunction: String, Sendable, CaseIterable {
  case raiseException = "raise_exception"
  case namespace
  case range
  case dict
}

/// A list or a tuple, and how deeply it nests.
package struct TemplateList: Sendable {
  package let elements: [TemplateValue]
  package let isTuple: Bool
  let depth: Int

  package init(_ elements: [TemplateValue], isTuple: Bool = false) {
    self.elements = elements
    self.isTuple = isTuple
    depth = 1 + (elements.map(\.depth).max() ?? 0)
  }
}

/// A mapping from strings that keeps its order, and how deeply it nests.
///
/// Looking up is linear: mappings in templates have a handful of keys.
package struct TemplateMapping: Sendable {
  package private(set) var entries: [(key: String, value: TemplateValue)] = []
  private(set) var depth = 1

  package init(_ entries: [(String, TemplateValue)] = []) {
    for (key, value) in entries { self[key: key] = value }
  }

  package subscript(key key: String) -> TemplateValue? {
    get { entries.first { $0.key.isIdentical(to: key) }?.value }
    set {
      guard let newValue else {
        entries.removeAll { $0.key.isIdentical(to: key) }
        return
      }
      depth = max(depth, 1 + newValue.depth)
      if let index = entries.firstIndex(where: { $0.key.isIdentical(to: key) }) {
        entries[index].value = newValue
      } else {
        entries.append((key, newValue))
      }
    }
  }
}

extension String {
  /// Whether two strings have the same scalars.
  func isIdentical(to other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension TemplateValue {
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
    case .list(let list): !list.elements.isEmpty
    case .mapping(let mapping): !mapping.entries.isEmpty
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

  /// What errors call the type.
  var typeName: String {
    switch self {
    case .undefined: "undefined"
    case .none: "none"
    case .boolean: "a boolean"
    case .integer: "an integer"
    case .real: "a number"
    case .string: "a string"
    case .list: "a list"
    case .mapping: "a mapping"
    case .namespace: "a namespace"
    case .loop: "a loop"
    case .macro, .function: "a function"
    }
  }
}
