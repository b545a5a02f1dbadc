import ModelFile

/// One layer's weights.
struct DecoderLayer: Sendable {
  let attentionNorm: FloatVector
  /// Query; and key and value, unless the layer reads those of one before it.
  let projections: LinearGroup
  /// Of each query and key head, where heads are normalised: headDimension gains.
  let queryNorm: FloatVector?
  let keyNorm: FloatVector?
  /// Which keys and values the layer reads: its own, or the last that were made.
  let store: Int
  let output: LinearGroup
  let feedForwardNorm: FloatVector
  let gateAndUp: LinearGroup
  let down: LinearGroup

  /// Whether the layer makes keys and values.
  var makesKeysAndValues: Bool { projections.layers.count > 1 }

  var groups: [LinearGroup] { [projections, output, gateAndUp, down] }
}

/// All of a model's weights at run time.
struct DecoderWeights: Sendable {
  let embedding: Linear
  let layers: [DecoderLayer]
  /// Layers with keys and values of their own: the first ones.
  let storeCount: Int
  let outputNorm: FloatVector
  /// The embedding itself where the model ties them.
  let output: LinearGroup

  /// Loads every tensor the header asks for; a missing or misshapen one is an error that names it.
  init(header: ModelHeader, loader: borrowing WeightLoader) throws {
    embedding = try loader.linear(
      "token_embd", rows: header.vocabularySize, columns: header.hiddenSize, isLookedUp: true)
    storeCount = header.keyValueLayerCount ?? header.layerCount
    var layers: [DecoderLayer] = []
    for index in 0..<header.layerCount {
      layers.append(try Self.layer(index, storeCount: storeCount, header, loader))
    }
    self.layers = layers
    outputNorm = try loader.vector("output_norm.weight", count: header.hiddenSize)
    output = loader.group([
      header.tiedOutput
        ? embedding
        : try loader.linear("output", rows: header.vocabularySize, columns: header.hiddenSize)
    ])
  }

  private static func layer(
    _ index: Int, storeCount: Int, _ header: ModelHeader, _ loader: borrowing WeightLoader
  ) throws -> DecoderLayer {
    let name = "blk.\(index)"
    let hidden = header.hiddenSize
    let queries = header.queryHeadCount * header.headDimension
    let keys = header.keyValueHeadCount * header.headDimension
    let makesKeys = index < storeCount
    var projections: [Linear] = []
    for (suffix, rows) in [("q", queries)] + (makesKeys ? [("k", keys), ("v", keys)] : []) {
      projections.append(
        try loader.linear(
          "\(name).attn_\(suffix)", rows: rows, columns: hidden, hasBias: header.attentionBias))
    }
    func feedForward(_ suffix: String) throws -> Linear {
      try loader.linear("\(name).ffn_\(suffix)", rows: header.feedForwardSize, columns: hidden)
    }
    return DecoderLayer(
      attentionNorm: try loader.vector("\(name).attn_norm.weight", count: hidden),
      projections: loader.group(projections),
      queryNorm: try headNorm("\(name).attn_q_norm.weight", header, loader),
      keyNorm: makesKeys ? try headNorm("\(name).attn_k_norm.weight", header, loader) : nil,
      store: min(index, storeCount - 1),
      output: loader.group([
        try loader.linear("\(name).attn_output", rows: hidden, columns: queries)
      ]),
      feedForwardNorm: try loader.vector("\(name).ffn_norm.weight", count: hidden),
      gateAndUp: loader.group([try feedForward("gate"), try feedForward("up")], isPaired: true),
      down: loader.group([
        try loader.linear("\(name).ffn_down", rows: hidden, columns: header.feedForwardSize)
      ]))
  }

  private static func headNorm(
    _ name: String, _ header: ModelHeader, _ loader: borrowing WeightLoader
  ) throws -> FloatVector? {
    header.headNorm == nil ? nil : try loader.vector(name, count: header.headDimension)
  }

  /// Every group of layers.
  var groups: [LinearGroup] { layers.flatMap(\.groups) + [output] }

  /// Every matrix, the shared one once.
  var matrices: [Linear] {
    [embedding] + groups.flatMap(\.layers).filter { $0 !== embedding }
  }

  /// Every vector of gains.
  var norms: [FloatVector] {
    layers.flatMap { layer in
      [layer.attentionNorm, layer.feedForwardNorm]
        + [layer.queryNorm, layer.keyNorm].compactMap { $0 }
    } + [outputNorm]
  }
}
