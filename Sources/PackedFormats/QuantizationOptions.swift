/// How scales, endpoints and codes are chosen when weights are quantized.
public struct QuantizationOptions: Sendable {
  /// What a scale of the 2-, 4- and 8-bit formats is fitted to.
  public enum ScaleFit: String, CaseIterable, Hashable, Sendable {
    /// The largest magnitude gets the outermost level: nothing is clipped.
    case absoluteMaximum = "absmax"
    /// The least squared error, weighted where there is an importance of the columns.
    case meanSquare = "mse"
  }

  /// How long the ASTC encoder searches. The raw value is the name on the command line.
  public enum Effort: String, CaseIterable, Hashable, Sendable {
    case fast
    case medium
    case thorough
  }

  /// What scales are fitted to; nil leaves it to the format (see <doc:ScaleFits>).
  public var scaleFit: ScaleFit?
  /// How long the ASTC encoder searches.
  public var effort: Effort
  /// The weight of each column's squared error, positive and finite, one a column: usually the mean
  /// squared activation. nil counts all columns alike. Read where the fit is `meanSquare`, and by
  /// the ASTC encoder.
  public var importance: [Float]?
  /// ASTC: clips each row at so many times its root mean square. nil covers every weight of the
  /// row, so that nothing is clipped.
  public var clipping: Float?
  /// The scale of a per-tensor format, from a ``TensorSurvey`` of the whole tensor; nil takes
  /// the rows at hand for the whole tensor.
  public var tensorScale: Float?

  /// ASTC: the most partitions a block may have, 1 to 3; nil takes what the effort searches. Blocks
  /// of one partition run fastest.
  public var partitionLimit: Int?

  /// The options that fit most: everything left to the format, medium effort.
  public init(
    scaleFit: ScaleFit? = nil, effort: Effort = .medium, importance: [Float]? = nil,
    clipping: Float? = nil, tensorScale: Float? = nil, partitionLimit: Int? = nil
  ) {
    self.scaleFit = scaleFit
    self.effort = effort
    self.importance = importance
    self.clipping = clipping
    self.tensorScale = tensorScale
    self.partitionLimit = partitionLimit
  }
}

/// What quantizing did beside rounding.
public struct QuantizationOutcome: Hashable, Sendable {
  /// Weights outside the range that was asked for, moved to its edge.
  public var clippedCount: Int

  /// An outcome of that many clipped weights.
  public init(clippedCount: Int = 0) { self.clippedCount = clippedCount }

  /// Adds what happened to other rows.
  public mutating func add(_ other: QuantizationOutcome) { clippedCount += other.clippedCount }
}
