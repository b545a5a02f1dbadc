import Foundation
import TestSupport
import Tokenization

/// A vocabulary as the fixtures and the oracle exchange it.
struct VocabularyFile: Codable {
  var tokens: [String]
  var kinds: [UInt8]
  var merges: [[UInt32]]
  var begin: Int?
  var end: Int?
  var chatTemplate: String?

  /// The real model's, which the oracle takes seconds to read.
  static let model = Result {
    struct Describe: Encodable {
      var `do` = "describe"
      var model: String
    }
    return try Oracle.ask(
      "tokenizer.py", Describe(model: Oracle.model.path()), as: VocabularyFile.self)
  }

  func description(preTokenizer: String) -> TokenizerDescription {
    TokenizerDescription(
      model: "gpt2", preTokenizer: preTokenizer, tokens: tokens,
      kinds: kinds.compactMap { TokenizerDescription.TokenKind(rawValue: $0) },
      merges: merges.map { TokenizerDescription.Merge(left: $0[0], right: $0[1]) },
      beginToken: begin, endToken: end, chatTemplate: chatTemplate)
  }
}

/// The committed tiny vocabulary, texts and their ids (tools/oracles/tokenizer_fixture.py).
struct TinyFixture: Codable {
  var vocabulary: VocabularyFile
  var texts: [Data]
  var ids: [String: [[Int32]]]

  static func load() throws -> TinyFixture {
    try JSONDecoder().decode(
      TinyFixture.self, from: Data(contentsOf: Repository.fixture("golden/tokenizer-tiny.json")))
  }

  static func tokenizer(_ preTokenizer: String) throws -> BPETokenizer {
    try BPETokenizer(load().vocabulary.description(preTokenizer: preTokenizer))
  }
}

/// Random text of many scripts, with what pre-tokenizers stumble over strewn in.
struct RandomText {
  var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  /// Blocks that Unicode filled long ago, so that every oracle agrees on them.
  private static let blocks: [ClosedRange<UInt32>] = [
    0x20...0x7E, 0x20...0x7E, 0x41...0x7A, 0x00...0x1F, 0x80...0xFF, 0x100...0x24F,
    0x300...0x36F, 0x370...0x3FF, 0x400...0x4FF, 0x5D0...0x5EA, 0x620...0x6D3, 0x6F0...0x6F9,
    0x904...0x939, 0x966...0x96F, 0xE01...0xE3A, 0x10A0...0x10C5, 0x1100...0x11FF,
    0x1E00...0x1EFF, 0x2000...0x206F, 0x2070...0x208E, 0x2150...0x2188, 0x2460...0x24FF,
    0x2600...0x27BF, 0x3000...0x303F, 0x3041...0x3096, 0x30A0...0x30FF, 0x4E00...0x9FA5,
    0xAC00...0xD7A3, 0xFB00...0xFB06, 0xFE00...0xFE0F, 0xFF01...0xFF5E, 0x10400...0x1044F,
    0x1D400...0x1D454, 0x1D7CE...0x1D7FF, 0x1F300...0x1F5FF, 0x1F600...0x1F64F, 0x20000...0x200FF,
  ]

  private static let pieces = [
    " ", "  ", "    ", "\t", "\n", "\r\n", "\n\n", "\r", " \n", "\u{85}", "\u{A0}", "\u{1680}",
    "\u{180E}", "\u{200B}", "\u{200D}", "\u{2028}", "\u{2029}", "\u{3000}", "\u{FEFF}", "'s", "'S",
    "'ll", "'LL", "'re", "'Ve", "'d", "'\u{17F}", "'", "1", "42", "2024", "\u{BD}", "\u{2167}",
    "e\u{301}",
    "a\u{30A}\u{323}", "\u{212B}", "\u{958}", "\u{1F469}\u{200D}\u{1F467}", "\u{2764}\u{FE0F}",
    "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|im_", "<tool>", "the", " the", " measure",
    "ing", "!", "...", " - ", "#", "\0",
  ]

  mutating func next() -> String {
    var view = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0...12, using: &generator) {
      if Bool.random(using: &generator) {
        let index = Int.random(in: 0..<Self.pieces.count, using: &generator)
        view.append(contentsOf: Self.pieces[index].unicodeScalars)
      } else {
        let block = Self.blocks[Int.random(in: 0..<Self.blocks.count, using: &generator)]
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
          if let scalar = Unicode.Scalar(UInt32.random(in: block, using: &generator)) {
            view.append(scalar)
          }
        }
      }
    }
    return String(view)
  }

  /// Bytes of which many are no UTF-8.
  mutating func nextBytes() -> [UInt8] {
    var bytes = Array(next().utf8)
    let leads: [UInt8] = [0x80, 0xBF, 0xC0, 0xC2, 0xE0, 0xE2, 0xED, 0xF0, 0xF4, 0xF5, 0xFF, 0xA0]
    for _ in 0..<Int.random(in: 0...4, using: &generator) where !bytes.isEmpty {
      let place = Int.random(in: 0..<bytes.count, using: &generator)
      if Bool.random(using: &generator) {
        bytes[place] = leads[Int.random(in: 0..<leads.count, using: &generator)]
      } else {
        bytes.remove(at: place)
      }
    }
    return bytes
  }
}
