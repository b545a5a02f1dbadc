/// Grids with a weight for every texel in one plane: how their codes are unpacked by the group.
///
/// 36 grid weights fit a block with 2 to 6 levels only. A code takes three bits of a group's entry,
/// the first lowest.
@safe
struct ASTCFullGrid: BitwiseCopyable {
  /// The codes of a group, by the group's bits.
  var groups: UnsafePointer<UInt16>
  /// Bits of a group: 5 codes, or 3 for five levels.
  var groupBitCount: UInt64
  /// Bits of the 36 grid weights.
  var bitCount: Int
  var codesPerGroup: Int
  /// The weight of each code, 0 to 64; zero behind the last.
  var weights: SIMD8<Float>

  /// Levels of the ranges that have such grids: the first five ranges.
  static let rangeCount = 5
  /// What `ASTCTables.fullGridModes` says of other modes.
  static let none: UInt8 = 255

  init(range: ASTCRange) {
    codesPerGroup = range == .levels5 ? 3 : 5
    let bits = range.sequenceBitCount(codesPerGroup)
    groupBitCount = UInt64(bits)
    bitCount = range.sequenceBitCount(36)
    let count = codesPerGroup
    unsafe groups = ASTCTables.keep(
      (0..<UInt64(1 << bits)).map { group in
        let codes = ASTCSequence.unpack(ASTCBlock(low: group), at: 0, count: count, range: range)
        return codes.reversed().reduce(0) { $0 << 3 | UInt16($1) }
      })
    weights = SIMD8()
    for code in 0..<range.levelCount {
      weights[code] = Float(ASTCQuantization.gridWeight(code, range: range))
    }
  }

  /// Calls `store` with the place and the code of each of the 36 texels, in order.
  @inline(__always)
  func forEachCode(_ block: ASTCBlock, _ store: (Int, Int) -> Void) {
    var rest = block.bitReversed.part(at: 0, count: bitCount)
    @inline(__always) func next() -> Int {
      // The table has an entry for every value of that many bits.
      unsafe Int(groups[Int(truncatingIfNeeded: rest.take(groupBitCount))])
    }
    if codesPerGroup == 5 {
      for first in stride(from: 0, to: 35, by: 5) {
        let codes = next()
        store(first, codes & 7)
        store(first &+ 1, (codes &>> 3) & 7)
        store(first &+ 2, (codes &>> 6) & 7)
        store(first &+ 3, (codes &>> 9) & 7)
        store(first &+ 4, codes &>> 12)
      }
      store(35, next() & 7)
    } else {
      for first in stride(from: 0, to: 36, by: 3) {
        let codes = next()
        store(first, codes & 7)
        store(first &+ 1, (codes &>> 3) & 7)
        store(first &+ 2, codes &>> 6)
      }
    }
  }
}
