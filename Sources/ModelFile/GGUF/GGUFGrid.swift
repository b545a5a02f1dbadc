/// The points that the IQ types of GGUF choose from: a code stands for four or eight small numbers
/// at once.
///
/// A point is held as one integer, a byte a coordinate, the first one least significant. The
/// tables are expanded once, at first use; 36 KiB in all.
enum GGUFGrid {
  /// IQ2: 256, 512 and 1,024 points of eight magnitudes.
  static let iq2XXS = points(iq2XXSText, levels: [8, 25, 43], coordinates: 8)
  static let iq2XS = points(iq2XSText, levels: [8, 25, 43], coordinates: 8)
  static let iq2S = points(iq2SText, levels: [8, 25, 43], coordinates: 8)
  /// IQ3: 256 and 512 points of four magnitudes.
  static let iq3XXS = points(
    iq3XXSText, levels: [4, 12, 20, 28, 36, 44, 52, 62], coordinates: 4)
  static let iq3S = points(iq3SText, levels: [1, 3, 5, 7, 9, 11, 13, 15], coordinates: 4)
  /// IQ1: 2,048 points of eight numbers −1, 0 or 1, stored as two's complement.
  static let iq1 = points(iq1Text, levels: [0xFF, 0, 1], coordinates: 8)

  /// The sign bits that seven bits stand for: themselves, and an eighth that makes their number
  /// even.
  @inline(__always)
  static func signs(_ code: UInt32) -> UInt8 {
    let bits = UInt8(truncatingIfNeeded: code & 127)
    return bits | UInt8(truncatingIfNeeded: bits.nonzeroBitCount & 1) << 7
  }

  /// Reads a table: two characters a point, line ends aside.
  private static func points(
    _ text: String, levels: [UInt8], coordinates: Int
  ) -> [UInt64] {
    let digits = text.utf8.filter { $0 >= 40 }.map { Int($0) - 40 }
    return stride(from: 0, to: digits.count, by: 2).map { index in
      var number = digits[index] + 81 * digits[index + 1]
      var point: UInt64 = 0
      for coordinate in 0..<coordinates {
        point |= UInt64(levels[number % levels.count]) << UInt64(8 * coordinate)
        number /= levels.count
      }
      return point
    }
  }
}
