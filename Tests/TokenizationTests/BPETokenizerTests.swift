import Foundation
import Testing
import Tokenization

@Suite("Byte-level BPE")
struct BPETokenizerTests {
  @Test("ids of the committed texts", arguments: ["gpt-2", "smollm", "qwen2", "llama-bpe"])
  func goldenIDs(preTokenizer: String) throws {
    let fixture = try TinyFixture.load()
    let tokenizer = try BPETokenizer(fixture.vocabulary.description(preTokenizer: preTokenizer))
    let expected = try #require(fixture.ids[preTokenizer])
    #expect(expected.count == fixture.texts.count)
    for (text, ids) in zip(fixture.texts, expected) {
      #expect(tokenizer.encode([UInt8](text)) == ids, "\(text.base64EncodedString())")
    }
  }

  @Test("what is encoded decodes to itself", arguments: ["gpt-2", "smollm", "llama-bpe"])
  func roundTrip(preTokenizer: String) throws {
    let tokenizer = try TinyFixture.tokenizer(preTokenizer)
    #expect(tokenizer.missingBytes.isEmpty)
    var random = RandomText(seed: 11)
    for _ in 0..<2_000 {
      let text = Array(random.next().utf8)
      for recognizing in [true, false] {
        let ids = tokenizer.encode(text, recognizingSpecialTokens: recognizing)
        #expect(try tokenizer.decode(ids) == text, "seed 11: \(text)")
      }
    }
  }

  @Test("qwen2 composes, and so decodes to normalisation form C")
  func composition() throws {
    let tokenizer = try TinyFixture.tokenizer("qwen2")
    let ids = tokenizer.encode("cafe\u{301} \u{212B}")
    #expect(try tokenizer.decode(ids) == Array("caf\u{E9} \u{C5}".utf8))
  }

  @Test("special tokens in text are taken or not")
  func specialTokens() throws {
    let tokenizer = try TinyFixture.tokenizer("smollm")
    let end = try #require(tokenizer.specialToken(named: "<|im_end|>"))
    let longer = try #require(tokenizer.specialToken(named: "<|im_end|>x"))
    #expect(tokenizer.specialToken(named: "the") == nil)
    #expect(tokenizer.encode("<|im_end|><|im_end|>x") == [end, longer])
    let plain = tokenizer.encode("<|im_end|>", recognizingSpecialTokens: false)
    #expect(plain.count > 1 && !plain.contains(end))
    #expect(try tokenizer.decodeText(plain) == "<|im_end|>")
    #expect(tokenizer.kind(of: end) == .control)
    #expect(tokenizer.bytes(of: end) == Array("<|im_end|>".utf8))
    #expect(try tokenizer.decode([end, longer], includingControlTokens: false) == [])
    let tool = try #require(tokenizer.specialToken(named: "<tool>"))
    #expect(try tokenizer.decodeText([end, tool], includingControlTokens: false) == "<tool>")
  }

  @Test("stop tokens are the end token and the control tokens that end turns")
  func stopTokens() throws {
    var description = try TinyFixture.load().vocabulary.description(preTokenizer: "smollm")
    #expect(try BPETokenizer(description).stopTokens == [0, 2])
    description.endToken = 1
    #expect(try BPETokenizer(description).stopTokens == [0, 1, 2])
  }

  @Test("a long run without a space is not quadratic, and equals the short way")
  func longPreToken() throws {
    let tokenizer = try TinyFixture.tokenizer("smollm")
    let bytes = [UInt8](repeating: UInt8(ascii: "e"), count: 400_000)
    let ids = tokenizer.encode(bytes)
    #expect(try tokenizer.decode(ids) == bytes)
    // The same letters, once above and once below the length where the merger changes its way.
    let word = String(repeating: "measurethemodel", count: 3)
    let tripled = tokenizer.encode(word + word)
    #expect(try tokenizer.decodeText(tripled) == word + word)
    #expect(Array(tripled.prefix(4)) == Array(tokenizer.encode(word).prefix(4)))
  }

  @Test("an id that does not exist is an error that names its place", arguments: [-1, 1 << 20])
  func unknownID(id: Int32) throws {
    let tokenizer = try TinyFixture.tokenizer("smollm")
    #expect(throws: TokenizerError.idOutOfRange(index: 1, id: id)) {
      try tokenizer.decode([0, id])
    }
  }

  @Test("a stream of tokens gives the text, and never half a character")
  func streaming() throws {
    let tokenizer = try TinyFixture.tokenizer("smollm")
    var random = RandomText(seed: 12)
    for _ in 0..<1_000 {
      // Every byte its own token, so that characters come in parts.
      let bytes = random.nextBytes()
      let ids = bytes.flatMap { tokenizer.encode([$0].first.map { [$0] } ?? []) }
      let whole = try tokenizer.decodeText(ids)
      var stream = TokenStreamDecoder(tokenizer, includingControlTokens: true)
      var text = ""
      for id in ids { text += try stream.append(id) }
      text += stream.finish()
      #expect(Array(text.utf8) == Array(whole.utf8), "seed 12: \(bytes)")
    }
    var stream = TokenStreamDecoder(tokenizer)
    let parts = [0xF0, 0x9F, 0x98, 0x80].map { byte in
      ByteLevelAlphabet.text(of: [UInt8(byte)])
    }
    let vocabulary = try TinyFixture.load().vocabulary.tokens
    var pieces: [String] = []
    for part in parts {
      let id = try #require(vocabulary.firstIndex(of: part))
      pieces.append(try stream.append(Int32(id)))
    }
    #expect(pieces == ["", "", "", "\u{1F600}"])
    #expect(stream.finish() == "")
  }

  @Test(
    "faults in UTF-8 become U+FFFD as Python has it",
    arguments: [
      ([0xFF], 1), ([0xC3, 0x28], 1), ([0xE2, 0x82], 1), ([0xE2, 0x82, 0x41], 1),
      ([0xF0, 0x9F, 0x98], 1), ([0xED, 0xA0, 0x80], 3), ([0xC0, 0xAF], 2), ([0xF4, 0x90, 0x80], 3),
      ([0xE2, 0xE2, 0x82, 0xAC], 1), ([0x80, 0x80], 2), ([0xF0, 0x80, 0x80], 3),
    ] as [([UInt8], Int)])
  func repair(bytes: [UInt8], count: Int) {
    let text = String(decoding: UTF8Text.repaired(bytes), as: UTF8.self)
    #expect(text.unicodeScalars.filter { $0 == "\u{FFFD}" }.count == count)
  }
}
