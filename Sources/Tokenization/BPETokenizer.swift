/// Byte-level byte-pair encoding: text to token ids and back, as a model's own vocabulary has it.
///
/// Encoding repairs invalid UTF-8 with U+FFFD, takes special tokens out first where that is asked
/// for, cuts the rest into pre-tokens, and merges the bytes of each. Nothing is added: whether the
/// model wants a begin token is said by `addsBeginToken`, for the caller to heed.
///
/// A tokenizer is immutable and may be used from any thread; each call allocates its own scratch.
package final class BPETokenizer: Sendable {
  package let preTokenizer: PreTokenizer
  package let beginToken: Int32?
  package let endToken: Int32?
  package let unknownToken: Int32?
  package let paddingToken: Int32?
  /// Whether the model wants `beginToken` in front of every text.
  package let addsBeginToken: Bool
  /// The Jinja source that wraps messages, where the model has one.
  package let chatTemplateSource: String?
  /// Tokens that end a response, in ascending order: the end token, and the control tokens that
  /// chat models end a turn with.
  package let stopTokens: [Int32]
  /// Bytes that no token stands for and that encoding leaves out, as the models' own tokenizers do.
  ///
  /// SmolLM2's vocabulary lacks 21: six control characters and bytes that begin no assigned scalar.
  package let missingBytes: [UInt8]

  let vocabulary: BPEVocabulary
  private let merges: BPEMergeTable
  private let specialTokens: SpecialTokenMatcher

  /// Names of control tokens that end a turn or a text in the chat formats of known models.
  private static let turnEnds = [
    "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|end|>",
    "<end_of_turn>", "</s>",
  ]

  /// Checks a description and builds the tables, in time linear in its tokens and merges.
  ///
  /// Tokens and merges must be unique: with duplicates, the ids of a text would depend on which of
  /// the two an implementation keeps. Every byte of ASCII text must have a token; others may be
  /// missing (`missingBytes`).
  package init(_ description: TokenizerDescription) throws(TokenizerError) {
    guard description.model == "gpt2" else { throw .unknownModel(description.model) }
    guard let preTokenizer = PreTokenizer(name: description.preTokenizer) else {
      throw .unknownPreTokenizer(description.preTokenizer)
    }
    self.preTokenizer = preTokenizer
    let vocabulary = try BPEVocabulary(description)
    let merges = try BPEMergeTable(description.merges, vocabulary: vocabulary)
    let missing = (0...255).filter { merges.baseTokens[$0] < 0 }.map { UInt8($0) }
    for byte in missing where byte == 0x09 || byte == 0x0A || (0x20...0x7E).contains(byte) {
      throw .missingBaseByte(byte)
    }
    func checked(_ id: Int?, _ role: String) throws(TokenizerError) -> Int32? {
      guard let id else { return nil }
      guard (0..<vocabulary.count).contains(id) else {
        throw .specialTokenOutOfRange(role: role, id: id)
      }
      return Int32(id)
    }
    beginToken = try checked(description.beginToken, "begin")
    let endToken = try checked(description.endToken, "end")
    self.endToken = endToken
    unknownToken = try checked(description.unknownToken, "unknown")
    paddingToken = try checked(description.paddingToken, "padding")
    addsBeginToken = description.addsBeginToken
    chatTemplateSource = description.chatTemplate
    missingBytes = missing
    var stops = Set(endToken.map { [$0] } ?? [])
    for name in Self.turnEnds {
      guard let id = vocabulary.id(of: Array(name.utf8)[...]) else { continue }
      if vocabulary.kinds[id] == .control { stops.insert(Int32(id)) }
    }
    stopTokens = stops.sorted()
    specialTokens = SpecialTokenMatcher(vocabulary)
    self.vocabulary = vocabulary
    self.merges = merges
  }

  /// The number of ids: they are 0 up to, not including, this.
  package var tokenCount: Int { vocabulary.count }

  /// What a token is for; the id is in range.
  package func kind(of id: Int32) -> TokenizerDescription.TokenKind {
    vocabulary.kinds[checkedIndex(id)]
  }

  /// The bytes that a token stands for; the id is in range.
  package func bytes(of id: Int32) -> [UInt8] { Array(vocabulary.bytes(of: checkedIndex(id))) }

  /// The control or user-defined token of a name, such as `<|im_end|>`.
  package func specialToken(named name: String) -> Int32? {
    guard let id = vocabulary.id(of: Array(name.utf8)[...]), vocabulary.isSpecial(id) else {
      return nil
    }
    return Int32(id)
  }

  private func checkedIndex(_ id: Int32) -> Int {
    precondition(id >= 0 && Int(id) < vocabulary.count, "token id outside the vocabulary")
    return Int(id)
  }
}

// MARK: - Encoding

extension BPETokenizer {
  /// The ids of a text.
  package func encode(_ text: String, recognizingSpecialTokens: Bool = true) -> [Int32] {
    encode(Array(text.utf8), recognizingSpecialTokens: recognizingSpecialTokens)
  }

  /// The ids of bytes that should be UTF-8; what is not becomes U+FFFD.
  ///
  /// With `recognizingSpecialTokens`, control and user-defined tokens written out in the text
  /// become their ids: right for a rendered chat template, wrong for text that someone else wrote.
  package func encode(_ bytes: [UInt8], recognizingSpecialTokens: Bool = true) -> [Int32] {
    let bytes = UTF8Text.repaired(bytes)
    var merger = BPEMerger(merges)
    var ids: [Int32] = []
    ids.reserveCapacity(bytes.count / 3)
    var start = 0
    while recognizingSpecialTokens,
      let match = specialTokens.firstMatch(in: bytes, from: start)
    {
      encodeText(bytes, start..<match.range.lowerBound, merger: &merger, into: &ids)
      ids.append(match.token)
      start = match.range.upperBound
    }
    encodeText(bytes, start..<bytes.count, merger: &merger, into: &ids)
    return ids
  }

  /// Encodes valid UTF-8 between special tokens.
  private func encodeText(
    _ bytes: [UInt8], _ range: Range<Int>, merger: inout BPEMerger, into ids: inout [Int32]
  ) {
    guard !range.isEmpty else { return }
    var (bytes, range) = (bytes, range)
    if preTokenizer.composes {
      bytes = CanonicalComposition.composed(Array(bytes[range]))
      range = 0..<bytes.count
    }
    var scanner = PreTokenScanner(preTokenizer, bytes: bytes, range: range)
    while let piece = scanner.next() {
      if preTokenizer.takesWholeTokens, let id = vocabulary.id(of: bytes[piece]),
        !vocabulary.isSpecial(id)
      {
        ids.append(Int32(id))
      } else {
        merger.append(bytes[piece], to: &ids)
      }
    }
  }
}
