import PackedFormats

/// Which kernel multiplies how many tokens.
package enum PackedProductChoice {
  /// The tokens from which on GEMM is chosen over GEMV a token (which reads each row tile from
  /// memory once and then from cache). Measured on Zen 3, AVX2, 2048x2048, medians of 15 interleaved
  /// runs, time of GEMV over GEMM at 2, 4, 6 and 8 tokens: u2c 0.75, 0.87, 1.09, 1.12; u2g64 0.75,
  /// 0.92, 1.01, 1.12; u4g32 1.21, 1.51, 1.77, 1.99; u4c 0.80, 1.00, 1.22, 1.23; s8c 0.73, 0.92,
  /// 0.98, 1.02; s8g32 0.75, 0.97, 1.07, 1.13; of 512x2048 ASTC tiles of kind 0 1.04, 1.63, 1.91, 2.19,
  /// of kind 1 1.47, 2.59, 3.21, 3.81.
  package static func gemmTokenCount(_ format: WeightFormat) -> Int {
    switch format {
    case .u4g32, .astc6x6LDR, .astc6x6HDR: 2
    case .u4c: 4
    case .u2c, .u2g64, .u2t, .s8g32: 6
    case .s8c: 8
    case .f32, .f16:
      preconditionFailure("there are no kernels for \(format.name)")
    }
  }
}
