/// The order of codes within a word: 32 bits of canonical codes against the four bytes that a row
/// has in 64 bytes of a tile.
///
/// Of 8-bit codes the sign bit is flipped, which adds 128; 4-bit codes c and c + 4 and 2-bit codes
/// c, c + 4, c + 8 and c + 12 come together in a byte.
enum CodePermutation {
  case bytes
  case nibbles
  case pairs

  init(codeBitCount: Int) {
    switch codeBitCount {
    case 8: self = .bytes
    case 4: self = .nibbles
    default: self = .pairs
    }
  }

  /// Canonical to tile.
  @inline(__always) func callAsFunction(_ word: UInt32) -> UInt32 {
    switch self {
    case .bytes: word ^ 0x8080_8080
    case .nibbles: swap(swap(word, 8, 0x0000_FF00), 4, 0x00F0_00F0)
    case .pairs: swap(swap(word, 6, 0x00CC_00CC), 12, 0x0000_F0F0)
    }
  }

  /// Tile to canonical.
  @inline(__always) func inverse(_ word: UInt32) -> UInt32 {
    switch self {
    case .bytes: word ^ 0x8080_8080
    case .nibbles: swap(swap(word, 4, 0x00F0_00F0), 8, 0x0000_FF00)
    case .pairs: swap(swap(word, 12, 0x0000_F0F0), 6, 0x00CC_00CC)
    }
  }

  /// Canonical to tile, four words at once.
  @inline(__always) func callAsFunction(_ words: SIMD4<UInt32>) -> SIMD4<UInt32> {
    switch self {
    case .bytes: words ^ SIMD4(repeating: 0x8080_8080)
    case .nibbles: swap(swap(words, 8, 0x0000_FF00), 4, 0x00F0_00F0)
    case .pairs: swap(swap(words, 6, 0x00CC_00CC), 12, 0x0000_F0F0)
    }
  }

  /// Exchanges the bits under `mask` with those `distance` above them.
  @inline(__always)
  private func swap(_ word: UInt32, _ distance: UInt32, _ mask: UInt32) -> UInt32 {
    let difference = (word ^ (word &>> distance)) & mask
    return word ^ difference ^ (difference &<< distance)
  }

  @inline(__always)
  private func swap(
    _ words: SIMD4<UInt32>, _ distance: UInt32, _ mask: UInt32
  ) -> SIMD4<UInt32> {
    let shift = SIMD4(repeating: distance)
    let difference = (words ^ (words &>> shift)) & SIMD4(repeating: mask)
    return words ^ difference ^ (difference &<< shift)
  }
}
