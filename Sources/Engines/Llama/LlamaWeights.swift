import ModelFile

/// One layer's weights.
struct LlamaLayer: Sendable {
  let attentionNorm: FloatVector
  let query: Linear
  let key: Linear
  let value: Linear
  let output: Linear
  let feedForwardNorm: FloatVector
  let gate: Linear
  let up: Linear
  let down: Linear
}

/// All of a model's weights at run time.
struct LlamaWeights: Sendable {
  let embedding: Linear
  let layers: [LlamaLayer]
  let outputNorm: FloatVector
  /// The embedding itself where the model ties them.
  let output: Linear

  /// Loads every tensor the header asks for; a missing or misshapen one is an error that names it.
  init(header: ModelHeader, loader: borrowing WeightLoader) throws {
    let hidden = header.hiddenSize
    let queries = header.queryHeadCount * header.headDimension
    let keys = header.keyValueHeadCount * header.headDimension
    let feedForward = header.feedForwardSize
    embedding = try loader.linear(
      "token_embd", rows: header.vocabularySize, columns: hidden, isLookedUp: true)
    var layers: [LlamaLayer] = []
    for index in 0..<header.layerCount {
      let name = "blk.\(index)"
      let bias = header.attentionBias
      layers.append(
        LlamaLayer(
          attentionNorm: try loader.vector("\(name).attn_norm.weight", count: hidden),
          query: try loader.linear(
            "\(name).attn_q", rows: queries, columns: hidden, hasBias: bias),
          key: try loader.linear("\(name).attn_k", rows: keys, columns: hidden, hasBias: bias),
          value: try loader.linear("\(name).attn_v", rows: keys, columns: hidden, hasBias: bias),
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

  /// Every matrix, the shared one once.
  var matrices: [Linear] {
    var all = [embedding]
    for layer in layers {
      all += [
        layer.query, layer.key, layer.value, layer.output, layer.gate, layer.up, layer.down,
      ]
    }
    if output !== embedding { all.append(output) }
    return all
  }
}
