/// How text is cut into pieces before byte pairs merge; no merge crosses a cut.
///
/// Each pre-tokenizer is a regular expression in its model's definition. Here they are scanners,
/// written by hand, that find the same cuts in one pass (`PreTokenScanner`).
package enum PreTokenizer: Hashable, Sendable {
  /// `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
  case gpt2
  /// Every scalar of `\p{N}` stands alone; what is between them is cut like `gpt2`.
  case smollm
  /// `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|`
  /// `\s*[\r\n]+|\s+(?!\S)|\s+`, on text in normalisation form C.
  case qwen2
  /// Like `qwen2` with `\p{N}{1,3}`, without normalisation; a piece that is a token stays whole.
  case llama3

  /// The names that model files use, in the order in which errors list them.
  package static let names = ["default", "gpt-2", "smollm", "qwen2", "llama-bpe"]

  /// The pre-tokenizer of a name in a model file.
  package init?(name: String) {
    switch name {
    case "default", "gpt-2": self = .gpt2
    case "smollm": self = .smollm
    case "qwen2": self = .qwen2
    case "llama-bpe": self = .llama3
    default: return nil
    }
  }

  /// Whether text is put into normalisation form C first.
  package var composes: Bool { self == .qwen2 }

  /// Whether a piece that is itself a token is taken without merging.
  package var takesWholeTokens: Bool { self == .llama3 }

  /// The pieces of valid UTF-8 as byte ranges, in order and without gaps.
  package func pieces(of bytes: [UInt8]) -> [Range<Int>] {
    var scanner = PreTokenScanner(self, bytes: bytes, range: 0..<bytes.count)
    var result: [Range<Int>] = []
    while let piece = scanner.next() { result.append(piece) }
    return result
  }
}
