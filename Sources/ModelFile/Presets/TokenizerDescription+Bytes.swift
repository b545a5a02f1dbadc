import Tokenization

extension TokenizerDescription {
  /// A tokenizer for models whose own is not public: a token a byte, the marks of a chat, and names
  /// without text that fill the vocabulary up, so that every id a model can give stands for
  /// something.
  ///
  /// Ids 0…255 are the bytes, then `<|end|>`, `<|system|>`, `<|user|>`, `<|assistant|>`, and
  /// `<|unused-260|>` and on. There are no merges.
  package static func bytes(count: Int) -> TokenizerDescription {
    let marks = ["<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]
    precondition(count >= 256 + marks.count, "a vocabulary of \(count) has no room for the bytes")
    let unused = (256 + marks.count..<count).map { "<|unused-\($0)|>" }
    let alphabet = (0...255).map { ByteLevelAlphabet.text(of: CollectionOfOne(UInt8($0))) }
    var kinds = [TokenKind](repeating: .normal, count: 256)
    kinds += Array(repeating: .control, count: marks.count)
    kinds += Array(repeating: .unused, count: unused.count)
    return TokenizerDescription(
      model: "gpt2", preTokenizer: "default", tokens: alphabet + marks + unused, kinds: kinds,
      merges: [], endToken: 256, chatTemplate: chatTemplate)
  }

  private static let chatTemplate = """
    {% for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] \
    + '<|end|>' }}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}
    """
}
