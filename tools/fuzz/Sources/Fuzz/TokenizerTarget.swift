import Tokenization

extension FuzzTarget {
  /// A tokenizer's description out of lines, and a text for it.
  ///
  /// The first line is the pre-tokenizer's name; every further one a token, with its kind as the
  /// first character (`1` to `6`), or a merge (`m` and two token numbers); what follows an empty
  /// line is the text. The alphabet's 256 tokens come first unless the first line begins with `-`.
  static let tokenizer = FuzzTarget(name: "tokenizer", heap: (4 << 20, 256)) { bytes in
    let lines = bytes.split(
      separator: 0x0A, maxSplits: 4096, omittingEmptySubsequences: false)
    guard let first = lines.first else { return }
    var name = String(decoding: first, as: UTF8.self)
    let isBare = name.hasPrefix("-")
    if isBare { name.removeFirst() }
    var tokens = isBare ? [] : alphabet
    var kinds = [TokenizerDescription.TokenKind](repeating: .normal, count: tokens.count)
    var merges: [TokenizerDescription.Merge] = []
    var position = first.count + 1
    for line in lines.dropFirst() {
      position += line.count + 1
      guard let head = line.first else { break }
      if head == UInt8(ascii: "m") {
        let numbers = line.dropFirst().split(separator: 0x20).prefix(2)
          .map { UInt32(String(decoding: $0, as: UTF8.self)) ?? 0 }
        if numbers.count == 2 { merges.append(.init(left: numbers[0], right: numbers[1])) }
      } else {
        tokens.append(String(decoding: line.dropFirst(), as: UTF8.self))
        kinds.append(.init(rawValue: head &- UInt8(ascii: "0")) ?? .normal)
      }
    }
    let text = Array(bytes.dropFirst(position))
    exercise(
      TokenizerDescription(
        model: "gpt2", preTokenizer: name, tokens: tokens, kinds: kinds, merges: merges,
        beginToken: tokens.count - 1, endToken: text.count), on: text)
  }

  /// A chat template: parsed, and rendered within the standard limits, which are half a second and
  /// 64 MiB.
  static let template = FuzzTarget(
    name: "template", heap: (64 << 20, 1024), seconds: 0.5, usesGrammar: true
  ) { bytes in
    let limits = ChatTemplate.Limits()
    do throws(ChatTemplateError) {
      let template = try ChatTemplate(source: String(decoding: bytes, as: UTF8.self))
      let text = try template.render(
        messages: conversation, addsGenerationPrompt: true, beginText: "<s>", endText: "</s>",
        tools: [.mapping([("name", .string("clock")), ("count", .integer(3))])], limits: limits)
      promise(
        text.utf8.count <= limits.maximumOutputBytes, "\(text.utf8.count) bytes of output")
    } catch {
      promise(!isStrict, "refused: \(error)")
      promise(error.line >= 1, "no line in: \(error)")
      promise(!error.reason.isEmpty, "no reason in: \(error)")
      promise(error.description.utf8.count < 1200, "long: \(error)")
    }
  }
}

/// A text with special tokens, several scripts, invalid UTF-8 and spaces.
let sampleText =
  Array("<s>Ab 12  don't\n\t\u{e9}\u{4e2d}\u{1F600}e\u{301} <|im_end|>".utf8) + [0xC3, 0xFF]

private let conversation = [
  ChatMessage(role: "system", content: "Be brief."),
  ChatMessage(role: "user", content: " Wie spät? "),
  ChatMessage(role: "assistant", content: "<think>x</think>12"),
  ChatMessage(role: "user", content: ""),
]

/// The tokens of the 256 bytes, in the byte-level alphabet.
private let alphabet: [String] = {
  var next: UInt32 = 256
  return (UInt32(0)...255).map { byte in
    let isPlain = (33...126).contains(byte) || (161...172).contains(byte) || byte >= 174
    let scalar = isPlain ? byte : next
    if !isPlain { next += 1 }
    return Unicode.Scalar(scalar).map { String($0) } ?? ""
  }
}()

/// Builds the tokenizer and encodes a text: decoding gives the text back, without the bytes that
/// have no token, whole or streamed.
func exercise(_ description: TokenizerDescription, on text: [UInt8]) {
  do throws(TokenizerError) {
    let tokenizer = try BPETokenizer(description)
    for recognizing in [true, false] {
      let ids = tokenizer.encode(text, recognizingSpecialTokens: recognizing)
      let decoded = try tokenizer.decode(ids)
      if tokenizer.missingBytes.isEmpty, !tokenizer.preTokenizer.composes {
        promise(decoded == UTF8Text.repaired(text), "decoding is not the way back")
      }
      var stream = TokenStreamDecoder(tokenizer, includingControlTokens: true)
      var streamed = ""
      for id in ids { streamed += try stream.append(id) }
      streamed += stream.finish()
      promise(
        Array(streamed.utf8) == UTF8Text.repaired(decoded), "streaming decodes something else")
    }
    if let source = tokenizer.chatTemplateSource {
      FuzzTarget.template.run(Array(source.utf8))
    }
  } catch {
    promise(!isStrict, "refused: \(error)")
    promise(!error.description.isEmpty, "no reason")
  }
}
