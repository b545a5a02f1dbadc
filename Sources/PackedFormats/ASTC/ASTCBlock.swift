/// 128 bits, numbered from the least significant bit of the byte at the lowest address.
package struct ASTCBlock: Hashable, Sendable {
  /// Bits 0 to 63.
  package var low: UInt64
  /// Bits 64 to 127.
  package var high: UInt64

  /// Texels in a row and in a column of a block.
  package static let side = 6
  /// Texels in a block.
  package static let texelCount = 36
  package static let byteCount = 16

  package init(low: UInt64 = 0, high: UInt64 = 0) {
    self.low = low
    self.high = high
  }

  /// The 16 bytes at an offset; the caller vouches that they lie in `bytes`.
  @inline(__always)
  package init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    low = unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    high = unsafe UInt64(
      littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self))
  }

  /// Writes 16 bytes at an offset; the caller vouches that they lie in `bytes`.
  @inline(__always)
  package func store(to bytes: UnsafeMutableRawBufferPointer, at offset: Int) {
    unsafe bytes.storeBytes(of: low.littleEndian, toByteOffset: offset, as: UInt64.self)
    unsafe bytes.storeBytes(of: high.littleEndian, toByteOffset: offset + 8, as: UInt64.self)
  }

  /// The 16 bytes, lowest address first.
  package var bytes: [UInt8] {
    [low, high].flatMap { half in
      (0..<8).map { UInt8(truncatingIfNeeded: half >> (8 * UInt64($0))) }
    }
  }

  /// Whether this is a block of one color.
  @inline(__always)
  package var isVoidExtent: Bool { low & 0x1FF == 0x1FC }

  /// Up to 64 bits from `offset` in 0...127 on; bits beyond 127 read as zero.
  @inline(__always)
  package func bits(at offset: Int, count: Int) -> UInt64 {
    // Swift's shifts by 64 and more give zero.
    let shifted = offset >= 64 ? high >> (offset - 64) : (low >> offset) | (high << (64 - offset))
    return count >= 64 ? shifted : shifted & ((1 << UInt64(count)) &- 1)
  }

  /// The bits from `offset` on, at bit 0, and zeros behind the first `count` of them, 1 to 128.
  @inline(__always)
  func part(at offset: Int, count: Int) -> ASTCBlock {
    // Swift's shifts by 64 and more give zero. No branches: counts are as random as blocks are.
    var part = self
    if offset > 0 {
      part.low = offset >= 64 ? high >> (offset - 64) : low &>> offset | high &<< (64 - offset)
      part.high = offset >= 64 ? 0 : high &>> offset
    }
    let count = UInt64(truncatingIfNeeded: count)
    part.low &= (1 << count) &- 1
    part.high &= (1 << (max(count, 64) &- 64)) &- 1
    return part
  }

  /// Removes the lowest `count` bits, 1 to 63, and returns them.
  @inline(__always)
  mutating func take(_ count: UInt64) -> UInt64 {
    let taken = low & ((1 &<< count) &- 1)
    low = low &>> count | high &<< (64 &- count)
    high = high &>> count
    return taken
  }

  /// Sets up to 64 bits that are zero so far; bits beyond 127 are dropped.
  package mutating func insert(_ value: UInt64, at offset: Int, count: Int) {
    let value = count >= 64 ? value : value & ((1 << UInt64(count)) &- 1)
    if offset >= 64 {
      high |= value << (offset - 64)
    } else {
      low |= value << offset
      high |= value >> (64 - offset)
    }
  }

  /// Bit n of this is bit 127 − n of that: grid weights are stored from the top down.
  @inline(__always)
  package var bitReversed: ASTCBlock {
    ASTCBlock(low: Self.bitReversed(high), high: Self.bitReversed(low))
  }

  @inline(__always)
  static func bitReversed(_ value: UInt64) -> UInt64 {
    var x = value.byteSwapped
    x = (x & 0x0F0F_0F0F_0F0F_0F0F) &<< 4 | (x &>> 4) & 0x0F0F_0F0F_0F0F_0F0F
    x = (x & 0x3333_3333_3333_3333) &<< 2 | (x &>> 2) & 0x3333_3333_3333_3333
    return (x & 0x5555_5555_5555_5555) &<< 1 | (x &>> 1) & 0x5555_5555_5555_5555
  }
}
