import Engines
import ModelFile
import PackedFormats
import TensorCore
import TestSupport
import Testing
import Tokenization

/// What an engine would refuse of a packed model's header, tensors and tokenizer is found before the
/// weights are read, by `verify` as by loading.
@Suite struct ContainerCheckTests {
  /// A model whose header or tokenizer says something else than its tensors are.
  struct Altered: ModelSource, CustomTestStringConvertible, Sendable {
    var name: String
    /// What the error says.
    var says: String
    var header: ModelHeader
    var tokenizer: TokenizerDescription?
    private let model: GGUFModel

    var testDescription: String { name }
    var tensors: [SourceTensor] { model.tensors }
    var provenance: [String: String] { [:] }

    init(
      _ name: String, _ says: String,
      _ change: (inout ModelHeader, inout TokenizerDescription) -> Void
    ) throws {
      self.name = name
      self.says = says
      model = try GGUFModel(path: TinyModel.llama.path)
      header = model.header
      var description = try #require(model.tokenizer)
      change(&header, &description)
      tokenizer = description
    }

    func readRows(
      _ rows: Range<Int>, ofTensor index: Int, into output: inout MutableSpan<Float>
    ) throws(InputError) {
      try model.readRows(rows, ofTensor: index, into: &output)
    }
  }

  static let altered = Result {
    try [
      Altered("architecture", #""gpt" is not one that runs here"#) { header, _ in
        header.architecture = "gpt"
      },
      Altered("layers", "the tensor is missing") { header, _ in header.layerCount += 1 },
      Altered("an absurd number of layers", "the tensor is missing") { header, _ in
        header.layerCount = Int(Int32.max)
      },
      Altered("vocabulary", "tensor token_embd.weight") { header, _ in
        header.vocabularySize += 1
      },
      Altered("width", "tensor token_embd.weight") { header, _ in header.hiddenSize *= 2 },
      Altered("feed-forward", "ffn_gate.weight") { header, _ in header.feedForwardSize += 1 },
      Altered("heads", "attn_q.weight") { header, _ in header.queryHeadCount *= 2 },
      Altered("key heads", "attn_k.weight") { header, _ in header.keyValueHeadCount = 1 },
      Altered("an output of its own", "tensor output.weight") { header, _ in
        header.tiedOutput.toggle()
      },
      Altered("biases", "attn_q.bias") { header, _ in header.attentionBias = true },
      Altered("head norms", "attn_q_norm.weight") { header, _ in header.headNorm = .afterRope },
      Altered("another tokenizer", "tokenizer") { _, tokenizer in tokenizer.model = "unigram" },
      Altered("another pre-tokenizer", "tokenizer") { _, tokenizer in
        tokenizer.preTokenizer = "nobody's"
      },
      Altered("merges twice", "tokenizer: merge") { _, tokenizer in
        tokenizer.merges += tokenizer.merges
      },
      Altered("control tokens alone", "tokenizer") { _, tokenizer in
        tokenizer.kinds = tokenizer.kinds.map { _ in .control }
      },
      Altered("half a template", "chat template") { _, tokenizer in
        tokenizer.chatTemplate = "{% if"
      },
    ]
  }

  @Test func whatLoadingRefusesVerifyReports() throws {
    for source in try Self.altered.get() {
      try packing(source, .s8c) { path in
        let file = try AFMWFile(opening: path)
        // The bytes are whole: only what they say does not fit together.
        try file.verify()
        let found = #expect(throws: InputError.self, "\(source.name)") {
          try EngineLoader.check(file)
        }
        #expect(found?.description.contains(source.says) == true, "\(source.name): \(found as Any)")
        let loading = #expect(throws: InputError.self, "\(source.name)") {
          _ = try EngineLoader.load(path)
        }
        #expect(loading == found)
        let verified = try Program.run(["verify", path])
        #expect(verified.status == 3 && verified.output.isEmpty, "\(source.name): \(verified)")
        #expect(verified.error == "afm-bench: \(found?.description ?? "")\n")
      }
    }
  }

  @Test func wholeModelsPass() throws {
    for model in TinyModel.allCases {
      try model.packed(.u2c) { path in try EngineLoader.check(AFMWFile(opening: path)) }
    }
    for model in OnDeviceModel.all {
      try packing(model, .s8c) { path in try EngineLoader.check(AFMWFile(opening: path)) }
    }
    // Tensors that the graph does not need may be there.
    let fewer = try Altered("fewer layers", "") { header, _ in header.layerCount -= 1 }
    try packing(fewer, .s8c) { path in
      try EngineLoader.check(AFMWFile(opening: path))
      _ = try EngineLoader.load(path)
    }
  }
}
