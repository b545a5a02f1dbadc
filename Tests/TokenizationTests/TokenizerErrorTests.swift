import Testing
import Tokenization

@Suite("Descriptions that are no tokenizer")
struct TokenizerErrorTests {
  private typealias Merge = TokenizerDescription.Merge

  /// The 256 base tokens, `ab`, and a control token.
  private func valid() -> TokenizerDescription {
    var tokens = (0...255).map { ByteLevelAlphabet.text(of: [UInt8($0)]) }
    tokens += ["ab", "<end>"]
    var kinds = [TokenizerDescription.TokenKind](repeating: .normal, count: 257)
    kinds.append(.control)
    return TokenizerDescription(
      model: "gpt2", preTokenizer: "gpt-2", tokens: tokens, kinds: kinds,
      merges: [Merge(left: 0x61, right: 0x62)], endToken: 257)
  }

  private func expect(
    _ error: TokenizerError, _ change: (inout TokenizerDescription) -> Void
  ) {
    var description = valid()
    change(&description)
    #expect(throws: error) { try BPETokenizer(description) }
    #expect(!error.description.isEmpty)
  }

  @Test func theDescriptionAsItIs() throws {
    let tokenizer = try BPETokenizer(valid())
    #expect(tokenizer.encode("abba<end>") == [256, 0x62, 0x61, 257])
    #expect(tokenizer.stopTokens == [257])
    #expect(tokenizer.tokenCount == 258)
  }

  @Test func names() {
    expect(.unknownModel("llama")) { $0.model = "llama" }
    expect(.unknownPreTokenizer("tekken")) { $0.preTokenizer = "tekken" }
  }

  @Test func tokens() {
    expect(.emptyVocabulary) { $0.tokens = [] }
    expect(.kindCount(tokens: 258, kinds: 257)) { $0.kinds.removeLast() }
    expect(.emptyToken(256)) { $0.tokens[256] = "" }
    expect(.duplicateToken(256, first: 0x61)) { $0.tokens[256] = "a" }
    expect(.duplicateToken(257, first: 256)) { $0.tokens[257] = "ab" }
    expect(.tokenOutsideAlphabet(256, scalar: 0x20)) { $0.tokens[256] = "a b" }
    expect(.tokenOutsideAlphabet(256, scalar: 0x4E00)) { $0.tokens[256] = "\u{4E00}" }
    expect(.missingBaseByte(0x0A)) { $0.tokens[0x0A] = "zz" }
    expect(.missingBaseByte(0x7A)) { $0.tokens[0x7A] = "zz" }
  }

  @Test func mergesThatDoNotFit() {
    expect(.mergeOutsideVocabulary(merge: 0, token: 258)) { $0.merges[0].right = 258 }
    expect(.mergeOutsideVocabulary(merge: 0, token: .max)) { $0.merges[0].left = .max }
    expect(.mergeWithoutResult(merge: 1)) { $0.merges.append(Merge(left: 0x62, right: 0x61)) }
    expect(.duplicateMerge(1, first: 0)) { $0.merges.append($0.merges[0]) }
  }

  @Test func specialIDs() {
    expect(.specialTokenOutOfRange(role: "end", id: 258)) { $0.endToken = 258 }
    expect(.specialTokenOutOfRange(role: "begin", id: -1)) { $0.beginToken = -1 }
    expect(.specialTokenOutOfRange(role: "unknown", id: .max)) { $0.unknownToken = .max }
    expect(.specialTokenOutOfRange(role: "padding", id: .min)) { $0.paddingToken = .min }
  }

  @Test func aByteThatTextRarelyHasMayBeMissing() throws {
    var description = valid()
    description.tokens[0xC4] = "zz"
    description.tokens[0x81] = "yy"
    let tokenizer = try BPETokenizer(description)
    #expect(tokenizer.missingBytes == [0x81, 0xC4])
    // U+0101 is those two bytes. Its neighbours merge over the gap, as in the tokenizers that such
    // vocabularies come from.
    #expect(tokenizer.encode("a\u{101}b") == [256])
  }
}
