/// The columns of u2c and u2g64 that share a scale: value = (code − 1.5) · scale.
enum TwoBitGroup {
  /// The scale of least mean-square error, found exactly.
  ///
  /// A weight x is stored as ±0.5·s or ±1.5·s, whichever is nearer, so the assignment is decided by
  /// a threshold on |x|. For each of the n thresholds between the sorted magnitudes the best scale
  /// is a least-squares fit s = N/D with N = 0.5·Σlow + 1.5·Σhigh, D = 0.25·#low + 2.25·#high, and
  /// it lowers the squared error by N²/D: the largest N²/D over the thresholds is the global
  /// optimum. Ties go to the smaller scale. O(n log n). Sums are binary64.
  ///
  /// - Parameter half: the scale is rounded to binary16 (the codes are chosen after that).
  /// - Throws: where the scale, or 1.5 times it, overflows.
  static func scale(
    for x: UnsafeBufferPointer<Float>, sorted: inout [UInt32], half: Bool
  ) throws(PackedFormatError) -> Float {
    // The bits of non-negative floats sort like their values.
    sorted.removeAll(keepingCapacity: true)
    var high = 0.0
    for index in x.indices {
      let magnitude = unsafe x[index].magnitude
      sorted.append(magnitude.bitPattern)
      high += Double(magnitude)
    }
    guard high > 0 else { return 0 }
    sorted.sort()

    let count = Double(sorted.count)
    var low = 0.0
    var best = 0.0
    var bestScale = 0.0
    // All weights low gives the error of all weights high at three times the scale: left out.
    for index in sorted.indices {
      let numerator = 0.5 * low + 1.5 * high
      let denominator = 2.25 * count - 2 * Double(index)
      if numerator * numerator > best * denominator {
        best = numerator * numerator / denominator
        bestScale = numerator / denominator
      }
      let magnitude = Double(Float(bitPattern: sorted[index]))
      low += magnitude
      high = max(0, high - magnitude)
    }
    var scale = Float(bestScale)
    if half {
      scale = scale < 65520 ? HalfPrecision.rounded(scale) : .infinity
    } else if scale == 0 {
      scale = .leastNonzeroMagnitude
    }
    guard (1.5 * scale).isFinite else { throw PackedFormatError(.outOfRange) }
    return scale
  }

  /// Writes the nearest codes, four a byte from the low bits up; a zero scale gets the code 2
  /// throughout, which means +0. `codes` holds a quarter byte for each of `x`, rounded up.
  static func encode(
    _ x: UnsafeBufferPointer<Float>, scale: Float, codes: UnsafeMutableRawBufferPointer
  ) {
    /// 0 below −s, 1 below 0, 2 below s, else 3.
    @inline(__always) func code(_ value: Float) -> UInt8 {
      guard scale > 0 else { return 2 }
      return (value >= -scale ? 1 : 0) &+ (value >= 0 ? 1 : 0) &+ (value >= scale ? 1 : 0)
    }
    for byte in codes.indices {
      var packed: UInt8 = 0
      for lane in 0..<4 where byte * 4 + lane < x.count {
        packed |= unsafe code(x[byte * 4 + lane]) &<< UInt8(lane * 2)
      }
      unsafe codes[byte] = packed
    }
  }
}
