import Foundation
import ModelFile
import PackedFormats
import TensorCore
import TestSupport
import Testing
import Tokenization

/// A tiny Hugging Face folder put together by hand: every part can be changed.
struct HuggingFaceSample {
  var config: [String: Any] = [
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 4,
    "intermediate_size": 6, "num_hidden_layers": 1, "num_attention_heads": 2,
    "num_key_value_heads": 1, "vocab_size": 100, "max_position_embeddings": 32,
    "rms_norm_eps": 1e-5, "rope_theta": 500.0, "tie_word_embeddings": true,
    "eos_token_id": [96, 2],
  ]
  var tokenizer: [String: Any]
  var settings: [String: Any]? = [
    "eos_token": ["content": "<|end|>"], "chat_template": "{{ messages }}",
  ]
  var weights = SafetensorsBytes()
  var files: [String: String] = [:]

  init() {
    // Printable ASCII, a line feed and a space, and two merges.
    var vocabulary: [String: Int] = [:]
    for byte in 0x21...0x7E {
      vocabulary[String(decoding: [UInt8(byte)], as: UTF8.self)] = vocabulary.count
    }
    vocabulary["Ġ"] = vocabulary.count
    vocabulary["Ċ"] = vocabulary.count
    // Ids 96 and 97 are taken by added tokens; 98 and 99 by nothing.
    vocabulary["ĉ"] = 98
    tokenizer = [
      "added_tokens": [
        ["id": 96, "content": "<|end|>", "special": true, "normalized": false],
        ["id": 97, "content": "<tool>", "special": false],
      ],
      "normalizer": NSNull(),
      "pre_tokenizer": ["type": "ByteLevel", "add_prefix_space": false, "use_regex": true],
      "post_processor": ["type": "ByteLevel"], "decoder": ["type": "ByteLevel"],
      "model": ["type": "BPE", "vocab": vocabulary, "merges": [Any]()] as [String: Any],
    ]
    func add(_ name: String, _ shape: [Int]) {
      weights.add(name, shape, (0..<shape.reduce(1, *)).map { Float($0) / 8 })
    }
    add("model.embed_tokens.weight", [100, 4])
    let layer = "model.layers.0."
    for (name, shape) in [
      ("input_layernorm", [4]), ("self_attn.q_proj", [4, 4]), ("self_attn.k_proj", [2, 4]),
      ("self_attn.v_proj", [2, 4]), ("self_attn.o_proj", [4, 4]), ("post_attention_layernorm", [4]),
      ("mlp.gate_proj", [6, 4]), ("mlp.up_proj", [6, 4]), ("mlp.down_proj", [4, 6]),
    ] { add("\(layer)\(name).weight", shape) }
    add("model.norm.weight", [4])
  }

  /// Changes a member of the tokenizer's model.
  mutating func setModel(_ name: String, _ value: Any) {
    var model = tokenizer["model"] as? [String: Any] ?? [:]
    model[name] = value
    tokenizer["model"] = model
  }

  func open(_ name: String? = nil) throws -> SafetensorsModel {
    let folder = try ScratchFolder()
    return try open(in: folder, name)
  }

  func open(in folder: ScratchFolder, _ name: String? = nil) throws -> SafetensorsModel {
    try weights.write(to: folder.path("model.safetensors"))
    func write(_ object: Any, _ name: String) throws {
      try JSONSerialization.data(withJSONObject: object).write(
        to: URL(filePath: folder.path(name)))
    }
    try write(config, "config.json")
    try write(tokenizer, "tokenizer.json")
    if let settings { try write(settings, "tokenizer_config.json") }
    for (name, text) in files {
      try Data(text.utf8).write(to: URL(filePath: folder.path(name)))
    }
    return try SafetensorsModel(path: name.map { folder.path($0) } ?? folder.url.path)
  }
}

@Suite struct HuggingFaceTests {
  @Test(arguments: [nil, "model.safetensors"]) func readsAModel(name: String?) throws {
    let model = try HuggingFaceSample().open(name)
    let header = ModelHeader(
      architecture: "llama", name: model.header.name, layerCount: 1, hiddenSize: 4,
      feedForwardSize: 6, vocabularySize: 100, queryHeadCount: 2, keyValueHeadCount: 1,
      headDimension: 2, contextLength: 32, ropeBase: 500, ropePairing: .halves, ropeDimension: 2,
      normEpsilon: 1e-5, tiedOutput: true, attentionBias: false)
    #expect(model.header == header && model.header.name.hasPrefix("afmw-"))
    #expect(model.tensors.first?.name == "token_embd.weight" && model.tensors.count == 11)
    let index = try #require(model.tensors.firstIndex { $0.name == "blk.0.ffn_down.weight" })
    var values = [Float](repeating: .nan, count: 6)
    var output = values.mutableSpan
    try model.readRows(2..<3, ofTensor: index, into: &output)
    #expect(values == (12..<18).map { Float($0) / 8 })
    let tokenizer = try #require(model.tokenizer)
    #expect(tokenizer.tokens.count == 100 && tokenizer.preTokenizer == "gpt-2")
    #expect(tokenizer.tokens[96...] == ["<|end|>", "<tool>", "ĉ", "[PAD99]"])
    #expect(tokenizer.kinds[95...] == [.normal, .control, .userDefined, .normal, .unused])
    #expect(tokenizer.endToken == 96 && tokenizer.beginToken == nil)
    #expect(tokenizer.chatTemplate == "{{ messages }}" && !tokenizer.addsBeginToken)
    #expect(try BPETokenizer(tokenizer).encode("a<|end|>b") == [64, 96, 65])
  }

  @Test func readsWhatNewerFilesSay() throws {
    var sample = HuggingFaceSample()
    sample.config["rope_theta"] = nil
    sample.config["rope_parameters"] =
      ["rope_theta": 9000.0, "rope_type": "default"] as [String: Any]
    sample.config["layer_types"] = ["full_attention"]
    sample.config["rms_norm_eps"] = nil
    sample.setModel("merges", [["a", "b"], ["c", "d"]])
    var vocabulary =
      (sample.tokenizer["model"] as? [String: Any])?["vocab"] as? [String: Int] ?? [:]
    vocabulary["ab"] = 99
    vocabulary["ĉ"] = nil
    vocabulary["cd"] = 98
    sample.setModel("vocab", vocabulary)
    sample.tokenizer["post_processor"] =
      [
        "type": "Sequence",
        "processors": [
          ["type": "ByteLevel"],
          [
            "type": "TemplateProcessing",
            "single": [
              ["SpecialToken": ["id": "<|end|>", "type_id": 0]],
              ["Sequence": ["id": "A", "type_id": 0]],
            ],
          ],
        ],
      ] as [String: Any]
    sample.settings?["bos_token"] = "<|end|>"
    sample.settings?["chat_template"] = [
      ["name": "tool_use", "template": "no"], ["name": "default", "template": "yes"],
    ]
    let model = try sample.open()
    #expect(model.header.ropeBase == 9000 && model.header.normEpsilon == 1e-6)
    let tokenizer = try #require(model.tokenizer)
    #expect(tokenizer.merges.map { [$0.left, $0.right] } == [[64, 65], [66, 67]])
    #expect(tokenizer.addsBeginToken && tokenizer.beginToken == 96)
    #expect(tokenizer.chatTemplate == "yes")
    // A file of its own comes first; a line is a merge too; ids of config.json are the last resort.
    sample.files["chat_template.jinja"] = "own"
    sample.setModel("merges", ["a b", "c d"])
    sample.settings?["eos_token"] = nil
    let second = try #require(try sample.open().tokenizer)
    #expect(second.chatTemplate == "own" && second.merges == tokenizer.merges)
    #expect(second.endToken == 96)
  }

  @Test func aFolderWithoutTokenizerHasNone() throws {
    let folder = try ScratchFolder()
    let path = folder.path("tokenizer.json")
    _ = try HuggingFaceSample().open(in: folder)
    try FileManager.default.removeItem(atPath: path)
    #expect(try SafetensorsModel(path: folder.url.path).tokenizer == nil)
  }

  @Test func readsTheShardsOfAnIndex() throws {
    let folder = try ScratchFolder()
    var sample = HuggingFaceSample()
    let whole = try sample.open()
    let all = sample.weights.tensors
    var map: [String: String] = [:]
    for part in 0..<3 {
      var shard = SafetensorsBytes()
      shard.metadata = [("format", "pt")]
      shard.tensors = all.enumerated().filter { $0.offset % 3 == part }.map(\.element)
      try shard.write(to: folder.path("part-\(part).safetensors"))
      for tensor in shard.tensors { map[tensor.name] = "part-\(part).safetensors" }
    }
    func write(_ map: [String: String]) throws {
      try JSONSerialization.data(withJSONObject: ["metadata": [String: Any](), "weight_map": map])
        .write(to: URL(filePath: folder.path("model.safetensors.index.json")))
    }
    try write(map)
    sample.weights.tensors = []
    let model = try sample.open(in: folder)
    #expect(Set(model.tensors.map(\.name)) == Set(whole.tensors.map(\.name)))
    #expect(
      try SafetensorsModel(path: folder.path("model.safetensors.index.json")).tensors
        == model.tensors)
    func refusal(_ change: (inout [String: String]) -> Void) throws -> String {
      var changed = map
      change(&changed)
      try write(changed)
      let error = #expect(throws: InputError.self) {
        try SafetensorsModel(path: folder.url.path)
      }
      return error?.description ?? ""
    }
    let norm = "model.norm.weight"
    #expect(try refusal { $0[norm] = nil }.contains("the index does not say"))
    #expect(try refusal { $0[norm] = "part-0.safetensors" }.contains("the index does not say"))
    #expect(
      try refusal { $0["more"] = "part-0.safetensors" }.contains("part-0.safetensors does not"))
    #expect(try refusal { $0[norm] = "../x.safetensors" }.contains("no name of a file beside it"))
    #expect(try refusal { $0[norm] = "absent.safetensors" }.contains("absent.safetensors: cannot"))
  }

  struct Refusal: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// The file and the place in it, then words of the reason.
    var words: [String]
    var change: @Sendable (inout HuggingFaceSample) -> Void

    init(
      _ name: String, _ words: [String],
      _ change: @escaping @Sendable (inout HuggingFaceSample) -> Void
    ) {
      testDescription = name
      self.words = words
      self.change = change
    }

    /// A value of config.json.
    static func config(_ name: String, _ value: String, _ words: String) -> Refusal {
      Refusal("\(name) \(value)", ["config.json: \(name)", words]) {
        $0.config[name] = try? JSONSerialization.jsonObject(
          with: Data(value.utf8), options: .fragmentsAllowed)
      }
    }

    static func tokenizer(_ name: String, _ value: String, _ words: String) -> Refusal {
      Refusal("\(name) \(value)", ["tokenizer.json: \(name)", words]) {
        let value = try? JSONSerialization.jsonObject(
          with: Data(value.utf8), options: .fragmentsAllowed)
        if name.hasPrefix("model.") {
          $0.setModel(String(name.dropFirst(6)), value as Any)
        } else {
          $0.tokenizer[name] = value
        }
      }
    }
  }

  static let configurations: [Refusal] = [
    .config("model_type", "\"mistral\"", "mistral is not supported, only llama and qwen2"),
    .config("architectures", "[\"LlamaForSequenceClassification\"]", "is not LlamaForCausalLM"),
    .config("hidden_act", "\"gelu\"", "gelu is not supported, only silu"),
    .config("rope_scaling", "{\"rope_type\": \"llama3\"}", "RoPE scaling of the kind llama3"),
    .config("rope_scaling", "{\"type\": \"linear\", \"factor\": 2}", "of the kind linear"),
    .config("rope_parameters", "{\"rope_type\": \"yarn\"}", "of the kind yarn"),
    .config("rope_parameters", "{\"full_attention\": {\"rope_theta\": 1}}", "kinds of layers"),
    .config("partial_rotary_factor", "0.5", "0.5 is not supported, only 1"),
    .config("attention_bias", "true", "biases of the output"),
    .config("mlp_bias", "true", "biases of the output"),
    .config("use_sliding_window", "true", "sliding windows are not supported"),
    .config("layer_types", "[\"sliding_attention\"]", "sliding_attention is not supported"),
    .config("quantization_config", "{\"quant_method\": \"gptq\"}", "quantized by gptq"),
    .config("num_key_value_heads", "3", "2 query heads are no multiple of 3"),
    .config("num_hidden_layers", "0", "0.0 is no integer from 1"),
    .config("num_hidden_layers", "null", "the name is missing"),
    .config("head_dim", "3", "3 is odd"),
    .config("rms_norm_eps", "0", "0.0 is not between 0 and 1"),
    .config("rope_theta", "-1", "-1.0 is not positive"),
    .config("hidden_size", "\"4\"", "a number is expected"),
  ]

  static let tokenizers: [Refusal] = [
    .tokenizer("model.type", "\"Unigram\"", "Unigram is not supported, only BPE"),
    .tokenizer("model.byte_fallback", "true", "only byte-level BPE"),
    .tokenizer("model.dropout", "0.1", "0.1 is not supported"),
    .tokenizer("model.end_of_word_suffix", "\"</w>\"", "is not supported"),
    .tokenizer("model.ignore_merges", "true", "true is not supported with the pre-tokenizer gpt-2"),
    .tokenizer("model.vocab", "{\"a\": 100}", "the id 100 lies outside"),
    .tokenizer("model.vocab", "{\"a\": 1, \"b\": 1}", "two tokens have the id 1"),
    .tokenizer("model.vocab", "{\"a\": -1}", "-1 is no integer"),
    .tokenizer("model.merges", "[\"ab\"]", "merge 0 is not two tokens"),
    .tokenizer("model.merges", "[[\"a\", \"b\", \"c\"]]", "more than two"),
    .tokenizer("model.merges", "[[\"ab\", \"b\"]]", "the left part of merge 0"),
    .tokenizer("model.merges", "[[\"\", \"b\"]]", "the left part of merge 0"),
    .tokenizer("normalizer", "{\"type\": \"NFC\"}", "NFC is not supported with"),
    .tokenizer("pre_tokenizer", "null", "the name is missing"),
    .tokenizer("pre_tokenizer", "{\"type\": \"Metaspace\"}", "Metaspace is not supported"),
    .tokenizer("pre_tokenizer", "{\"type\": \"ByteLevel\"}", "a space in front of every text"),
    .tokenizer(
      "pre_tokenizer",
      "{\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"use_regex\": false}",
      "false is not supported here"),
    .tokenizer(
      "pre_tokenizer",
      "{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Split\", \"behavior\": "
        + "\"Isolated\", \"pattern\": {\"Regex\": \"x\"}}, {\"type\": \"ByteLevel\"}]}",
      "none of those that are known"),
    .tokenizer("post_processor", "{\"type\": \"BertProcessing\"}", "BertProcessing is not"),
    .tokenizer(
      "post_processor",
      "{\"type\": \"TemplateProcessing\", \"single\": [{\"Sequence\": {\"id\": \"A\"}}, "
        + "{\"SpecialToken\": {\"id\": \"<|end|>\"}}]}", "other than the begin token"),
    .tokenizer("decoder", "{\"type\": \"WordPiece\"}", "WordPiece is not supported"),
    .tokenizer("added_tokens", "[{\"id\": 1}]", "an id and a content are expected"),
    .tokenizer("added_tokens", "[{\"id\": 100, \"content\": \"x\"}]", "lies outside"),
    .tokenizer("added_tokens", "[{\"id\": 5, \"content\": \"x\"}]", "another token 5"),
    .tokenizer(
      "added_tokens", "[{\"id\": 99, \"content\": \"x\", \"lstrip\": true}]",
      "true is not supported"),
    Refusal("a missing config.json's token", ["tokenizer_config.json: bos_token"]) {
      $0.settings?["bos_token"] = "<none>"
    },
    Refusal("a token id outside", ["config.json: bos_token_id: 100 is not one of 100"]) {
      $0.config["bos_token_id"] = 100
    },
  ]

  static let tensors: [Refusal] = [
    Refusal("a missing tensor", ["tensor model.norm.weight: the tensor is missing"]) {
      $0.weights.tensors.removeAll { $0.name == "model.norm.weight" }
    },
    Refusal("another tensor", ["tensor model.layers.0.self_attn.o_proj.bias", "has no such"]) {
      $0.weights.add("model.layers.0.self_attn.o_proj.bias", [4], [0, 0, 0, 0])
    },
    Refusal("a second name of a layer", ["tensor model.layers.00.mlp.up_proj.weight"]) {
      $0.weights.add("model.layers.00.mlp.up_proj.weight", [1], [0])
    },
    Refusal("another shape", ["tensor model.norm.weight", "its shape is 5"]) {
      $0.weights.tensors.removeAll { $0.name == "model.norm.weight" }
      $0.weights.add("model.norm.weight", [5], [0, 0, 0, 0, 0])
    },
    Refusal("an output of its own that is missing", ["tensor lm_head.weight"]) {
      $0.config["tie_word_embeddings"] = false
    },
    Refusal("8-bit floats", ["tensor model.norm.weight", "weights of the type F8_E4M3"]) {
      $0.weights.tensors.removeAll { $0.name == "model.norm.weight" }
      $0.weights.add("model.norm.weight", "F8_E4M3", [4], [0, 0, 0, 0])
    },
    Refusal("another vocabulary", ["tensor model.embed_tokens.weight", "100x4"]) {
      $0.config["vocab_size"] = 101
    },
  ]

  @Test(arguments: configurations + tokenizers + tensors)
  func whatIsNotSupportedIsRefusedByName(_ refusal: Refusal) throws {
    var sample = HuggingFaceSample()
    refusal.change(&sample)
    let error = #expect(throws: InputError.self) { try sample.open() }
    for words in refusal.words {
      #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
    }
  }

  /// What is left out changes nothing: tables that are computed here, an output beside a tied one.
  @Test func whatMayBeIgnoredIs() throws {
    var sample = HuggingFaceSample()
    let plain = try sample.open()
    sample.weights.add("model.layers.0.self_attn.rotary_emb.inv_freq", [1], [1])
    sample.weights.add("lm_head.weight", [1], [1])
    sample.config["torch_dtype"] = "bfloat16"
    sample.config["pad_token_id"] = -1
    let model = try sample.open()
    #expect(model.tensors == plain.tensors)
    #expect(model.tokenizer == plain.tokenizer)
  }

  @Test(.needs(.python), arguments: ["llama", "qwen2"])
  func aFolderMadeByTheOracleHasTheValuesOfItsGGUF(name: String) throws {
    let folder = try TemporaryFolder()
    let source = Repository.fixture("golden/tiny-\(name).gguf").path
    let gguf = try GGUFModel(path: source)
    for (kind, files) in [("F32", "1"), ("F16", "3"), ("BF16", "2")] {
      let path = folder.file("\(kind)-\(files)")
      _ = try Oracle.script("safetensors_oracle.py", "folder", source, path, kind, files)
      let model = try SafetensorsModel(path: path)
      var header = gguf.header
      header.ropePairing = .halves
      header.name = model.header.name
      #expect(model.header == header)
      let tokenizer = try #require(model.tokenizer)
      #expect(tokenizer == gguf.tokenizer)
      for (index, tensor) in model.tensors.enumerated() where !tensor.name.contains("attn_") {
        let other = try #require(gguf.tensors.firstIndex { $0.name == tensor.name })
        #expect(gguf.tensors[other].shape == tensor.shape && tensor.typeName == kind)
        let count = tensor.shape.elementCount
        var (found, expected) = (
          [Float](repeating: 0, count: count), [Float](repeating: 0, count: count)
        )
        var output = found.mutableSpan
        try model.readRows(0..<tensor.shape.rowCount, ofTensor: index, into: &output)
        var reference = expected.mutableSpan
        try gguf.readRows(0..<tensor.shape.rowCount, ofTensor: other, into: &reference)
        for (a, b) in zip(found, expected) {
          // BF16 keeps 8 bits of a number, the other two what the fixtures hold or nearly so.
          let unit = abs(b) * (kind == "F32" ? 0 : kind == "F16" ? 0x1p-11 : 0x1p-8)
          #expect(abs(a - b) <= max(unit, kind == "F32" ? 0 : 1e-7))
        }
      }
    }
  }

  @Test(.needs(.python, .model)) func theRealTokenizerGivesTheOraclesIds() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("model")
    // The tokenizer is the model's, whatever the number of layers beside it.
    _ = try Oracle.script(
      "safetensors_oracle.py", "folder", Oracle.model.path(), path, "BF16", "1", "1")
    let description = try #require(try SafetensorsModel(path: path).tokenizer)
    #expect(try description == GGUFModel(path: Oracle.model.path()).tokenizer)
    let texts = [
      "Hello world", "  naïve café 12345 <|im_end|>\n\n\tend", "混合 text\u{1F600}'s don't",
      "", "<|im_start|>user\nHi<|im_end|>\n",
    ]
    try JSONEncoder().encode(texts).write(to: folder.url("texts.json"))
    let answer = try Oracle.script(
      "safetensors_oracle.py", "encode", path, folder.file("texts.json"))
    let expected = try JSONDecoder().decode([[Int32]].self, from: answer)
    let tokenizer = try BPETokenizer(description)
    #expect(texts.map { tokenizer.encode($0) } == expected)
  }
}
