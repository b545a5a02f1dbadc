// Token ids back to bytes and text.

extension BPETokenizer {
  /// The exact bytes that some ids stand for; they need not be whole UTF-8.
  package func decode(
    _ ids: some Sequence<Int32>, includingControlTokens: Bool = true
  ) throws(TokenizerError) -> [UInt8] {
    var result: [UInt8] = []
    for (index, id) in ids.enumerated() {
      try append(id, index: index, includingControlTokens: includingControlTokens, to: &result)
    }
    return result
  }

  /// The text that some ids stand for, with U+FFFD where their bytes are not UTF-8.
  package func decodeText(
    _ ids: some Sequence<Int32>, includingControlTokens: Bool = true
  ) throws(TokenizerError) -> String {
    let bytes = try decode(ids, includingControlTokens: includingControlTokens)
    return String(decoding: UTF8Text.repaired(bytes), as: UTF8.self)
  }

  func append(
    _ id: Int32, index: Int, includingControlTokens: Bool, to bytes: inout [UInt8]
  ) throws(TokenizerError) {
    guard id >= 0, Int(id) < vocabulary.count else { throw .idOutOfRange(index: index, id: id) }
    if !includingControlTokens, vocabulary.kinds[Int(id)] == .control { return }
    bytes += vocabulary.bytes(of: Int(id))
  }
}
