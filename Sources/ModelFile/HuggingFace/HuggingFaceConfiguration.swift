import TensorCore

/// Builds a model header from a Hugging Face `config.json` of a Llama or Qwen2 model.
///
/// Whatever would change the computation and that the header cannot say is refused by name; the
/// rules are those of <doc:HuggingFace>.
struct HuggingFaceConfiguration {
  private let root: JSONNode
  private let architecture: String

  static let byteCountLimit = 1 << 20
  private static let classNames = ["llama": "LlamaForCausalLM", "qwen2": "Qwen2ForCausalLM"]

  init(parsing bytes: [UInt8]) throws(InputError) {
    root = try JSONNode(parsing: bytes)
    guard root.members != nil else { throw root.error("an object is expected") }
    guard let type = try root.string("model_type") else {
      throw root.error("model_type", "the name is missing")
    }
    guard let className = Self.classNames[type] else {
      throw root.error("model_type", "\(type) is not supported, only llama and qwen2")
    }
    if let classes = root["architectures"]?.elements,
      !classes.contains(where: { $0.text == className })
    {
      let found = classes.compactMap(\.text).joined(separator: ", ")
      throw root.error("architectures", "\(found) is not \(className)")
    }
    architecture = type
  }

  /// The rows that the embedding must have.
  func vocabularySize() throws(InputError) -> Int { try root.requiredCount("vocab_size") }

  /// Whether the output projection is the embedding matrix.
  func tiedOutput() throws(InputError) -> Bool { try root.bool("tie_word_embeddings") ?? false }

  /// A token id under that name, or the first of several; nil where it is negative.
  func token(_ name: String) throws(InputError) -> Int? {
    guard let node = root[name] else { return nil }
    let first = node.elements.map { $0.first } ?? node
    guard let first, case .number(let number) = first.value, let id = Int(exactly: number)
    else { throw node.error("a token id is expected") }
    return id < 0 ? nil : id
  }

  /// The header; `name` stands for the model where the file gives no name.
  func header(name: String) throws(InputError) -> ModelHeader {
    try refuseUnsupported()
    let hiddenSize = try root.requiredCount("hidden_size")
    let queryHeadCount = try root.requiredCount("num_attention_heads")
    let keyValueHeadCount = try root.count("num_key_value_heads") ?? queryHeadCount
    guard queryHeadCount % keyValueHeadCount == 0 else {
      throw root.error(
        "num_key_value_heads",
        "\(queryHeadCount) query heads are no multiple of "
          + "\(keyValueHeadCount)")
    }
    let headDimension = try headDimension(hiddenSize: hiddenSize, headCount: queryHeadCount)
    let epsilon = try root.number("rms_norm_eps") ?? 1e-6
    guard epsilon > 0, epsilon < 1 else {
      throw root.error("rms_norm_eps", "\(epsilon) is not between 0 and 1")
    }
    return ModelHeader(
      architecture: architecture, name: try root.string("_name_or_path").nonEmpty ?? name,
      layerCount: try root.requiredCount("num_hidden_layers"), hiddenSize: hiddenSize,
      feedForwardSize: try root.requiredCount("intermediate_size"),
      vocabularySize: try vocabularySize(), queryHeadCount: queryHeadCount,
      keyValueHeadCount: keyValueHeadCount, headDimension: headDimension,
      contextLength: try root.requiredCount("max_position_embeddings"),
      ropeBase: try ropeBase(), ropePairing: .halves, ropeDimension: headDimension,
      normEpsilon: epsilon, tiedOutput: try tiedOutput(), attentionBias: architecture == "qwen2")
  }

  private func headDimension(hiddenSize: Int, headCount: Int) throws(InputError) -> Int {
    let stated = try root.count("head_dim")
    if stated == nil, hiddenSize % headCount != 0 {
      throw root.error(
        "num_attention_heads", "the hidden size \(hiddenSize) is no multiple of \(headCount)")
    }
    let dimension = stated ?? hiddenSize / headCount
    guard dimension % 2 == 0 else {
      throw root.error("head_dim", "\(dimension) is odd: its elements cannot rotate in pairs")
    }
    return dimension
  }

  /// Newer files keep the base among `rope_parameters`.
  private func ropeBase() throws(InputError) -> Double {
    var base = try root.number("rope_theta") ?? 10_000
    if let newer = try root["rope_parameters"]?.number("rope_theta") { base = newer }
    guard base > 0 else { throw root.error("rope_theta", "\(base) is not positive") }
    return base
  }

  private func refuseUnsupported() throws(InputError) {
    if let quantization = root["quantization_config"] {
      let method = try quantization.string("quant_method") ?? "an unnamed method"
      throw quantization.error("weights quantized by \(method) are not supported")
    }
    let activation = try root.string("hidden_act") ?? "silu"
    guard activation == "silu" || activation == "swish" else {
      throw root.error("hidden_act", "\(activation) is not supported, only silu")
    }
    for name in ["attention_bias", "mlp_bias"] where try root.bool(name) == true {
      throw root.error(
        name, "biases of the output, gate, up and down projections are not supported")
    }
    if try root.bool("use_sliding_window") == true {
      throw root.error("use_sliding_window", "sliding windows are not supported")
    }
    for layer in root["layer_types"]?.elements ?? [] where layer.text != "full_attention" {
      throw layer.error(
        "\(layer.text ?? "what is no string") is not supported, only full_attention")
    }
    for name in ["rope_scaling", "rope_parameters"] {
      guard let scaling = root[name] else { continue }
      guard scaling.members != nil else { throw scaling.error("an object is expected") }
      var kind = try scaling.string("type") ?? "default"
      if let newer = try scaling.string("rope_type") { kind = newer }
      guard kind == "default" else {
        throw scaling.error("RoPE scaling of the kind \(kind) is not supported")
      }
      if let nested = scaling.members?.values.first(where: { $0.members != nil }) {
        throw nested.error("RoPE parameters of single kinds of layers are not supported")
      }
      try refusePartialRotation(scaling)
    }
    try refusePartialRotation(root)
  }

  private func refusePartialRotation(_ node: JSONNode) throws(InputError) {
    if let factor = try node.number("partial_rotary_factor"), factor != 1 {
      throw node.error("partial_rotary_factor", "\(factor) is not supported, only 1")
    }
  }
}

extension String? {
  fileprivate var nonEmpty: String? { self.flatMap { $0.isEmpty ? nil : $0 } }
}
