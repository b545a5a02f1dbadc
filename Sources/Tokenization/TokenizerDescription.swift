/// A tokenizer as a model file describes it: data only, checked when a tokenizer is built from it.
public struct TokenizerDescription: Hashable, Sendable {
  /// What a vocabulary entry is for. Raw values are those of GGUF's `tokenizer.ggml.token_type`.
  public enum TokenKind: UInt8, Hashable, Sendable {
    case normal = 1
    case unknown = 2
    /// Matched in text before anything else and never split; hidden when decoding for display.
    case control = 3
    /// Matched in text like a control token, but visible.
    case userDefined = 4
    case unused = 5
    case byte = 6
  }

  /// The algorithm: `gpt2` is byte-level BPE.
  public var model: String
  /// The pre-tokenizer: `smollm`, `qwen2`, `gpt-2`, …
  public var preTokenizer: String
  /// The vocabulary in id order, in the byte-level alphabet.
  public var tokens: [String]
  /// What each token is for, in id order.
  public var kinds: [TokenKind]
  /// Merges in order of preference, as pairs of token ids.
  public var merges: [Merge]
  /// The token that begins a text, where the model has one.
  public var beginToken: Int?
  /// The token that ends a text.
  public var endToken: Int?
  /// The token for what the vocabulary cannot say.
  public var unknownToken: Int?
  /// The token that fills batches up.
  public var paddingToken: Int?
  /// Whether the model wants `beginToken` in front of every text.
  public var addsBeginToken: Bool
  /// The Jinja template that wraps messages, where the model has one.
  public var chatTemplate: String?

  /// A pair of adjacent tokens that becomes one.
  public struct Merge: Hashable, Sendable {
    /// The id of the first token.
    public var left: UInt32
    /// The id of the one right after it.
    public var right: UInt32
    /// A merge of two adjacent tokens.
    public init(left: UInt32, right: UInt32) {
      self.left = left
      self.right = right
    }
  }

  /// A description of exactly these parts, unchecked.
  public init(
    model: String, preTokenizer: String, tokens: [String], kinds: [TokenKind], merges: [Merge],
    beginToken: Int? = nil, endToken: Int? = nil, unknownToken: Int? = nil,
    paddingToken: Int? = nil, addsBeginToken: Bool = false, chatTemplate: String? = nil
  ) {
    self.model = model
    self.preTokenizer = preTokenizer
    self.tokens = tokens
    self.kinds = kinds
    self.merges = merges
    self.beginToken = beginToken
    self.endToken = endToken
    self.unknownToken = unknownToken
    self.paddingToken = paddingToken
    self.addsBeginToken = addsBeginToken
    self.chatTemplate = chatTemplate
  }
}
