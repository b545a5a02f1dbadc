import PackedFormats

/// Which kernel multiplies how many tokens: GEMV token by token, which reads a row tile from memory
/// once and then from cache, or GEMM, which unpacks a part of it at a time for several tokens.
///
/// A number for each family of kernels: the tokens from which on GEMM is chosen. Both give the same
/// bits, so that nothing but time depends on it. What stands in the repository was measured, see
/// ``measured(_:)``; `afm-bench kernels --tune` measures it anew.
package struct PackedProductChoice: Hashable, Sendable {
  private var s8c, s8g32, u4g32, u4c, u2c, u2g64, astcLDR, astcHDR: Int

  /// The families. u2t has the kernels of u2c.
  package static let formats: [WeightFormat] = [
    .s8c, .s8g32, .u4g32, .u4c, .u2c, .u2g64, .astc6x6LDR, .astc6x6HDR,
  ]

  package init(
    s8c: Int, s8g32: Int, u4g32: Int, u4c: Int, u2c: Int, u2g64: Int, astc6x6LDR: Int,
    astc6x6HDR: Int
  ) {
    self.s8c = s8c
    self.s8g32 = s8g32
    self.u4g32 = u4g32
    self.u4c = u4c
    self.u2c = u2c
    self.u2g64 = u2g64
    astcLDR = astc6x6LDR
    astcHDR = astc6x6HDR
  }

  /// Whether GEMM multiplies so many tokens.
  package func usesGEMM(_ format: WeightFormat, tokenCount: Int) -> Bool {
    tokenCount >= self[format]
  }

  /// The tokens from which on GEMM is chosen, 2 or more.
  ///
  /// - Precondition: there are kernels for the format.
  package subscript(format: WeightFormat) -> Int {
    get {
      switch format {
      case .s8c: s8c
      case .s8g32: s8g32
      case .u4g32: u4g32
      case .u4c: u4c
      case .u2c, .u2t: u2c
      case .u2g64: u2g64
      case .astc6x6LDR: astcLDR
      case .astc6x6HDR: astcHDR
      case .f32, .f16: preconditionFailure("there are no kernels for \(format.name)")
      }
    }
    set {
      precondition(newValue >= 2, "one token is GEMV's")
      switch format {
      case .s8c: s8c = newValue
      case .s8g32: s8g32 = newValue
      case .u4g32: u4g32 = newValue
      case .u4c: u4c = newValue
      case .u2c, .u2t: u2c = newValue
      case .u2g64: u2g64 = newValue
      case .astc6x6LDR: astcLDR = newValue
      case .astc6x6HDR: astcHDR = newValue
      case .f32, .f16: preconditionFailure("there are no kernels for \(format.name)")
      }
    }
  }
}
