import PackedFormats
import TensorCore

/// What a graph needs to know about a model: its architecture and hyperparameters.
///
/// Stored as JSON in a `.afmw` header under these property names.
public struct ModelHeader: Codable, Hashable, Sendable {
  /// Which query and key elements a rotation pairs.
  public enum RopePairing: String, Codable, Sendable {
    /// Elements 2i and 2i+1 of a head (GGUF's `llama`).
    case adjacent
    /// Elements i and i + headDimension/2 (GGUF's `qwen2`).
    case halves
  }

  /// The graph: `llama` or `qwen2`.
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

  /// A header of exactly these values, unchecked.
  public init(
    architecture: String, name: String, layerCount: Int, hiddenSize: Int, feedForwardSize: Int,
    vocabularySize: Int, queryHeadCount: Int, keyValueHeadCount: Int, headDimension: Int,
    contextLength: Int, ropeBase: Double, ropePairing: RopePairing, ropeDimension: Int,
    normEpsilon: Double, tiedOutput: Bool, attentionBias: Bool
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
  }
}
