/// The tokens of a byte-level vocabulary as bytes, with the way back from bytes to ids.
///
/// All token bytes stand in one array; the index is an open-addressing hash table over it.
struct BPEVocabulary: Sendable {
  /// What each token is for, in id order.
  let kinds: [TokenizerDescription.TokenKind]
  private var bytes: [UInt8] = []
  /// Where each token begins in `bytes`, and one more for the end.
  private var offsets: [Int] = [0]
  /// Ids, or -1 for a free place; the capacity is a power of two.
  private var places: [Int32]

  /// Checks and indexes the tokens of a description.
  init(_ description: TokenizerDescription) throws(TokenizerError) {
    let tokens = description.tokens
    guard !tokens.isEmpty else { throw .emptyVocabulary }
    guard tokens.count < Int(Int32.max) else { throw .tooManyTokens(count: tokens.count) }
    guard tokens.count == description.kinds.count else {
      throw .kindCount(tokens: tokens.count, kinds: description.kinds.count)
    }
    kinds = description.kinds
    var capacity = 16
    while capacity < tokens.count * 2 { capacity *= 2 }
    places = Array(repeating: -1, count: capacity)
    offsets.reserveCapacity(tokens.count + 1)
    for index in tokens.indices {
      try appendBytes(of: tokens[index], index: index)
      guard offsets[index] < bytes.count else { throw .emptyToken(index) }
      offsets.append(bytes.count)
      try insert(index)
    }
  }

  var count: Int { kinds.count }

  /// Whether text with this token in it means the token, before anything is cut or merged.
  func isSpecial(_ id: Int) -> Bool { kinds[id] == .control || kinds[id] == .userDefined }

  /// The bytes that a token stands for.
  func bytes(of id: Int) -> ArraySlice<UInt8> { bytes[offsets[id]..<offsets[id + 1]] }

  /// The token that stands for some bytes.
  func id(of slice: ArraySlice<UInt8>) -> Int? {
    var place = firstPlace(of: slice)
    while places[place] >= 0 {
      let id = Int(places[place])
      if bytes(of: id) == slice { return id }
      place = (place + 1) & (places.count - 1)
    }
    return nil
  }

  /// Normal tokens are written in the alphabet; tokens of other kinds stand for their own text.
  private mutating func appendBytes(of token: String, index: Int) throws(TokenizerError) {
    switch kinds[index] {
    case .control, .userDefined, .unknown, .unused:
      bytes.append(contentsOf: token.utf8)
    case .normal, .byte:
      for scalar in token.unicodeScalars {
        guard let byte = ByteLevelAlphabet.byte(for: scalar) else {
          throw .tokenOutsideAlphabet(index, scalar: scalar.value)
        }
        bytes.append(byte)
      }
    }
  }

  private mutating func insert(_ id: Int) throws(TokenizerError) {
    let slice = bytes(of: id)
    var place = firstPlace(of: slice)
    while places[place] >= 0 {
      let other = Int(places[place])
      if bytes(of: other) == slice { throw .duplicateToken(id, first: other) }
      place = (place + 1) & (places.count - 1)
    }
    places[place] = Int32(id)
  }

  /// The standard hasher is seeded per process, so that no file can be made to collide.
  private func firstPlace(of slice: ArraySlice<UInt8>) -> Int {
    var hasher = Hasher()
    for byte in slice { hasher.combine(byte) }
    return hasher.finalize() & (places.count - 1)
  }
}
