import PackedFormats

/// The activations of a token that share a scale when they are quantized to int8. The raw value is
/// its name in kernel names.
public enum ActivationGrouping: String, CaseIterable, Hashable, Sendable {
  /// One scale a token.
  case perToken = "s8t"
  /// One scale a token and chunk of 64 columns.
  case perChunk = "s8g64"
  /// One scale a token and 36 columns: those of a packed block of ASTC.
  case perBlock = "s8g36"

  /// The columns of a chunk of 64: the unit to which the row tiles round columns up.
  package static let chunkColumns = 64

  /// The columns that share a scale at most, and to which columns are rounded up; 64 per token.
  package var chunkColumns: Int { self == .perBlock ? 36 : Self.chunkColumns }

  /// The grouping that the kernels of a packed format read.
  ///
  /// Packed as s8c, SmolLM2-135M has on WikiText-2 a perplexity of 24.51 with a scale per token,
  /// 23.85 with one per 64 columns (32 give no more) and 23.73 with f32 activations. u2c keeps a
  /// scale per token: the error of two bits dwarfs this one, and its integer sums run over all
  /// columns. ASTC has a scale per packed block, whose sums are apart anyway: its calibrated LDR file
  /// has 40.33 where f32 activations give 40.14.
  public static func required(by format: WeightFormat) -> ActivationGrouping {
    switch format {
    case .u2c, .u2t: .perToken
    case .s8c, .s8g32, .u4g32, .u4c, .u2g64: .perChunk
    case .astc6x6LDR, .astc6x6HDR: .perBlock
    case .f32, .f16:
      preconditionFailure("\(format.name) is multiplied with f32 activations")
    }
  }

  /// The chunks that hold so many columns.
  package func chunkCount(columns: Int) -> Int { (columns + chunkColumns - 1) / chunkColumns }

  /// The scales of a token with so many chunks.
  package func scaleCount(chunkCount: Int) -> Int { self == .perToken ? 1 : chunkCount }

  /// The sums of a token with so many chunks: of 32 columns, or of those that share a scale.
  package func sumCount(chunkCount: Int) -> Int {
    self == .perBlock ? chunkCount : chunkCount * 2
  }
}
