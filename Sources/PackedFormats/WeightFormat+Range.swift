/// How large numbers may be, so that what is computed with them stays finite.
extension WeightFormat {
  /// The largest magnitude of a weight that is quantized: 2^100, and for f32 and f16 all that they
  /// hold. Formats whose scales are binary16 end below that by themselves.
  ///
  /// With weights up to 2^100, and activations too, a product is finite where Σ|w · x| is below
  /// 2^126: no step of the kernels' formulas leaves the range of binary32 before its result does.
  public var largestWeight: Float {
    switch self {
    case .f32, .f16: .greatestFiniteMagnitude
    default: 0x1p100
    }
  }

  /// The largest binary32 scale that is stored: 2^101, and 2^104 in astc6x6-hdr, whose scale is up
  /// to 20 root mean squares.
  public var largestScale: Float { self == .astc6x6HDR ? 0x1p104 : 0x1p101 }
}
