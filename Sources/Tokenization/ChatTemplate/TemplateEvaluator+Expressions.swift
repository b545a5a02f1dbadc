// What the expressions of a template are worth.

extension TemplateEvaluator {
  mutating func evaluate(
    _ expression: TemplateExpression
  ) throws(ChatTemplateError) -> TemplateValue {
    let outer = try budget.enter(line: expression.line)
    defer { budget.leave(to: outer) }
    try budget.spend(1)
    switch expression.kind {
    case .literal(let value): return value
    case .name(let name): return try lookUp(name)
    case .list(let elements, let isTuple): return try evaluateList(elements, isTuple: isTuple)
    case .mapping(let entries): return try evaluateMapping(entries)
    case .attribute(let target, let name):
      return try attribute(name.key, of: try evaluate(target))
    case .item(let target, let key):
      let value = try evaluate(target)
      return try item(try evaluate(key), of: value)
    case .slice(let target, let from, let to, let step):
      return try evaluateSlice(of: target, from: from, to: to, step: step)
    case .call(let callee, let arguments): return try evaluateCall(callee, arguments)
    case .filter(let operand, let filter, let arguments):
      let value = try evaluate(operand)
      return try apply(filter, to: value, try evaluate(arguments: arguments))
    case .test(let operand, let test, let arguments):
      let value = try evaluate(operand)
      return .boolean(try passes(test, value, try evaluate(arguments: arguments)))
    case .not(let operand): return .boolean(!(try evaluate(operand).isTrue))
    case .negate(let operand): return try negated(try evaluate(operand))
    case .and(let left, let right):
      let value = try evaluate(left)
      return value.isTrue ? try evaluate(right) : value
    case .or(let left, let right):
      let value = try evaluate(left)
      return value.isTrue ? value : try evaluate(right)
    case .arithmetic(let symbol, let left, let right):
      let value = try evaluate(left)
      return try arithmetic(symbol, value, try evaluate(right))
    case .comparison(let first, let others): return try evaluateComparison(first, others)
    case .conditional(let condition, let then, let otherwise):
      if try evaluate(condition).isTrue { return try evaluate(then) }
      guard let otherwise else { return .undefined(.condition) }
      return try evaluate(otherwise)
    }
  }

  private mutating func evaluateList(
    _ expressions: [TemplateExpression], isTuple: Bool
  ) throws(ChatTemplateError) -> TemplateValue {
    var builder = try TemplateListBuilder(reserving: expressions.count, &budget)
    for expression in expressions { try builder.append(try evaluate(expression), &budget) }
    return .list(TemplateList(builder, isTuple: isTuple))
  }

  private mutating func evaluateMapping(
    _ entries: [(key: TemplateExpression, value: TemplateExpression)]
  ) throws(ChatTemplateError) -> TemplateValue {
    var mapping = TemplateMapping()
    for entry in entries {
      guard case .string(let text) = try evaluate(entry.key) else {
        throw failure(.unsupported, "a key that is no string")
      }
      let key = try TemplateKey(text, &budget)
      try mapping.set(key, try evaluate(entry.value), &budget)
    }
    return .mapping(mapping)
  }

  mutating func evaluate(
    arguments: TemplateArguments
  ) throws(ChatTemplateError) -> TemplateCallArguments {
    var result = TemplateCallArguments(line: budget.line)
    for expression in arguments.positional { result.positional.append(try evaluate(expression)) }
    for (name, value) in arguments.named { result.named.append((name, try evaluate(value))) }
    return result
  }

  // MARK: Parts of values

  /// The elements that a loop goes through.
  mutating func elements(of value: TemplateValue) throws(ChatTemplateError) -> [TemplateValue] {
    switch value {
    case .undefined: return []
    case .list(let list): return try list.elements(&budget)
    case .mapping(let mapping):
      var keys = try TemplateListBuilder(reserving: mapping.count, &budget)
      for entry in try mapping.entries(&budget) {
        try keys.append(.string(entry.key.text), &budget)
      }
      return keys.elements
    case .string(let text):
      var scalars = TemplateListBuilder()
      for scalar in try text.scalars(&budget) {
        try scalars.append(.string(String(scalar)), &budget)
      }
      return scalars.elements
    default: throw failure(.type, "\(value.type.rawValue) has no elements")
    }
  }

  mutating func attribute(
    _ name: TemplateKey, of value: TemplateValue
  ) throws(ChatTemplateError) -> TemplateValue {
    switch value {
    case .undefined(let undefined): throw try failure(undefined)
    case .mapping(let mapping):
      if let value = try mapping.value(for: name, &budget) { return value }
    case .namespace(let index):
      if let value = try namespaces[index].value(for: name, &budget) { return value }
    case .loop(let index):
      if let value = loopAttribute(try name.text.read(&budget), of: index) { return value }
    default: break
    }
    return .undefined(
      TemplateUndefined(cause: .attribute(of: value.type), name: name.text))
  }

  private func loopAttribute(_ name: String, of index: Int) -> TemplateValue? {
    guard loops.indices.contains(index) else { return nil }
    let (position, count) = (loops[index].index, loops[index].elements.count)
    switch name {
    case "index": return .integer(position + 1)
    case "index0": return .integer(position)
    case "revindex": return .integer(count - position)
    case "revindex0": return .integer(count - position - 1)
    case "first": return .boolean(position == 0)
    case "last": return .boolean(position == count - 1)
    case "length": return .integer(count)
    case "depth": return .integer(1)
    case "depth0": return .integer(0)
    case "previtem": return position > 0 ? loops[index].elements[position - 1] : nil
    case "nextitem": return position + 1 < count ? loops[index].elements[position + 1] : nil
    default: return nil
    }
  }

  private mutating func item(
    _ key: TemplateValue, of value: TemplateValue
  ) throws(ChatTemplateError) -> TemplateValue {
    if case .string(let name) = key {
      return try attribute(try TemplateKey(name, &budget), of: value)
    }
    if case .undefined(let undefined) = value { throw try failure(undefined) }
    let missing = TemplateUndefined.Cause.element(of: value.type)
    guard let index = key.integerValue else {
      let name = TemplateString(given: key.type.rawValue)
      return .undefined(TemplateUndefined(cause: missing, name: name))
    }
    switch value {
    case .list(let list):
      let place = index < 0 ? index + list.count : index
      if let element = list.element(at: place) { return element }
    case .string(let text):
      let scalars = try TemplateScalars(text, &budget)
      let place = index < 0 ? index + scalars.count : index
      if (0..<scalars.count).contains(place) {
        return .string(try TemplateString(utf8: scalars.utf8(of: place..<place + 1), &budget))
      }
    default: break
    }
    return .undefined(
      TemplateUndefined(cause: missing, name: TemplateString(given: String(index))))
  }

  private mutating func evaluateSlice(
    of target: TemplateExpression, from: TemplateExpression?, to: TemplateExpression?,
    step: TemplateExpression?
  ) throws(ChatTemplateError) -> TemplateValue {
    let value = try evaluate(target)
    func bound(
      _ expression: TemplateExpression?, _ evaluator: inout TemplateEvaluator
    ) throws(ChatTemplateError) -> Int? {
      guard let expression else { return nil }
      let value = try evaluator.evaluate(expression)
      if case .none = value { return nil }
      guard let index = value.integerValue else {
        throw evaluator.failure(.type, "\(value.type.rawValue) as the bound of a slice")
      }
      return index
    }
    let (from, to) = (try bound(from, &self), try bound(to, &self))
    let step = try bound(step, &self) ?? 1
    guard step != 0 else { throw failure(.type, "the step of a slice is 0") }
    switch value {
    case .list(let source):
      let indices = TemplateSlice(from: from, to: to, step: step, of: source.count)
      var slice = try TemplateListBuilder(reserving: indices.count, &budget)
      for index in indices.all {
        if let element = source.element(at: index) { try slice.append(element, &budget) }
      }
      return .list(TemplateList(slice, isTuple: source.isTuple))
    case .string(let source):
      let scalars = try TemplateScalars(source, &budget)
      let indices = TemplateSlice(from: from, to: to, step: step, of: scalars.count)
      return .string(try scalars.text(at: indices, &budget))
    case .undefined(let undefined): throw try failure(undefined)
    default: throw failure(.type, "\(value.type.rawValue) has no slices")
    }
  }

  // MARK: Calls

  private mutating func evaluateCall(
    _ callee: TemplateExpression, _ arguments: TemplateArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    if case .attribute(let target, let name) = callee.kind {
      let value = try evaluate(target)
      let bound = try evaluate(arguments: arguments)
      if let method = name.method, let result = try call(method, of: value, bound) {
        return result
      }
      return try call(try attribute(name.key, of: value), bound)
    }
    let function = try evaluate(callee)
    return try call(function, try evaluate(arguments: arguments))
  }

  private mutating func call(
    _ function: TemplateValue, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    try budget.spend(1)
    switch function {
    case .macro(let index): return try call(macro: index, arguments)
    case .function(.raiseException):
      let values = try arguments.bound(to: ["message"], of: "raise_exception")
      let message = try printed(values[0] ?? .string(""))
      throw failure(.raised, try message.read(&budget))
    case .function(.namespace):
      try budget.spend(memory: 128)
      namespaces.append(try mapping(from: arguments, of: "namespace"))
      return .namespace(namespaces.count - 1)
    case .function(.dict): return .mapping(try mapping(from: arguments, of: "dict"))
    case .function(.range): return try range(arguments)
    case .undefined(let undefined): throw try failure(undefined)
    default: throw failure(.type, "\(function.type.rawValue) cannot be called")
    }
  }

  private mutating func mapping(
    from arguments: TemplateCallArguments, of name: String
  ) throws(ChatTemplateError) -> TemplateMapping {
    var result = TemplateMapping()
    if let first = arguments.positional.first {
      guard case .mapping(let mapping) = first, arguments.positional.count == 1 else {
        throw failure(.type, "\(name) takes at most one mapping")
      }
      try mapping.payForCopy(&budget)
      result = mapping
    }
    for (key, value) in arguments.named { try result.set(key.key, value, &budget) }
    return result
  }

  private mutating func range(
    _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    let bounds = arguments.positional.compactMap(\.integerValue)
    guard bounds.count == arguments.positional.count, (1...3).contains(bounds.count),
      arguments.named.isEmpty
    else { throw failure(.type, "range takes one to three integers") }
    let first = bounds.count == 1 ? 0 : bounds[0]
    let end = bounds.count == 1 ? bounds[0] : bounds[1]
    let step = bounds.count == 3 ? bounds[2] : 1
    guard step != 0 else { throw failure(.type, "range with step 0") }
    var values = TemplateListBuilder()
    var next = first
    while step > 0 ? next < end : next > end {
      try values.append(.integer(next), &budget)
      let (sum, overflows) = next.addingReportingOverflow(step)
      if overflows { break }
      next = sum
    }
    return .list(TemplateList(values, isTuple: false))
  }
}
