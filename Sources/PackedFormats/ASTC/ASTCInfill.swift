/// How a texel's weight comes from the four grid weights around it: sixteenths of each.
///
/// The four stand in one word, 16 bits each: upper left lowest, upper right, lower left, lower
/// right; with two planes lower left before upper right. Its product with the shares in the opposite
/// order has the sum of the four products in the uppermost 16 bits, modulo 2⁶⁴; nothing is carried
/// into them, since all sums are below 2¹³.
struct ASTCInfill: BitwiseCopyable {
  /// Of the lower right grid weight lowest.
  var shares: UInt64
  /// Where the word of the texel's upper left grid weight stands.
  var place: Int

  /// For texel (x, y) of a 6×6 block and a grid of 2 to 6 columns and rows.
  init(x: Int, y: Int, width: Int, height: Int, planeCount: Int) {
    // ⌊(1024 + ⌊6 / 2⌋) / (6 − 1)⌋
    let scale = 205
    let column = (scale * x * (width - 1) + 32) >> 6
    let row = (scale * y * (height - 1) + 32) >> 6
    let right = column & 15
    let down = row & 15
    let both = (right * down + 8) >> 4
    let corner = (column >> 4) + (row >> 4) * width
    place = planeCount == 1 ? Self.place(ofWord: corner) : Self.place(ofTwoPlaneWord: corner)
    let (upperRight, lowerLeft) = (UInt64(right - both), UInt64(down - both))
    let (second, third) = planeCount == 1 ? (upperRight, lowerLeft) : (lowerLeft, upperRight)
    shares = UInt64(both) | third << 16 | second << 32 | UInt64(16 - right - down + both) << 48
  }

  /// The place of a grid weight's word behind `fillWords`: of eight, bits of the index reversed.
  private static func place(ofWord index: Int) -> Int {
    index & ~7 | (index & 1) << 2 | index & 2 | (index & 4) >> 2
  }

  /// The same behind `fillTwoPlanes`: of four.
  private static func place(ofTwoPlaneWord index: Int) -> Int {
    index & ~3 | (index & 1) << 1 | (index & 2) >> 1
  }

  /// Makes the words of a grid in one plane, eight at a time.
  ///
  /// - Parameters:
  ///   - meanings: grid weights; `count` rounded up to 24 or 40 of them, and `width` + 8 behind, are
  ///     read, and count nothing beyond `count`.
  ///   - words: room for 40.
  @inline(__always)
  static func fillWords(
    _ meanings: UnsafePointer<UInt16>, count: Int, width: Int,
    into words: UnsafeMutablePointer<UInt64>
  ) {
    typealias Pair = SIMD2<UInt64>
    let meanings = unsafe UnsafeRawPointer(meanings)
    let words = UnsafeMutableRawPointer(words)
    let low = Pair(repeating: 0xFFFF_FFFF)
    for first in stride(from: 0, to: count > 24 ? 40 : 24, by: 8) {
      @inline(__always) func eight(_ place: Int) -> Pair {
        unsafe meanings.loadUnaligned(fromByteOffset: 2 &* (first &+ place), as: Pair.self)
      }
      // Each half of a lane has a grid weight and its right neighbour.
      @inline(__always) func store(_ upper: Pair, _ lower: Pair, at offset: Int) {
        unsafe words.storeBytes(
          of: upper & low | lower &<< 32, toByteOffset: 8 &* first &+ offset, as: Pair.self)
        unsafe words.storeBytes(
          of: upper &>> 32 | lower & ~low, toByteOffset: 8 &* first &+ offset &+ 16, as: Pair.self)
      }
      store(eight(0), eight(width), at: 0)
      store(eight(1), eight(width &+ 1), at: 32)
    }
  }

  /// The same of two planes, whose grid weights alternate.
  ///
  /// - Parameters:
  ///   - meanings: `count` of each plane, rounded up to 16 or 32, and `width` + 4 behind.
  ///   - words: room for 32; `stride` behind them those of the second plane.
  @inline(__always)
  static func fillTwoPlanes(
    _ meanings: UnsafePointer<UInt16>, count: Int, width: Int,
    into words: UnsafeMutablePointer<UInt64>, stride planeStride: Int
  ) {
    typealias Pair = SIMD2<UInt64>
    let meanings = unsafe UnsafeRawPointer(meanings)
    let words = UnsafeMutableRawPointer(words)
    let even = Pair(repeating: 0x0000_FFFF_0000_FFFF)
    for first in stride(from: 0, to: count > 16 ? 32 : 16, by: 4) {
      @inline(__always) func eight(_ place: Int) -> Pair {
        unsafe meanings.loadUnaligned(fromByteOffset: 4 &* (first &+ place), as: Pair.self)
      }
      // Each lane has a grid weight and its right neighbour of both planes.
      @inline(__always) func store(_ upper: Pair, _ lower: Pair, at offset: Int) {
        unsafe words.storeBytes(
          of: upper & even | (lower & even) &<< 16, toByteOffset: 8 &* first &+ offset,
          as: Pair.self)
        unsafe words.storeBytes(
          of: (upper &>> 16) & even | lower & ~even,
          toByteOffset: 8 &* (first &+ planeStride) &+ offset, as: Pair.self)
      }
      store(eight(0), eight(width), at: 0)
      store(eight(1), eight(width &+ 1), at: 16)
    }
  }

  /// The weight, 0 to 64, from the words of a plane.
  @inline(__always)
  func weight(_ words: UnsafePointer<UInt64>) -> Int {
    // The place is that of a grid weight.
    let sum = unsafe words[place] &* shares
    return Int(truncatingIfNeeded: (sum &+ 8 &<< 48) &>> 52)
  }
}
