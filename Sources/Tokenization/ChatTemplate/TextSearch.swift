/// Looks for one text in others in linear time (Knuth, Morris and Pratt), whatever the texts.
struct TextSearch {
  let pattern: [UInt8]
  /// For each prefix, how much of it is still matched where the next byte differs.
  private var fallbacks: [Int] = []

  init(_ text: String) {
    pattern = Array(text.utf8)
    fallbacks = Array(repeating: 0, count: pattern.count)
    var matched = 0
    for index in pattern.indices.dropFirst() {
      while matched > 0, pattern[index] != pattern[matched] { matched = fallbacks[matched - 1] }
      if pattern[index] == pattern[matched] { matched += 1 }
      fallbacks[index] = matched
    }
  }

  /// The offset of the first match at or after a start.
  func firstMatch(in bytes: [UInt8], from start: Int) -> Int? {
    guard !pattern.isEmpty else { return start }
    var matched = 0
    for index in start..<bytes.count {
      while matched > 0, bytes[index] != pattern[matched] { matched = fallbacks[matched - 1] }
      if bytes[index] == pattern[matched] { matched += 1 }
      if matched == pattern.count { return index + 1 - matched }
    }
    return nil
  }

  /// The pieces of a text between matches, at most so many cuts from the left.
  func pieces(of text: String, maximumCuts: Int = .max) -> [String] {
    let bytes = Array(text.utf8)
    var pieces: [String] = []
    var start = 0
    while pieces.count < maximumCuts, let match = firstMatch(in: bytes, from: start) {
      pieces.append(String(decoding: bytes[start..<match], as: UTF8.self))
      start = match + pattern.count
    }
    pieces.append(String(decoding: bytes[start...], as: UTF8.self))
    return pieces
  }
}
