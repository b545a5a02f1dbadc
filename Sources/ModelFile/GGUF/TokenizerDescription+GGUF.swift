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
    let index = TokenIndex(tokens)
    var merges: [Merge] = []
    merges.reserveCapacity(lines.count)
    for (number, line) in lines.enumerated() {
      do throws(TokenIndex.Fault) {
        merges.append(try index.merge(line: line).get())
      } catch {
        throw metadata.error(key, error.reason(number))
      }
    }
    return merges
  }
}
