/// How a texel's weight comes from the four grid weights around it: sixteenths of each.
///
/// Neighbours p and q stand in one word, p + q · 2¹⁶. Its product with (share of q) + (share of p) ·
/// 2¹⁶ has both parts' sum in the upper half, modulo 2³²; all sums are below 2¹¹.
struct ASTCInfill: BitwiseCopyable {
  /// The word of the texel's upper left grid weight and its right neighbour.
  var upper: UInt16
  /// The same a row below.
  var lower: UInt16
  var upperShares: UInt32
  var lowerShares: UInt32

  /// For texel (x, y) of a 6×6 block and a grid of 2 to 6 columns and rows.
  init(x: Int, y: Int, width: Int, height: Int) {
    // ⌊(1024 + ⌊6 / 2⌋) / (6 − 1)⌋
    let scale = 205
    let column = (scale * x * (width - 1) + 32) >> 6
    let row = (scale * y * (height - 1) + 32) >> 6
    let right = column & 15
    let down = row & 15
    let both = (right * down + 8) >> 4
    let place = (column >> 4) + (row >> 4) * width
    upper = UInt16(place)
    lower = UInt16(place + width)
    upperShares = UInt32(right - both) | UInt32(16 - right - down + both) << 16
    lowerShares = UInt32(both) | UInt32(down - both) << 16
  }

  /// The weight, 0 to 64, from the words of a plane.
  @inline(__always)
  func weight(_ words: UnsafePointer<UInt32>) -> UInt32 {
    // The caller has words up to 7 places behind the grid's last.
    let sum = unsafe words[Int(upper)] &* upperShares &+ words[Int(lower)] &* lowerShares
    return (sum &+ 0x8_0000) &>> 20
  }
}
