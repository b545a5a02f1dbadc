// Python's text operations that go by Unicode scalars.

extension Unicode.Scalar {
  /// What `str.strip` removes and `str.split` cuts at.
  fileprivate var isTemplateSpace: Bool {
    (0x1C...0x1F).contains(value) || ScalarClassTable.shared.kind(of: value).isWhitespace
  }
}

extension TemplateEvaluator {
  /// The text without some scalars at its ends: a set's, or white space.
  ///
  /// What stays is copied, and only what goes is paid for by the scalar.
  mutating func stripped(
    _ text: TemplateString, _ characters: TemplateString?, left: Bool, right: Bool
  ) throws(ChatTemplateError) -> TemplateString {
    var set: Set<Unicode.Scalar>?
    if let characters {
      try budget.spend(casesOf: characters.byteCount)
      try budget.makeRoom(for: 32 * characters.byteCount)
      set = Set(try characters.scalars(&budget))
    }
    func isStripped(_ scalar: Unicode.Scalar) -> Bool {
      set?.contains(scalar) ?? scalar.isTemplateSpace
    }
    var rest = try text.read(&budget).unicodeScalars[...]
    var count = 0
    func pay() throws(ChatTemplateError) {
      count += 1
      if set != nil || count % 2 == 0 { try budget.spend(1) }
    }
    while left, let first = rest.first, isStripped(first) {
      rest.removeFirst()
      try pay()
    }
    while right, let last = rest.last, isStripped(last) {
      rest.removeLast()
      try pay()
    }
    return count == 0 ? text : try TemplateString(String(rest), &budget)
  }

  /// The words of a text, at most so many cuts; what is left then is one piece.
  mutating func words(
    of text: TemplateString, maximumCuts: Int
  ) throws(ChatTemplateError) -> TemplateValue {
    var words = TemplateListBuilder()
    var rest = try text.scalars(&budget).drop { $0.isTemplateSpace }
    while !rest.isEmpty {
      let isLast = words.elements.count >= maximumCuts
      let word = isLast ? rest : rest.prefix { !$0.isTemplateSpace }
      try words.append(.string(try TemplateString(String(word), &budget)), &budget)
      rest = rest[word.endIndex...].drop { $0.isTemplateSpace }
    }
    return .list(TemplateList(words, isTuple: false))
  }

  /// The first scalar as a title has it, the rest in lower case.
  mutating func capitalized(
    _ text: TemplateString
  ) throws(ChatTemplateError) -> TemplateString {
    var result = TemplateTextBuilder()
    let scalars = try text.scalars(&budget)
    guard let first = scalars.first else { return text }
    try result.append(short: first.properties.titlecaseMapping, &budget)
    let rest = try TemplateString(String(scalars.dropFirst()), &budget)
    try result.append(try rest.changed(toUpper: false, &budget), &budget)
    return try result.finished(&budget)
  }

  /// Each word capitalized; words begin after white space, hyphens and opening brackets.
  mutating func titled(_ text: TemplateString) throws(ChatTemplateError) -> TemplateString {
    var result = TemplateTextBuilder()
    var beginsWord = true
    try budget.spend(casesOf: text.byteCount)
    for scalar in try text.scalars(&budget) {
      if scalar.isTemplateSpace || "-({[<".unicodeScalars.contains(scalar) {
        try result.append(short: String(scalar), &budget)
        beginsWord = true
        continue
      }
      let properties = scalar.properties
      try result.append(
        short: beginsWord ? properties.uppercaseMapping : properties.lowercaseMapping, &budget)
      beginsWord = false
    }
    return try result.finished(&budget)
  }

  /// The text with an indent in front of its lines.
  mutating func indented(
    _ source: TemplateString, _ arguments: TemplateCallArguments
  ) throws(ChatTemplateError) -> TemplateString {
    let values = try arguments.bound(to: ["width", "first", "blank"], of: "indent")
    var indent = TemplateString(given: String(repeating: " ", count: 4))
    switch values[0] {
    case .string(let text)?: indent = text
    case let width?:
      let count = min(max(width.integerValue ?? 4, 0), 256)
      indent = try TemplateString(String(repeating: " ", count: count), &budget)
    case nil: break
    }
    var result = TemplateTextBuilder()
    var pieces = try TextPieces(of: source, between: TemplateString(given: "\n"), &budget)
    var isFirst = true
    while let piece = try pieces.next(&budget) {
      if isFirst {
        if values[1]?.isTrue == true { try result.append(indent, &budget) }
      } else {
        try result.append(short: "\n", &budget)
        if !piece.isEmpty || values[2]?.isTrue == true { try result.append(indent, &budget) }
      }
      isFirst = false
      try result.append(utf8: piece, &budget)
    }
    return try result.finished(&budget)
  }

  /// A text as a number: nil where it is none, or has more digits than any number needs.
  mutating func number(
    in text: TemplateString
  ) throws(ChatTemplateError) -> (integer: Int?, real: Double?) {
    let trimmed = try stripped(text, nil, left: true, right: true)
    guard trimmed.byteCount <= 400 else { return (nil, nil) }
    try budget.spend(scalarsOf: trimmed.byteCount)
    let digits = try trimmed.read(&budget)
    return (Int(digits), Double(digits))
  }
}
