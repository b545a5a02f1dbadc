/// Turns ids into text one at a time, and never shows half a character.
///
/// Bytes that begin a scalar are held back until the tokens that complete it have come; the pieces
/// put together are `decodeText` of all the ids.
package struct TokenStreamDecoder: Sendable {
  private let tokenizer: BPETokenizer
  private let includesControlTokens: Bool
  private var held: [UInt8] = []
  private var idCount = 0

  package init(_ tokenizer: BPETokenizer, includingControlTokens: Bool = false) {
    self.tokenizer = tokenizer
    includesControlTokens = includingControlTokens
  }

  /// The text that an id completes; empty while a character is incomplete.
  package mutating func append(_ id: Int32) throws(TokenizerError) -> String {
    try tokenizer.append(
      id, index: idCount, includingControlTokens: includesControlTokens, to: &held)
    idCount += 1
    let incomplete = UTF8Text.incompleteByteCount(atEndOf: held)
    let complete = Array(held.dropLast(incomplete))
    held.removeFirst(complete.count)
    return String(decoding: UTF8Text.repaired(complete), as: UTF8.self)
  }

  /// The text of what is still held back: U+FFFD where a character was never completed.
  package mutating func finish() -> String {
    defer { held.removeAll() }
    return String(decoding: UTF8Text.repaired(held), as: UTF8.self)
  }
}
