import TensorCore
import Tokenization

extension TokenizerDescription {
  /// The tokenizer that a file's `tokenizer.*` keys describe; nil where the file has none.
  ///
  /// Merges become pairs of ids here; everything else is taken as it stands.
  init?(metadata: GGUFMetadata) throws(InputError) {
    guard let model = try metadata.string("tokenizer.ggml.model") else { return nil }
    let tokensKey = "tokenizer.ggml.tokens"
    guard let tokens = try metadata.strings(tokensKey) else {
      throw metadata.error(tokensKey, "the key is missing")
    }
    guard !tokens.isEmpty else { throw metadata.error(tokensKey, "no tokens") }

    /// A token id under a key of its own.
    func token(_ name: String) throws(InputError) -> Int? {
      let key = "tokenizer.ggml.\(name)_token_id"
      guard let id = try metadata.count(key) else { return nil }
      guard id < tokens.count else {
        throw metadata.error(key, "\(id) is not one of \(tokens.count) tokens")
      }
      return id
    }

    self.init(
      model: model,
      preTokenizer: try metadata.string("tokenizer.ggml.pre") ?? "default",
      tokens: tokens,
      kinds: try Self.kinds(metadata, tokenCount: tokens.count),
      merges: try Self.merges(metadata, tokens: tokens),
      beginToken: try token("bos"),
      endToken: try token("eos"),
      unknownToken: try token("unknown"),
      paddingToken: try token("padding"),
      // GGUF's default: SentencePiece vocabularies (`llama`) begin every text, others do not.
      addsBeginToken: try metadata.bool("tokenizer.ggml.add_bos_token") ?? (model == "llama"),
      chatTemplate: try metadata.string("tokenizer.chat_template"))
  }

  /// What each token is for; all normal where the file does not say.
  private static func kinds(
    _ metadata: GGUFMetadata, tokenCount: Int
  ) throws(InputError) -> [TokenKind] {
    let key = "tokenizer.ggml.token_type"
    guard let numbers = try metadata.integers(key) else {
      return [TokenKind](repeating: .normal, count: tokenCount)
    }
    guard numbers.count == tokenCount else {
      throw metadata.error(key, "\(numbers.count) entries for \(tokenCount) tokens")
    }
    var kinds: [TokenKind] = []
    kinds.reserveCapacity(tokenCount)
    for (index, number) in numbers.enumerated() {
      guard let raw = UInt8(exactly: number), let kind = TokenKind(rawValue: raw) else {
        throw metadata.error(key, "token \(index) has the unknown type \(number)")
      }
      kinds.append(kind)
    }
    return kinds
  }

  /// Each merge is two tokens with one space between them.
  private static func merges(
    _ metadata: GGUFMetadata, tokens: [String]
  ) throws(InputError) -> [Merge] {
    let key = "tokenizer.ggml.merges"
    guard let lines = try metadata.strings(key) else { return [] }
    // Bytes are compared, not characters: canonically equivalent tokens are different tokens.
    var ids: [[UInt8]: UInt32] = [:]
    ids.reserveCapacity(tokens.count)
    for (id, token) in tokens.enumerated() where ids[Array(token.utf8)] == nil {
      ids[Array(token.utf8)] = UInt32(truncatingIfNeeded: id)
    }
    var merges: [Merge] = []
    merges.reserveCapacity(lines.count)
    for (index, line) in lines.enumerated() {
      let bytes = Array(line.utf8)
      guard let space = bytes.dropFirst().firstIndex(of: 0x20), space + 1 < bytes.count else {
        throw metadata.error(key, "merge \(index) is not two tokens with a space between them")
      }
      guard let left = ids[Array(bytes[..<space])] else {
        throw metadata.error(key, "the left part of merge \(index) is not in the vocabulary")
      }
      guard let right = ids[Array(bytes[(space + 1)...])] else {
        throw metadata.error(key, "the right part of merge \(index) is not in the vocabulary")
      }
      merges.append(Merge(left: left, right: right))
    }
    return merges
  }
}
