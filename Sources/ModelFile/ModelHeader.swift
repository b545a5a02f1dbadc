import PackedFormats
import TensorCore

/// What a graph needs to know about a model: its architecture and hyperparameters.
///
/// Stored as JSON in a `.afmw` header under these property names. Optional properties stand there
/// only where a model has them, so that the headers of plain architectures stay what they were.
public struct ModelHeader: Codable, Hashable, Sendable {
  /// Which query and key elements a rotation pairs.
  public enum RopePairing: String, Codable, Sendable {
    /// Elements 2i and 2i+1 of a head (GGUF's `llama`).
    case adjacent
    /// Elements i and i + headDimension/2 (GGUF's `qwen2`).
    case halves
  }

  /// When the heads of queries and keys are normalised, each by an RMSNorm over its elements.
  public enum HeadNorm: String, Codable, Sendable {
    /// After the rotation.
    case afterRope
    /// Before the rotation.
    case beforeRope
  }

  /// The scales of an 8-bit cache that the model was trained with: value = code · scale.
  public struct CacheScales: Codable, Hashable, Sendable {
    /// Of the keys, one for each layer that has its own.
    public var keys: [Float]
    /// Of the values, one for each layer that has its own.
    public var values: [Float]

    /// Scales of that many layers.
    public init(keys: [Float], values: [Float]) {
      self.keys = keys
      self.values = values
    }
  }

  /// The graph: `llama`, `qwen2` or `afm-ondevice`.
  public var architecture: String
  /// The model's name as its source gives it.
  public var name: String
  /// Transformer layers.
  public var layerCount: Int
  /// Elements of the residual stream.
  public var hiddenSize: Int
  /// Rows of the gate and up projections.
  public var feedForwardSize: Int
  /// Entries of the vocabulary.
  public var vocabularySize: Int
  /// Query heads a layer.
  public var queryHeadCount: Int
  /// Key/value heads a layer; divides the query heads.
  public var keyValueHeadCount: Int
  /// Elements of one head.
  public var headDimension: Int
  /// Positions the model was trained for.
  public var contextLength: Int
  /// The base of the rotation's frequencies.
  public var ropeBase: Double
  /// Which elements of a head rotate together.
  public var ropePairing: RopePairing
  /// Elements of a head that are rotated; the rest pass unchanged.
  public var ropeDimension: Int
  /// What RMSNorm adds to the mean square.
  public var normEpsilon: Double
  /// The output projection is the embedding matrix.
  public var tiedOutput: Bool
  /// Q, K and V have biases.
  public var attentionBias: Bool
  /// Layers, counted from the first, that project keys and values of their own; the layers after
  /// them read those of the last one. nil means all.
  public var keyValueLayerCount: Int?
  /// The normalisation of query and key heads; nil where there is none.
  public var headNorm: HeadNorm?
  /// Static scales of an 8-bit cache; nil where the model has none.
  public var cacheScales: CacheScales?

  /// A header of exactly these values, unchecked.
  public init(
    architecture: String, name: String, layerCount: Int, hiddenSize: Int, feedForwardSize: Int,
    vocabularySize: Int, queryHeadCount: Int, keyValueHeadCount: Int, headDimension: Int,
    contextLength: Int, ropeBase: Double, ropePairing: RopePairing, ropeDimension: Int,
    normEpsilon: Double, tiedOutput: Bool, attentionBias: Bool, keyValueLayerCount: Int? = nil,
    headNorm: HeadNorm? = nil, cacheScales: CacheScales? = nil
  ) {
    self.architecture = architecture
    self.name = name
    self.layerCount = layerCount
    self.hiddenSize = hiddenSize
    self.feedForwardSize = feedForwardSize
    self.vocabularySize = vocabularySize
    self.queryHeadCount = queryHeadCount
    self.keyValueHeadCount = keyValueHeadCount
    self.headDimension = headDimension
    self.contextLength = contextLength
    self.ropeBase = ropeBase
    self.ropePairing = ropePairing
    self.ropeDimension = ropeDimension
    self.normEpsilon = normEpsilon
    self.tiedOutput = tiedOutput
    self.attentionBias = attentionBias
    self.keyValueLayerCount = keyValueLayerCount
    self.headNorm = headNorm
    self.cacheScales = cacheScales
  }
}
