/// How a texel's weight comes from the four grid weights around it: sixteenths of each.
struct ASTCInfill: BitwiseCopyable {
  /// The grid weight at the texel's upper left.
  var place: UInt8
  /// The shares of it, of its right, its lower and its lower right neighbour; 16 together. A
  /// neighbour outside the grid has none.
  var share00: UInt8
  var share01: UInt8
  var share10: UInt8
  var share11: UInt8

  /// For texel (x, y) of a 6×6 block and a grid of 2 to 6 columns and rows.
  init(x: Int, y: Int, width: Int, height: Int) {
    // ⌊(1024 + ⌊6 / 2⌋) / (6 − 1)⌋
    let scale = 205
    let column = (scale * x * (width - 1) + 32) >> 6
    let row = (scale * y * (height - 1) + 32) >> 6
    let right = column & 15
    let down = row & 15
    let both = (right * down + 8) >> 4
    place = UInt8((column >> 4) + (row >> 4) * width)
    share11 = UInt8(both)
    share10 = UInt8(down - both)
    share01 = UInt8(right - both)
    share00 = UInt8(16 - right - down + both)
  }

  /// The 36 of a grid.
  @inline(__always)
  static func grid(width: UInt8, height: UInt8) -> UnsafePointer<ASTCInfill> {
    // A legal mode has 2 to 6 columns and rows: 25 grids.
    let index = (Int(width) &- 2) &* 5 &+ (Int(height) &- 2)
    return unsafe ASTCTables.shared.infill + index &* 36
  }
}
