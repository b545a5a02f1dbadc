/// How a texel's weight comes from the four grid weights around it: sixteenths of each.
///
/// The four stand in one word, 16 bits each: upper left lowest, upper right, lower left, lower
/// right. Its product with the shares in the opposite order has the sum of the four products in the
/// uppermost 16 bits, modulo 2⁶⁴; nothing is carried into them, since all sums are below 2¹¹.
struct ASTCInfill: BitwiseCopyable {
  /// Of the lower right grid weight lowest.
  var shares: UInt64
  /// The word of the texel's upper left grid weight.
  var place: Int

  /// For texel (x, y) of a 6×6 block and a grid of 2 to 6 columns and rows.
  init(x: Int, y: Int, width: Int, height: Int) {
    // ⌊(1024 + ⌊6 / 2⌋) / (6 − 1)⌋
    let scale = 205
    let column = (scale * x * (width - 1) + 32) >> 6
    let row = (scale * y * (height - 1) + 32) >> 6
    let right = column & 15
    let down = row & 15
    let both = (right * down + 8) >> 4
    place = (column >> 4) + (row >> 4) * width
    let upper = UInt64(right - both) << 32 | UInt64(16 - right - down + both) << 48
    shares = upper | UInt64(both) | UInt64(down - both) << 16
  }

  /// The weight, 0 to 64, from the words of a plane.
  @inline(__always)
  func weight(_ words: UnsafePointer<UInt64>) -> Int {
    // The place is that of a grid weight.
    let sum = unsafe words[place] &* shares
    return Int(truncatingIfNeeded: (sum &+ 8 &<< 48) &>> 52)
  }
}
