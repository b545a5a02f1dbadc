import ModelFile

/// One layer's weights.
struct LlamaLayer: Sendable {
  let attentionNorm: FloatVector
  let query: Linear
  /// Of each query head, where heads are normalised: headDimension gains.
  let queryNorm: FloatVector?
  /// nil where the layer reads the keys and values of one before it.
  let keyValues: KeyValueProjection?
  /// Which keys and values the layer reads: its own, or the last that were made.
  let store: Int
  let output: Linear
  let feedForwardNorm: FloatVector
  let gate: Linear
  let up: Linear
  let down: Linear
}

/// What makes a layer's keys and values.
struct KeyValueProjection: Sendable {
  let key: Linear
  let value: Linear
  /// Of each key head, where heads are normalised.
  let keyNorm: FloatVector?
}

/// All of a model's weights at run time.
struct LlamaWeights: Sendable {
  let embedding: Linear
  let layers: [LlamaLayer]
  /// Layers with keys and values of their own: the first ones.
  let storeCount: Int
  let outputNorm: FloatVector
  /// The embedding itself where the model ties them.
  let output: Linear

  /// Loads every tensor the header asks for; a missing or misshapen one is an error that names it.
  init(header: ModelHeader, loader: borrowing WeightLoader) throws {
    let hidden = header.hiddenSize
    let queries = header.queryHeadCount * header.headDimension
    let feedForward = header.feedForwardSize
    embedding = try loader.linear(
      "token_embd", rows: header.vocabularySize, columns: hidden, isLookedUp: true)
    storeCount = header.keyValueLayerCount ?? header.layerCount
    var layers: [LlamaLayer] = []
    for index in 0..<header.layerCount {
      let name = "blk.\(index)"
      layers.append(
        LlamaLayer(
          attentionNorm: try loader.vector("\(name).attn_norm.weight", count: hidden),
          query: try loader.linear(
            "\(name).attn_q", rows: queries, columns: hidden, hasBias: header.attentionBias),
          queryNorm: try Self.headNorm("\(name).attn_q_norm.weight", header, loader),
          keyValues: index < storeCount
            ? try Self.keyValues(layer: name, header, loader) : nil,
          store: min(index, storeCount - 1),
          output: try loader.linear("\(name).attn_output", rows: hidden, columns: queries),
          feedForwardNorm: try loader.vector("\(name).ffn_norm.weight", count: hidden),
          gate: try loader.linear("\(name).ffn_gate", rows: feedForward, columns: hidden),
          up: try loader.linear("\(name).ffn_up", rows: feedForward, columns: hidden),
          down: try loader.linear("\(name).ffn_down", rows: hidden, columns: feedForward)))
    }
    self.layers = layers
    outputNorm = try loader.vector("output_norm.weight", count: hidden)
    output =
      header.tiedOutput
      ? embedding
      : try loader.linear("output", rows: header.vocabularySize, columns: hidden)
  }

  private static func keyValues(
    layer name: String, _ header: ModelHeader, _ loader: borrowing WeightLoader
  ) throws -> KeyValueProjection {
    let rows = header.keyValueHeadCount * header.headDimension
    func projection(_ suffix: String) throws -> Linear {
      try loader.linear(
        "\(name).\(suffix)", rows: rows, columns: header.hiddenSize,
        hasBias: header.attentionBias)
    }
    return KeyValueProjection(
      key: try projection("attn_k"), value: try projection("attn_v"),
      keyNorm: try headNorm("\(name).attn_k_norm.weight", header, loader))
  }

  private static func headNorm(
    _ name: String, _ header: ModelHeader, _ loader: borrowing WeightLoader
  ) throws -> FloatVector? {
    header.headNorm == nil ? nil : try loader.vector(name, count: header.headDimension)
  }

  /// Every matrix, the shared one once.
  var matrices: [Linear] {
    var all = [embedding]
    for layer in layers {
      all.append(layer.query)
      if let own = layer.keyValues { all += [own.key, own.value] }
      all += [layer.output, layer.gate, layer.up, layer.down]
    }
    if output !== embedding { all.append(output) }
    return all
  }

  /// Every vector of gains.
  var norms: [FloatVector] {
    layers.flatMap { layer in
      [layer.attentionNorm, layer.feedForwardNorm]
        + [layer.queryNorm, layer.keyValues?.keyNorm].compactMap { $0 }
    } + [outputNorm]
  }
}
