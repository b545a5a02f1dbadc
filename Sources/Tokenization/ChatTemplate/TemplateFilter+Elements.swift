// The filters over the elements of lists, mappings and strings.

extension TemplateEvaluator {
  mutating func applyPairs(
    _ filter: TemplateFilter, to value: TemplateValue
  ) throws(ChatTemplateError) -> TemplateValue {
    guard case .mapping(let mapping) = value else {
      if value.isUndefined { return .list([]) }
      throw failure(.type, "\(value.type.rawValue) has no items")
    }
    var pairs = try TemplateListBuilder(reserving: mapping.count, &budget)
    for entry in try mapping.entries(&budget) {
      var pair = try TemplateListBuilder(reserving: 2, &budget)
      try budget.spend(memory: 32)
      try pair.append(.string(entry.key.text), &budget)
      try pair.append(entry.value, &budget)
      try pairs.append(.list(TemplateList(pair, isTuple: true)), &budget)
    }
    let list = TemplateList(pairs, isTuple: false)
    guard filter == .dictsort else { return .list(list) }
    return try madeList(try sorted(try list.elements(&budget), by: .integer(0)))
  }

  mutating func applyElements(
    _ filter: TemplateFilter, to value: TemplateValue, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    if filter == .reverse, case .string(let text) = value {
      let scalars = try TemplateScalars(text, &budget)
      let indices = TemplateSlice(from: nil, to: nil, step: -1, of: scalars.count)
      return .string(try scalars.text(at: indices, &budget))
    }
    let elements = try elements(of: value)
    switch filter {
    case .first: return elements.first ?? .undefined(.noElement)
    case .last: return elements.last ?? .undefined(.noElement)
    case .list: return try madeList(elements)
    case .reverse: return try madeList(elements.reversed())
    case .join: return try joined(elements, arguments)
    case .sum: return try total(of: elements, arguments)
    case .unique: return try unique(elements)
    case .max, .min:
      let ordered = try sorted(elements, by: nil)
      return (filter == .min ? ordered.first : ordered.last) ?? .undefined(.noElement)
    default:
      let names = ["reverse", "case_sensitive", "attribute"]
      let values = try arguments.bound(to: names, of: "sort")
      let ordered = try sorted(
        elements, by: values[2], ignoresCase: values[1]?.isTrue != true)
      return try madeList(values[0]?.isTrue == true ? ordered.reversed() : ordered)
    }
  }

  /// A list of elements, each paid for.
  private mutating func madeList(
    _ elements: some Collection<TemplateValue>
  ) throws(ChatTemplateError) -> TemplateValue {
    var builder = try TemplateListBuilder(reserving: elements.count, &budget)
    for element in elements { try builder.append(element, &budget) }
    return .list(TemplateList(builder, isTuple: false))
  }

  private mutating func joined(
    _ elements: [TemplateValue], _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    let values = try arguments.bound(to: ["d", "attribute"], of: "join")
    let separator = try printed(values[0] ?? .string(""))
    var result = TemplateTextBuilder()
    for (index, element) in elements.enumerated() {
      if index > 0 { try result.append(separator, &budget) }
      try part(values[1], of: element).print(into: &result, &budget)
    }
    return .string(try result.finished(&budget))
  }

  private mutating func total(
    of elements: [TemplateValue], _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    let values = try arguments.bound(to: ["attribute", "start"], of: "sum")
    var total = values[1] ?? .integer(0)
    for element in elements {
      total = try arithmetic("+", total, try part(values[0], of: element))
    }
    return total
  }

  /// Each element with all that were kept: in the square of their number, and paid for as such.
  private mutating func unique(
    _ elements: [TemplateValue]
  ) throws(ChatTemplateError) -> TemplateValue {
    var kept = TemplateListBuilder()
    next: for element in elements {
      for other in kept.elements where try areEqual(element, other) { continue next }
      try kept.append(element, &budget)
    }
    return .list(TemplateList(kept, isTuple: false))
  }

  /// An attribute, element or path of them (`a.b`); the value itself where none is asked for.
  private mutating func part(
    _ name: TemplateValue?, of value: TemplateValue
  ) throws(ChatTemplateError) -> TemplateValue {
    try budget.spend(1)
    guard let name else { return value }
    if case .string(let path) = name {
      var result = value
      var pieces = try TextPieces(of: path, between: TemplateString(given: "."), &budget)
      while let piece = try pieces.next(&budget) {
        let name = try TemplateString(utf8: piece, &budget)
        result = try attribute(try TemplateKey(name, &budget), of: result)
      }
      return result
    }
    if let index = name.integerValue, case .list(let list) = value,
      let element = list.element(at: index)
    {
      return element
    }
    return .undefined(.element(of: value.type))
  }

  private mutating func sorted(
    _ elements: [TemplateValue], by name: TemplateValue?, ignoresCase: Bool = true
  ) throws(ChatTemplateError) -> [TemplateValue] {
    var keyed: [(key: TemplateValue, value: TemplateValue)] = []
    try budget.makeRoom(for: 80 * elements.count)
    keyed.reserveCapacity(elements.count)
    for element in elements {
      var key = try part(name, of: element)
      if ignoresCase, case .string(let text) = key {
        key = .string(try text.changed(toUpper: false, &budget))
      }
      keyed.append((key, element))
    }
    // The evaluator's own budget pays: the sort's is that budget, and comparing needs both.
    var budget = budget
    defer { self.budget = budget }
    keyed = try TemplateSort.sorted(keyed, &budget) { a, b, budget throws(ChatTemplateError) in
      swap(&self.budget, &budget)
      defer { swap(&self.budget, &budget) }
      return try self.order(a.key, b.key) < 0
    }
    return keyed.map(\.value)
  }

  /// `map`, and the filters that keep or drop elements by a test.
  mutating func applyChoice(
    _ filter: TemplateFilter, to value: TemplateValue, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    var rest = arguments
    var name: TemplateValue?
    if filter == .map, let index = rest.named.firstIndex(where: { $0.name.text == "attribute" }) {
      name = rest.named[index].value
    } else if filter == .map || filter == .selectattr || filter == .rejectattr {
      guard !rest.positional.isEmpty else {
        throw failure(.type, "\(filter.rawValue) lacks an argument")
      }
      let first = rest.positional.removeFirst()
      if filter == .map { return try mapped(value, filter: first, rest) }
      name = first
    }
    var test: TemplateTest?
    if filter != .map, !rest.positional.isEmpty {
      let name = try printed(rest.positional.removeFirst()).read(&budget)
      test = TemplateTest(name: name)
      guard test != nil else { throw failure(.unsupported, "unknown test \(name)") }
    }
    let keeps = filter == .select || filter == .selectattr
    var result = TemplateListBuilder()
    for element in try elements(of: value) {
      let part = try part(name, of: element)
      if filter == .map {
        try result.append(part, &budget)
        continue
      }
      let holds = try test.map { test throws(ChatTemplateError) in
        try passes(test, part, rest)
      }
      if (holds ?? part.isTrue) == keeps { try result.append(element, &budget) }
    }
    return .list(TemplateList(result, isTuple: false))
  }

  private mutating func mapped(
    _ value: TemplateValue, filter named: TemplateValue, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateValue {
    let name = try printed(named).read(&budget)
    guard let filter = TemplateFilter(rawValue: name) else {
      throw failure(.unsupported, "unknown filter \(name)")
    }
    guard filter != .map else { throw failure(.unsupported, "map of map") }
    var result = TemplateListBuilder()
    for element in try elements(of: value) {
      try result.append(try apply(filter, to: element, arguments), &budget)
    }
    return .list(TemplateList(result, isTuple: false))
  }
}
