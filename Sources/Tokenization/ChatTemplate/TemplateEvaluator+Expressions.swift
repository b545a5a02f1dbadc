// What the expressions of a template are worth.

extension TemplateEvaluator {
  mutating func evaluate(
    _ expression: TemplateExpression
  ) throws(ChatTemplateError) -> TemplateValue {
    let line = expression.line
    try charge(1, line: line)
    switch expression.kind {
    case .literal(let value): return value
    case .name(let name): return lookUp(name)
    case .list(let elements, let isTuple):
      return try list(try evaluateAll(elements), isTuple: isTuple, line: line)
    case .mapping(let entries): return try evaluateMapping(entries, line: line)
    case .attribute(let target, let name):
      return try attribute(name, of: try evaluate(target), line: line)
    case .item(let target, let key):
      let value = try evaluate(target)
      return try item(try evaluate(key), of: value, line: line)
    case .slice(let target, let from, let to, let step):
      return try evaluateSlice(of: target, from: from, to: to, step: step, line: line)
    case .call(let callee, let arguments):
      return try evaluateCall(callee, arguments, line: line)
    case .filter(let operand, let name, let arguments):
      let value = try evaluate(operand)
      return try apply(
        filter: name, to: value, try evaluate(arguments: arguments, line: line))
    case .test(let operand, let name, let arguments):
      let value = try evaluate(operand)
      let bound = try evaluate(arguments: arguments, line: line)
      return .boolean(try passes(test: name, value, bound))
    case .not(let operand): return .boolean(!(try evaluate(operand).isTrue))
    case .negate(let operand): return try negated(try evaluate(operand), line: line)
    case .and(let left, let right):
      let value = try evaluate(left)
      return value.isTrue ? try evaluate(right) : value
    case .or(let left, let right):
      let value = try evaluate(left)
      return value.isTrue ? value : try evaluate(right)
    case .arithmetic(let symbol, let left, let right):
      let value = try evaluate(left)
      return try arithmetic(symbol, value, try evaluate(right), line: line)
    case .comparison(let first, let others): return try evaluateComparison(first, others)
    case .conditional(let condition, let then, let otherwise):
      if try evaluate(condition).isTrue { return try evaluate(then) }
      guard let otherwise else { return .undefined("the condition is false and has no else") }
      return try evaluate(otherwise)
    }
  }

  private mutating func evaluateAll(
    _ expressions: [TemplateExpression]
  ) throws(ChatTemplateError) -> [TemplateValue] {
    var values: [TemplateValue] = []
    for expression in expressions { values.append(try evaluate(expression)) }
    return values
  }

  private mutating func evaluateMapping(
    _ entries: [(key: TemplateExpression, value: TemplateExpression)], line: Int
  ) throws(ChatTemplateError) -> TemplateValue {
    var mapping = TemplateMapping()
    for entry in entries {
      guard case .string(let key) = try evaluate(entry.key) else {
        throw ChatTemplateError(.unsupported, line: line, "a key that is no string")
      }
      let value = try evaluate(entry.value)
      try checkPlain(value, line: line)
      try charge(mapping.entries.count, line: line)
      mapping[key: key] = value
    }
    return .mapping(mapping)
  }

  mutating func evaluate(
    arguments: TemplateArguments, line: Int
  ) throws(ChatTemplateError) -> TemplateCallArguments {
    var result = TemplateCallArguments(line: line)
    result.positional = try evaluateAll(arguments.positional)
    for (name, value) in arguments.named { result.named.append((name, try evaluate(value))) }
    return result
  }

  // MARK: Parts of values

  /// The elements that a loop goes through.
  mutating func elements(
    of value: TemplateValue, line: Int
  ) throws(ChatTemplateError) -> [TemplateValue] {
    let elements: [TemplateValue]
    switch value {
    case .undefined: elements = []
    case .list(let list): elements = list.elements
    case .mapping(let mapping): elements = mapping.entries.map { .string($0.key) }
    case .string(let text):
      try charge(text.utf8.count, line: line)
      elements = text.unicodeScalars.map { .string(String($0)) }
    default:
      throw ChatTemplateError(.type, line: line, "\(value.typeName) has no elements")
    }
    try charge(elements.count / 8, line: line)
    return elements
  }

  mutating func attribute(
    _ name: String, of value: TemplateValue, line: Int
  ) throws(ChatTemplateError) -> TemplateValue {
    switch value {
    case .undefined(let reason): throw ChatTemplateError(.undefined, line: line, reason)
    case .mapping(let mapping):
      try charge(mapping.entries.count / 8, line: line)
      if let value = mapping[key: name] { return value }
    case .namespace(let index):
      if let value = namespaces[index][key: name] { return value }
    case .loop(let index):
      if let value = loopAttribute(name, of: index) { return value }
    default: break
    }
    return .undefined("\(value.typeName) has no attribute '\(name)'")
  }

  private func loopAttribute(_ name: String, of index: Int) -> TemplateValue? {
    guard loops.indices.contains(index) else { return nil }
    let (position, elements) = (loops[index].index, loops[index].elements)
    switch name {
    case "index": return .integer(position + 1)
    case "index0": return .integer(position)
    case "revindex": return .integer(elements.count - position)
    case "revindex0": return .integer(elements.count - position - 1)
    case "first": return .boolean(position == 0)
    case "last": return .boolean(position == elements.count - 1)
    case "length": return .integer(elements.count)
    case "depth": return .integer(1)
    case "depth0": return .integer(0)
    case "previtem": return position > 0 ? elements[position - 1] : nil
    case "nextitem": return position + 1 < elements.count ? elements[position + 1] : nil
    default: return nil
    }
  }

  private mutating func item(
    _ key: TemplateValue, of value: TemplateValue, line: Int
  ) throws(ChatTemplateError) -> TemplateValue {
    if case .string(let name) = key { return try attribute(name, of: value, line: line) }
    if case .undefined(let reason) = value {
      throw ChatTemplateError(.undefined, line: line, reason)
    }
    guard let index = key.integerValue else {
      return .undefined("\(value.typeName) has no element \(key.typeName)")
    }
    let missing = TemplateValue.undefined("\(value.typeName) has no element \(index)")
    switch value {
    case .list(let list):
      let place = index < 0 ? index + list.elements.count : index
      return list.elements.indices.contains(place) ? list.elements[place] : missing
    case .string(let text):
      try charge(text.utf8.count / 32, line: line)
      let scalars = text.unicodeScalars
      let place = index < 0 ? index + scalars.count : index
      guard place >= 0,
        let found = scalars.index(scalars.startIndex, offsetBy: place, limitedBy: scalars.endIndex),
        found < scalars.endIndex
      else { return missing }
      return .string(String(scalars[found]))
    default: return missing
    }
  }

  private mutating func evaluateSlice(
    of target: TemplateExpression, from: TemplateExpression?, to: TemplateExpression?,
    step: TemplateExpression?, line: Int
  ) throws(ChatTemplateError) -> TemplateValue {
    let value = try evaluate(target)
    func bound(
      _ expression: TemplateExpression?, _ evaluator: inout TemplateEvaluator
    ) throws(ChatTemplateError) -> Int? {
      guard let expression else { return nil }
      let value = try evaluator.evaluate(expression)
      if case .none = value { return nil }
      guard let index = value.integerValue else {
        throw ChatTemplateError(.type, line: line, "\(value.typeName) as the bound of a slice")
      }
      return index
    }
    let (from, to) = (try bound(from, &self), try bound(to, &self))
    let step = try bound(step, &self) ?? 1
    guard step != 0 else { throw ChatTemplateError(.type, line: line, "the step of a slice is 0") }
    switch value {
    case .list(let source):
      let indices = Self.indices(from: from, to: to, step: step, count: source.elements.count)
      return try list(indices.map { source.elements[$0] }, isTuple: source.isTuple, line: line)
    case .string(let source):
      try charge(source.utf8.count / 32, line: line)
      let scalars = Array(source.unicodeScalars)
      let indices = Self.indices(from: from, to: to, step: step, count: scalars.count)
      var result = String.UnicodeScalarView()
      for index in indices { result.append(scalars[index]) }
      return try text(String(result), line: line)
    case .undefined(let reason): throw ChatTemplateError(.undefined, line: line, reason)
    default: throw ChatTemplateError(.type, line: line, "\(value.typeName) has no slices")
    }
  }

  /// The indices of a Python slice over so many elements.
  static func indices(from: Int?, to: Int?, step: Int, count: Int) -> [Int] {
    func clamped(_ bound: Int, _ range: ClosedRange<Int>) -> Int {
      let index = bound < 0 ? bound + count : bound
      return min(max(index, range.lowerBound), range.upperBound)
    }
    // Steps longer than the whole take one element, whatever their length.
    let stride = min(max(step, -count - 1), count + 1)
    if step > 0 {
      let first = from.map { clamped($0, 0...count) } ?? 0
      let end = to.map { clamped($0, 0...count) } ?? count
      return Array(Swift.stride(from: first, to: end, by: stride))
    }
    let first = from.map { clamped($0, -1...count - 1) } ?? count - 1
    let end = to.map { clamped($0, -1...count - 1) } ?? -1
    return Array(Swift.stride(from: first, to: end, by: stride))
  }

  // MARK: Calls

  private mutating func evaluateCall(
    _ callee: TemplateExpression, _ arguments: TemplateArguments, line: Int
  ) throws(ChatTemplateError) -> TemplateValue {
    if case .attribute(let target, let name) = callee.kind {
      let value = try evaluate(target)
      let bound = try evaluate(arguments: arguments, line: line)
      if let result = try call(method: name, of: value, bound) { return result }
      return try call(try attribute(name, of: value, line: line), bound)
    }
    let function = try evaluate(callee)
    return try call(function, try evaluate(arguments: arguments, line: line))
  }

  private mutating func call(
    _ function: TemplateValue, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    let line = arguments.line
    switch function {
    case .macro(let index): return try call(macro: index, arguments)
    case .function(.raiseException):
      let values = try arguments.bound(to: ["message"], of: "raise_exception")
      let message = try printed(values[0] ?? .string(""), line: line)
      throw ChatTemplateError(.raised, line: line, message)
    case .function(.namespace):
      namespaces.append(try mapping(from: arguments, of: "namespace"))
      return .namespace(namespaces.count - 1)
    case .function(.dict): return .mapping(try mapping(from: arguments, of: "dict"))
    case .function(.range): return try range(arguments)
    case .undefined(let reason): throw ChatTemplateError(.undefined, line: line, reason)
    default:
      throw ChatTemplateError(.type, line: line, "\(function.typeName) cannot be called")
    }
  }

  private mutating func mapping(
    from arguments: TemplateCallArguments, of name: String
  ) throws(ChatTemplateError) -> TemplateMapping {
    try charge(16, line: arguments.line)
    var result = TemplateMapping()
    if let first = arguments.positional.first {
      guard case .mapping(let mapping) = first, arguments.positional.count == 1 else {
        throw ChatTemplateError(.type, line: arguments.line, "\(name) takes at most one mapping")
      }
      result = mapping
    }
    for (key, value) in arguments.named {
      try checkPlain(value, line: arguments.line)
      result[key: key] = value
    }
    return result
  }

  private mutating func range(
    _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    let line = arguments.line
    let bounds = arguments.positional.compactMap(\.integerValue)
    guard bounds.count == arguments.positional.count, (1...3).contains(bounds.count),
      arguments.named.isEmpty
    else { throw ChatTemplateError(.type, line: line, "range takes one to three integers") }
    let first = bounds.count == 1 ? 0 : bounds[0]
    let end = bounds.count == 1 ? bounds[0] : bounds[1]
    let step = bounds.count == 3 ? bounds[2] : 1
    guard step != 0 else { throw ChatTemplateError(.type, line: line, "range with step 0") }
    var values: [TemplateValue] = []
    var next = first
    while step > 0 ? next < end : next > end {
      try charge(1, line: line)
      values.append(.integer(next))
      let (sum, overflows) = next.addingReportingOverflow(step)
      if overflows { break }
      next = sum
    }
    return .list(values)
  }
}
