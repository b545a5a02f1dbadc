/// The partition function: which of two to four partitions a texel belongs to.
package enum ASTCPartitioning {
  /// Patterns of each partition count.
  package static let seedCount = 1024

  /// The partition of a texel of a 6×6 block (36 texels: not a "small block").
  ///
  /// - Parameters:
  ///   - seed: the partition index of the block, 0 to 1023.
  ///   - count: partitions, 1 to 4.
  package static func partition(seed: Int, count: Int, x: Int, y: Int) -> Int {
    guard count > 1 else { return 0 }
    let hashed = hash(UInt32(truncatingIfNeeded: seed + (count - 1) * 1024))
    /// Four bits of the hash, squared: 8 bits.
    func square(_ shift: UInt32) -> UInt32 {
      let nibble = ((hashed >> shift) | (shift == 30 ? hashed << 2 : 0)) & 15
      return nibble * nibble
    }
    let byTwo: UInt32 = seed & 2 != 0 ? 4 : 5
    let byCount: UInt32 = count == 3 ? 6 : 5
    let odd = seed & 1 != 0
    let first = odd ? byTwo : byCount
    let second = odd ? byCount : byTwo
    /// One line across the block; the z terms of the definition vanish in two dimensions.
    func line(_ atX: UInt32, _ atY: UInt32, _ base: UInt32) -> UInt32 {
      let sum =
        (square(atX) >> first) &* UInt32(x) &+ (square(atY) >> second) &* UInt32(y)
        &+ (hashed >> base)
      return sum & 63
    }
    let a = line(0, 4, 14)
    let b = line(8, 12, 10)
    let c = count < 3 ? 0 : line(16, 20, 6)
    let d = count < 4 ? 0 : line(24, 28, 2)
    if a >= b && a >= c && a >= d { return 0 }
    if b >= c && b >= d { return 1 }
    return c >= d ? 2 : 3
  }

  /// hash52 of the format.
  private static func hash(_ value: UInt32) -> UInt32 {
    var p = value
    p ^= p >> 15
    p = p &- (p << 17)
    p = p &+ (p << 7)
    p = p &+ (p << 4)
    p ^= p >> 5
    p = p &+ (p << 16)
    p ^= p >> 7
    p ^= p >> 3
    p ^= p << 6
    p ^= p >> 17
    return p
  }

  /// The partitions of all 36 texels, row-major, from the table: 2 to 4 partitions, seed 0 to 1023.
  @inline(__always)
  package static func pattern(seed: Int, count: Int) -> UnsafeBufferPointer<UInt8> {
    precondition(2...4 ~= count && 0..<seedCount ~= seed, "no such pattern")
    // 36 bytes of the table, which is never freed.
    return unsafe UnsafeBufferPointer(
      start: table(seed: seed, count: count, ASTCTables.shared), count: 36)
  }

  /// The same for a seed and a count that come from a header.
  @inline(__always)
  static func table(seed: Int, count: Int, _ tables: ASTCTables) -> UnsafePointer<UInt8> {
    // The table holds 36 bytes for each of 3 × 1024 patterns.
    unsafe tables.partitions + ((count &- 2) &* seedCount &+ seed) &* 36
  }
}
