import TensorCore

/// Builds a model header from the metadata and tensor directory of a GGUF file.
struct GGUFHeaderReader {
  private let metadata: GGUFMetadata
  private let tensors: [GGUFTensor]
  private let architecture: String

  /// Hyperparameters above this are absurd; below it products of two fit an `Int`.
  static let maximumCount = Int(Int32.max)

  init(_ file: GGUFFile) throws(InputError) {
    metadata = file.metadata
    tensors = file.tensors
    guard let architecture = try metadata.string("general.architecture") else {
      throw metadata.error("general.architecture", "the key is missing")
    }
    guard architecture == "llama" || architecture == "qwen2" else {
      throw metadata.error(
        "general.architecture", "\(architecture) is not supported, only llama and qwen2")
    }
    self.architecture = architecture
  }

  func header() throws(InputError) -> ModelHeader {
    try refuseUnsupported()
    let hiddenSize = try requiredCount("embedding_length")
    let queryHeadCount = try requiredCount("attention.head_count")
    let keyValueHeadCount = try count("attention.head_count_kv") ?? queryHeadCount
    guard queryHeadCount % keyValueHeadCount == 0 else {
      throw error(
        "attention.head_count_kv",
        "\(queryHeadCount) query heads are no multiple of \(keyValueHeadCount)")
    }
    let headDimension = try headDimension(hiddenSize: hiddenSize, headCount: queryHeadCount)
    let ropeDimension = try count("rope.dimension_count") ?? headDimension
    guard ropeDimension <= headDimension, ropeDimension % 2 == 0 else {
      throw error(
        "rope.dimension_count",
        "\(ropeDimension) is not an even number up to the head dimension \(headDimension)")
    }
    let ropeBase = try metadata.number(key("rope.freq_base")) ?? 10_000
    guard ropeBase > 0 else { throw error("rope.freq_base", "\(ropeBase) is not positive") }
    let epsilonKey = "attention.layer_norm_rms_epsilon"
    guard let normEpsilon = try metadata.number(key(epsilonKey)) else {
      throw error(epsilonKey, "the key is missing")
    }
    guard normEpsilon > 0, normEpsilon < 1 else {
      throw error(epsilonKey, "\(normEpsilon) is not between 0 and 1")
    }
    return ModelHeader(
      architecture: architecture, name: try metadata.string("general.name") ?? architecture,
      layerCount: try requiredCount("block_count"), hiddenSize: hiddenSize,
      feedForwardSize: try requiredCount("feed_forward_length"),
      vocabularySize: try vocabularySize(), queryHeadCount: queryHeadCount,
      keyValueHeadCount: keyValueHeadCount, headDimension: headDimension,
      contextLength: try requiredCount("context_length"), ropeBase: ropeBase,
      ropePairing: architecture == "llama" ? .adjacent : .halves, ropeDimension: ropeDimension,
      normEpsilon: normEpsilon, tiedOutput: !tensors.contains { $0.name == "output.weight" },
      attentionBias: tensors.contains { $0.name == "blk.0.attn_q.bias" })
  }

  private func key(_ suffix: String) -> String { "\(architecture).\(suffix)" }

  private func error(_ suffix: String, _ reason: String) -> InputError {
    metadata.error(key(suffix), reason)
  }

  /// A positive count of sane magnitude, or nil where the key is absent.
  private func count(_ suffix: String) throws(InputError) -> Int? {
    if case .array = metadata[key(suffix)] {
      throw error(suffix, "a value a layer is not supported")
    }
    guard let count = try metadata.count(key(suffix)) else { return nil }
    guard count > 0, count <= Self.maximumCount else {
      throw error(suffix, "\(count) is not between 1 and \(Self.maximumCount)")
    }
    return count
  }

  private func requiredCount(_ suffix: String) throws(InputError) -> Int {
    guard let count = try count(suffix) else { throw error(suffix, "the key is missing") }
    return count
  }

  private func headDimension(hiddenSize: Int, headCount: Int) throws(InputError) -> Int {
    let keyLength = try count("attention.key_length")
    if keyLength == nil, hiddenSize % headCount != 0 {
      throw error(
        "attention.head_count", "the hidden size \(hiddenSize) is no multiple of \(headCount)")
    }
    let headDimension = keyLength ?? hiddenSize / headCount
    if let valueLength = try count("attention.value_length"), valueLength != headDimension {
      throw error(
        "attention.value_length", "\(valueLength) differs from the key length \(headDimension)")
    }
    return headDimension
  }

  /// The rows of the embedding, which the key vocab_size must repeat where it is there.
  private func vocabularySize() throws(InputError) -> Int {
    guard let embedding = tensors.first(where: { $0.name == "token_embd.weight" }) else {
      throw InputError(place: "tensor token_embd.weight", reason: "the tensor is missing")
    }
    let rowCount = embedding.shape.rowCount
    if let size = try count("vocab_size"), size != rowCount {
      throw error("vocab_size", "\(size), but token_embd.weight has \(rowCount) rows")
    }
    return rowCount
  }

  /// Refuses what the header cannot express.
  private func refuseUnsupported() throws(InputError) {
    if let experts = try metadata.count(key("expert_count")), experts > 0 {
      throw error("expert_count", "mixtures of experts are not supported")
    }
    try refuseRopeScaling()
    // Factors of other models that share the architecture's name, and the value that means none.
    for suffix in [
      "logit_scale", "residual_scale", "embedding_scale", "attention.scale",
      "attention.clamp_kqv", "attn_logit_softcapping", "final_logit_softcapping",
    ] {
      if let value = try metadata.number(key(suffix)), value != 0 {
        throw error(suffix, "\(value) is not supported")
      }
    }
    if try metadata.bool(key("attention.causal")) == false {
      throw error("attention.causal", "attention that is not causal is not supported")
    }
  }

  private func refuseRopeScaling() throws(InputError) {
    let type = try metadata.string(key("rope.scaling.type")) ?? "linear"
    guard type == "none" || type == "linear" else {
      throw error(
        "rope.scaling.type", "\(type) is not supported, only none, or linear with factor 1")
    }
    guard type == "linear" else { return }
    for suffix in ["rope.scaling.factor", "rope.scale_linear"] {
      if let factor = try metadata.number(key(suffix)), factor != 1, factor != 0 {
        throw error(suffix, "RoPE scaling by \(factor) is not supported")
      }
    }
  }
}
