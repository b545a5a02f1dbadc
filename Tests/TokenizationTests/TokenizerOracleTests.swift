import Foundation
import TestSupport
import Testing
import Tokenization

@Suite("Byte-level BPE against PyPI tokenizers")
struct TokenizerOracleTests {
  private struct Request: Encodable {
    var `do`: String
    var vocabulary: VocabularyFile?
    var pre: String?
    var special = true
    var texts: [Data] = []
  }

  private struct Encoded: Decodable { var ids: [[Int32]] }
  private struct Cut: Decodable { var ends: [[Int]] }

  private func texts(seed: UInt64, count: Int) -> [Data] {
    var random = RandomText(seed: seed)
    return (0..<count).map { index in
      index % 8 == 0 ? Data(random.nextBytes()) : Data(random.next().utf8)
    }
  }

  @Test(
    "20,000 random texts have the same ids",
    .needs(.python),
    arguments: ["gpt-2", "smollm", "qwen2", "llama-bpe"])
  func randomTexts(preTokenizer: String) throws {
    let seed: UInt64 = 2_024
    let vocabulary = try TinyFixture.load().vocabulary
    let texts = texts(seed: seed, count: 20_000)
    let tokenizer = try BPETokenizer(vocabulary.description(preTokenizer: preTokenizer))
    for special in [true, false] {
      let request = Request(
        do: "encode", vocabulary: vocabulary, pre: preTokenizer, special: special, texts: texts)
      let expected = try Oracle.ask("tokenizer.py", request, as: Encoded.self).ids
      #expect(expected.count == texts.count)
      let differing = zip(texts, expected).filter { text, ids in
        tokenizer.encode([UInt8](text), recognizingSpecialTokens: special) != ids
      }
      #expect(
        differing.isEmpty,
        "seed \(seed): \(differing.count), first \(differing.first?.0.base64EncodedString() ?? "")")
    }
  }

  @Test(
    "20,000 random texts and every scalar are cut at the same places",
    .needs(.python),
    arguments: ["gpt-2", "smollm", "qwen2", "llama-bpe"])
  func cuts(name: String) throws {
    let seed: UInt64 = 2_025
    var texts = texts(seed: seed, count: 20_000)
    // Every scalar that Unicode 14 knows, between letters, digits, spaces and symbols.
    for start in stride(from: UInt32(0), to: 0x3_0000, by: 64) {
      let scalars = (start..<start + 64).compactMap(Unicode.Scalar.init).filter {
        ($0.properties.age?.major ?? .max) <= 14
      }
      let text = scalars.map { "a\($0)\($0) \($0)1\($0)!\($0)'\($0)" }.joined(separator: "\n")
      if !text.isEmpty { texts.append(Data(text.utf8)) }
    }
    let expected = try Oracle.ask(
      "tokenizer.py", Request(do: "pieces", pre: name, texts: texts), as: Cut.self
    ).ends
    #expect(expected.count == texts.count)
    let preTokenizer = try #require(PreTokenizer(name: name))
    let differing = zip(texts, expected).filter { text, ends in
      preTokenizer.pieces(of: UTF8Text.repaired([UInt8](text))).map(\.upperBound) != ends
    }
    #expect(
      differing.isEmpty,
      "seed \(seed): \(differing.count), first \(differing.first?.0.base64EncodedString() ?? "")")
  }

  @Test(
    "SmolLM2's own vocabulary: random texts and the committed ones",
    .needs(.python, .model))
  func realModel() throws {
    let vocabulary = try VocabularyFile.model.get()
    let tokenizer = try BPETokenizer(vocabulary.description(preTokenizer: "smollm"))
    #expect(tokenizer.tokenCount == 49_152)
    #expect(tokenizer.missingBytes.count == 21)
    #expect(tokenizer.stopTokens == [0, 2])
    let seed: UInt64 = 2_026
    let texts = texts(seed: seed, count: 20_000) + (try TinyFixture.load().texts)
    let request = Request(do: "encode", vocabulary: vocabulary, pre: "smollm", texts: texts)
    let expected = try Oracle.ask("tokenizer.py", request, as: Encoded.self).ids
    let differing = zip(texts, expected).filter { tokenizer.encode([UInt8]($0)) != $1 }
    #expect(
      differing.isEmpty,
      "seed \(seed): \(differing.count), first \(differing.first?.0.base64EncodedString() ?? "")")
  }
}
