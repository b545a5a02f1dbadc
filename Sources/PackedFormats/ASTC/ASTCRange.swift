/// The range of the numbers of a sequence: 0 to `levelCount` − 1, each a trit, a quint or neither
/// above some bits. The raw values are in the order of the level counts.
package enum ASTCRange: UInt8, BitwiseCopyable, CaseIterable, Comparable, Hashable, Sendable {
  case levels2, levels3, levels4, levels5, levels6, levels8, levels10, levels12, levels16, levels20
  case levels24, levels32
  // Endpoints only from here on.
  case levels40, levels48, levels64, levels80, levels96, levels128, levels160, levels192, levels256

  /// The ranges that grid weights may have.
  package static let gridWeightRanges = levels2...levels32
  /// The ranges that endpoints may have.
  package static let endpointRanges = levels6...levels256

  @inline(__always)
  package static func < (a: ASTCRange, b: ASTCRange) -> Bool { a.rawValue < b.rawValue }

  /// A base-3 digit on top.
  @inline(__always)
  package var hasTrit: Bool { rawValue % 3 == 1 }

  /// A base-5 digit on top.
  @inline(__always)
  package var hasQuint: Bool { rawValue % 3 == 0 && rawValue > 0 }

  /// Bits below the digit.
  @inline(__always)
  package var bitCount: Int {
    // A third of the raw value, rounded down: no branch where ranges are random.
    let third = Int((UInt32(rawValue) &* 171) &>> 9)
    let above = hasTrit ? 0 : hasQuint ? -1 : 2
    return rawValue == 0 ? 1 : third &+ above
  }

  /// How many numbers there are.
  package var levelCount: Int { (hasTrit ? 3 : hasQuint ? 5 : 1) << bitCount }

  /// Bits of a sequence of `count` numbers.
  @inline(__always)
  package func sequenceBitCount(_ count: Int) -> Int {
    let digits = hasTrit ? (8 * count + 4) / 5 : hasQuint ? (7 * count + 2) / 3 : 0
    return digits + count * bitCount
  }
}
