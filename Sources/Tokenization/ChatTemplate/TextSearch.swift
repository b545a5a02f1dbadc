/// Looks for one text in another in linear time (Knuth, Morris and Pratt), whatever the texts.
struct TextSearch {
  let pattern: [UInt8]
  /// For each prefix, how much of it is still matched where the next byte differs.
  private var fallbacks: [Int32] = []

  init(
    _ text: TemplateString, _ budget: inout TemplateBudget
  ) throws(ChatTemplateError) {
    try budget.spend(searching: 2 * text.byteCount)
    try budget.makeRoom(for: 8 * text.byteCount)
    pattern = try text.bytes(&budget)
    fallbacks = Array(repeating: 0, count: pattern.count)
    var matched = 0
    for index in pattern.indices.dropFirst() {
      while matched > 0, pattern[index] != pattern[matched] {
        matched = Int(fallbacks[matched - 1])
      }
      if pattern[index] == pattern[matched] { matched += 1 }
      fallbacks[index] = Int32(matched)
    }
  }

  /// The offset of the first match at or after a start; paid for chunk by chunk as it is looked for.
  func firstMatch(
    in bytes: [UInt8], from start: Int, _ budget: inout TemplateBudget
  ) throws(ChatTemplateError) -> Int? {
    guard !pattern.isEmpty else { return start }
    var matched = 0
    var chunk = start
    repeat {
      let end = min(chunk + 512, bytes.count)
      for index in chunk..<end {
        while matched > 0, bytes[index] != pattern[matched] {
          matched = Int(fallbacks[matched - 1])
        }
        if bytes[index] == pattern[matched] { matched += 1 }
        if matched == pattern.count {
          try budget.spend(searching: index - chunk)
          return index + 1 - matched
        }
      }
      try budget.spend(searching: end - chunk)
      chunk = end
    } while chunk < bytes.count
    return nil
  }
}

/// The pieces of a text between the matches of another, one after the other.
struct TextPieces {
  private let search: TextSearch
  private let bytes: [UInt8]
  private var start: Int? = 0
  private var remainingCuts: Int

  /// Cuts at most so many times from the left; the separator is not empty.
  init(
    of text: TemplateString, between separator: TemplateString, maximumCuts: Int = .max,
    _ budget: inout TemplateBudget
  ) throws(ChatTemplateError) {
    search = try TextSearch(separator, &budget)
    bytes = try text.bytes(&budget)
    remainingCuts = maximumCuts
  }

  /// Whether every piece has been taken.
  var isAtEnd: Bool { start == nil }

  /// The next piece; nil after the last.
  mutating func next(
    _ budget: inout TemplateBudget
  ) throws(ChatTemplateError) -> ArraySlice<UInt8>? {
    guard let first = start else { return nil }
    if remainingCuts > 0, let match = try search.firstMatch(in: bytes, from: first, &budget) {
      remainingCuts -= 1
      start = match + search.pattern.count
      return bytes[first..<match]
    }
    start = nil
    return bytes[first...]
  }
}
