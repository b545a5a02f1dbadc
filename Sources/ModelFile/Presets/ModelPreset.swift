import TensorCore

/// A model whose shape is known and whose weights are not: the suite makes them from a seed.
///
/// Dimensions of `afm-ondevice-2025` and of its published totals are Apple's; a choice of ours is
/// called one where it stands.
package enum ModelPreset: String, CaseIterable, Sendable {
  /// 3.1 billion parameters: 35 layers with keys and values of their own and 21 that read the last
  /// of them (5:3).
  case onDevice2025 = "afm-ondevice-2025"
  /// 2.7 billion parameters: 26 layers like each other.
  case onDevice2024 = "afm-ondevice-2024"
  /// The graph of 2025 at 5 + 3 layers and an eighth of the widths: 6.4 million parameters, for
  /// tests.
  case onDeviceTiny = "afm-ondevice-tiny"

  /// The preset of a name on the command line.
  package init?(name: String) { self.init(rawValue: name) }

  /// The name on the command line.
  package var name: String { rawValue }

  /// Architecture and hyperparameters.
  ///
  /// Choices of ours: the RoPE base of 500,000, the norm epsilon of 1e-5, halves as rotation
  /// pairs, the cache scales (3/64: codes reach 5.95, where a key's or value's root mean square
  /// is 1), and for 2024 the feed-forward size, which brings the parameters outside the embedding
  /// to the published 2.58 billion, and the head norms.
  package var header: ModelHeader {
    switch self {
    case .onDevice2025:
      Self.header(
        rawValue, layers: 56, ownKeyValueLayers: 35, hidden: 2048, feedForward: 6656,
        vocabulary: 153_600, queryHeads: 16, keyValueHeads: 2, headDimension: 128, context: 8192)
    case .onDevice2024:
      Self.header(
        rawValue, layers: 26, ownKeyValueLayers: 26, hidden: 3072, feedForward: 8032,
        vocabulary: 49_152, queryHeads: 24, keyValueHeads: 8, headDimension: 128, context: 4096)
    case .onDeviceTiny:
      Self.header(
        rawValue, layers: 8, ownKeyValueLayers: 5, hidden: 256, feedForward: 832,
        vocabulary: 512, queryHeads: 16, keyValueHeads: 2, headDimension: 16, context: 1024)
    }
  }

  private static func header(
    _ name: String, layers: Int, ownKeyValueLayers: Int, hidden: Int, feedForward: Int,
    vocabulary: Int, queryHeads: Int, keyValueHeads: Int, headDimension: Int, context: Int
  ) -> ModelHeader {
    let scales = [Float](repeating: 0.046875, count: ownKeyValueLayers)
    return ModelHeader(
      architecture: OnDeviceTensors.architecture, name: name, layerCount: layers,
      hiddenSize: hidden, feedForwardSize: feedForward, vocabularySize: vocabulary,
      queryHeadCount: queryHeads, keyValueHeadCount: keyValueHeads, headDimension: headDimension,
      contextLength: context, ropeBase: 500_000, ropePairing: .halves,
      ropeDimension: headDimension, normEpsilon: 1e-5, tiedOutput: true, attentionBias: false,
      keyValueLayerCount: ownKeyValueLayers, headNorm: .afterRope,
      cacheScales: ModelHeader.CacheScales(keys: scales, values: scales))
  }
}
