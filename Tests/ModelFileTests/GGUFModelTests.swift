import ModelFile
import TensorCore
import Testing
import Tokenization

@Suite struct GGUFModelTests {
  private func model(_ writer: GGUFWriter) throws -> GGUFModel {
    try withTemporaryFile(writer.build().bytes) { path in try GGUFModel(path: path) }
  }

  @Test func readsLlama() throws {
    var writer = GGUFWriter.model(layers: 2)
    writer.set("llama.vocab_size", .u32(8))
    writer.set("llama.rope.scaling.type", .string("none"))
    let header = try model(writer).header
    #expect(
      header
        == ModelHeader(
          architecture: "llama", name: "tiny", layerCount: 2, hiddenSize: 32, feedForwardSize: 64,
          vocabularySize: 8, queryHeadCount: 4, keyValueHeadCount: 2, headDimension: 8,
          contextLength: 64, ropeBase: 10_000, ropePairing: .adjacent, ropeDimension: 8,
          normEpsilon: 0x1p-17, tiedOutput: true, attentionBias: false))
  }

  @Test func readsQwen2WithBiasesAndItsOwnOutput() throws {
    var writer = GGUFWriter.model("qwen2")
    writer.set("qwen2.rope.freq_base", .f32(1_000_000))
    writer.set("qwen2.rope.dimension_count", .u32(6))
    writer.addFloats("output.weight", [8, 32])
    writer.addFloats("blk.0.attn_q.bias", [32])
    writer.addFloats("blk.0.attn_k.bias", [16])
    writer.addFloats("blk.0.attn_v.bias", [16])
    let model = try model(writer)
    #expect(model.header.ropePairing == .halves)
    #expect(model.header.ropeBase == 1_000_000)
    #expect(model.header.ropeDimension == 6)
    #expect(model.header.attentionBias)
    #expect(!model.header.tiedOutput)
    #expect(model.tensors.count == 15)
  }

  @Test func takesHeadDimensionFromTheKeyLength() throws {
    var writer = GGUFWriter.model()
    writer.set("llama.attention.key_length", .u32(16))
    writer.tensors.removeAll { $0.name.contains("attn_") && !$0.name.contains("norm") }
    for (name, dimensions) in [
      ("q", [64, 32]), ("k", [32, 32]), ("v", [32, 32]), ("output", [32, 64]),
    ] {
      writer.addFloats("blk.0.attn_\(name).weight", dimensions)
    }
    let header = try model(writer).header
    #expect(header.headDimension == 16)
    #expect(header.ropeDimension == 16)
  }

  @Test func defaultsToAsManyKeyValueHeadsAsQueryHeads() throws {
    var writer = GGUFWriter.model()
    writer.remove("llama.attention.head_count_kv")
    writer.tensors.removeAll {
      $0.name == "blk.0.attn_k.weight" || $0.name == "blk.0.attn_v.weight"
    }
    writer.addFloats("blk.0.attn_k.weight", [32, 32])
    writer.addFloats("blk.0.attn_v.weight", [32, 32])
    #expect(try model(writer).header.keyValueHeadCount == 4)
  }

  @Test func readsTheTokenizer() throws {
    var writer = GGUFWriter.model()
    writer.set("tokenizer.chat_template", .string("{{ messages }}"))
    writer.set(
      "tokenizer.ggml.merges", .array(8, ["a b", "Ġ a", "é e\u{301}"].map { .string($0) }))
    let tokenizer = try #require(try model(writer).tokenizer)
    #expect(tokenizer.model == "gpt2")
    #expect(tokenizer.preTokenizer == "smollm")
    #expect(tokenizer.tokens.count == 8)
    #expect(
      tokenizer.kinds == [.control] + [TokenizerDescription.TokenKind](repeating: .normal, count: 7)
    )
    // Canonically equivalent tokens stay apart.
    let pairs = tokenizer.merges.map { [$0.left, $0.right] }
    #expect(pairs == [[1, 2], [4, 1], [6, 7]])
    #expect(tokenizer.endToken == 0)
    #expect(tokenizer.beginToken == nil)
    #expect(!tokenizer.addsBeginToken)
    #expect(tokenizer.chatTemplate == "{{ messages }}")
  }

  @Test func acceptsAFileWithoutTokenizer() throws {
    var writer = GGUFWriter.model()
    writer.pairs.removeAll { $0.key.hasPrefix("tokenizer.") }
    #expect(try model(writer).tokenizer == nil)
  }

  @Test func readsRowsOfATensor() throws {
    let bytes = GGUFWriter.model().build().bytes
    try withTemporaryFile(bytes) { path in
      let model = try GGUFModel(path: path)
      #expect(model.provenance["byte_count"] == String(bytes.count))
      #expect(model.provenance["general.name"] == "tiny")
      let index = try #require(model.tensors.firstIndex { $0.name == "blk.0.attn_q.weight" })
      var values = [Float](repeating: .nan, count: 2 * 32)
      var output = values.mutableSpan
      try model.readRows(3..<5, ofTensor: index, into: &output)
      let expected: [Float] = (96..<160).map { Float($0) / 64 }
      #expect(values == expected)
    }
  }
}
