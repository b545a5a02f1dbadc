import RandomNumbers

/// Normally distributed numbers that any thread can make for any row, with the same bits on every
/// machine.
///
/// A row's stream is SplitMix64 (Steele, Lea, Flood 2014) from a key mixed of seed, tensor and row.
/// Each of its 64-bit words gives two values: of 32 bits the highest is the sign and the others, with
/// the lowest one set, the tail probability's numerator r; |value| is the normal quantile of r / 2³²
/// by ``NormalQuantiles``, and value · deviation + mean is rounded after the product and after the
/// sum. An odd last column takes the low half of its word.
struct SeededRow {
  private let key: UInt64

  init(seed: UInt64, tensor: Int, row: Int) {
    let tensorKey = SplitMix64.mix(SplitMix64.mix(seed) &+ UInt64(tensor) &* SplitMix64.increment)
    key = SplitMix64.mix(tensorKey &+ UInt64(row) &* SplitMix64.increment)
  }

  /// Fills a row.
  func fill(
    _ output: UnsafeMutableBufferPointer<Float>, deviation: Float, mean: Float,
    quantiles: NormalQuantiles
  ) {
    unsafe quantiles.lines.withUnsafeBufferPointer { lines in
      // The table has a line for every index that 31 bits can give: see `value`.
      precondition(lines.count == 1024, "the table is not whole")
      var state = key
      var index = 0
      while index &+ 1 < output.count {
        state &+= SplitMix64.increment
        let word = SplitMix64.mix(state)
        // index + 1 was checked.
        unsafe output[index] = value(UInt32(truncatingIfNeeded: word), lines) * deviation + mean
        unsafe output[index &+ 1] =
          value(UInt32(truncatingIfNeeded: word >> 32), lines) * deviation + mean
        index &+= 2
      }
      if index < output.count {
        let word = SplitMix64.mix(state &+ SplitMix64.increment)
        unsafe output[index] = value(UInt32(truncatingIfNeeded: word), lines) * deviation + mean
      }
    }
  }

  @inline(__always)
  private func value(
    _ bits: UInt32, _ lines: UnsafeBufferPointer<NormalQuantiles.Line>
  ) -> Float {
    // 1 ... 2³¹ − 1, rounded to nearest: at most 2³¹, whose exponent is 158.
    let r = Float(Int32(bitPattern: bits & 0x7FFF_FFFF | 1))
    // Exponent and five bits of fraction, counted from those of r = 1: 0 ... 31 · 32.
    let index = Int(truncatingIfNeeded: (r.bitPattern >> 18) &- (127 << 5))
    let line = unsafe lines[index]
    let magnitude = line.start + line.slope * r
    return Float(bitPattern: magnitude.bitPattern ^ (bits & 0x8000_0000))
  }
}
