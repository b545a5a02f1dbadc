/// Integer sequences: numbers of one range in as few bits as trits, quints and bits allow.
package enum ASTCSequence {
  /// Calls `store` with the places and the codes of the `count` numbers that begin at bit `offset`
  /// and have `bitCount` bits; for grid weights, of the bit-reversed block.
  ///
  /// Places go on to `count` rounded up to a multiple of 5 or 3; the surplus codes are some of the
  /// range.
  @inline(__always)
  static func forEachCode(
    _ block: ASTCBlock, at offset: Int, count: Int, bitCount: Int, range: ASTCRange,
    digits: ASTCDigits, _ store: (Int, Int) -> Void
  ) {
    let bits = UInt64(truncatingIfNeeded: range.bitCount)
    // Alone from bit 0 up: what the sequence lacks at its end reads as zero.
    var rest = block.part(at: offset, count: bitCount)
    let mask = (1 &<< bits) &- 1
    if range.hasTrit {
      for first in stride(from: 0, to: count, by: 5) {
        forEachTrit(rest.take(8 &+ 5 &* bits), bits: bits, mask: mask, digits: digits) {
          store(first &+ $0, Int(truncatingIfNeeded: $1))
        }
      }
    } else if range.hasQuint {
      for first in stride(from: 0, to: count, by: 3) {
        forEachQuint(rest.take(7 &+ 3 &* bits), bits: bits, mask: mask, digits: digits) {
          store(first &+ $0, Int(truncatingIfNeeded: $1))
        }
      }
    } else {
      // Five numbers of at most eight bits are 40.
      for first in stride(from: 0, to: count, by: 5) {
        var group = rest.take(5 &* bits)
        for place in 0..<5 {
          store(first &+ place, Int(truncatingIfNeeded: group & mask))
          group = group &>> bits
        }
      }
    }
  }

  /// Five numbers: m0 T1…0 m1 T3…2 m2 T4 m3 T6…5 m4 T7, from the low bits up.
  @inline(__always)
  private static func forEachTrit(
    _ group: UInt64, bits n: UInt64, mask: UInt64, digits: ASTCDigits,
    _ store: (Int, UInt64) -> Void
  ) {
    let b = group &>> n
    let c = b &>> (n &+ 2)
    let d = c &>> (n &+ 2)
    let e = d &>> (n &+ 1)
    let f = e &>> (n &+ 2)
    let packed = b & 3 | (c & 3) &<< 2 | (d & 1) &<< 4 | (e & 3) &<< 5 | (f & 1) &<< 7
    // 256 entries; trits are two bits each.
    let trits = unsafe UInt64(digits.trits[Int(truncatingIfNeeded: packed)]) &<< n
    let trit: UInt64 = 3 &<< n
    store(0, group & mask | trits & trit)
    store(1, (b &>> 2) & mask | (trits &>> 2) & trit)
    store(2, (c &>> 2) & mask | (trits &>> 4) & trit)
    store(3, (d &>> 1) & mask | (trits &>> 6) & trit)
    store(4, (e &>> 2) & mask | (trits &>> 8) & trit)
  }

  /// Three numbers: m0 Q2…0 m1 Q4…3 m2 Q6…5, from the low bits up.
  @inline(__always)
  private static func forEachQuint(
    _ group: UInt64, bits n: UInt64, mask: UInt64, digits: ASTCDigits,
    _ store: (Int, UInt64) -> Void
  ) {
    let b = group &>> n
    let c = b &>> (n &+ 3)
    let d = c &>> (n &+ 2)
    let packed = b & 7 | (c & 3) &<< 3 | (d & 3) &<< 5
    // 128 entries; quints are three bits each.
    let quints = unsafe UInt64(digits.quints[Int(truncatingIfNeeded: packed)])
    store(0, group & mask | (quints & 7) &<< n)
    store(1, (b &>> 3) & mask | ((quints &>> 3) & 7) &<< n)
    store(2, (c &>> 2) & mask | (quints &>> 6) &<< n)
  }

  /// The numbers as an array.
  package static func unpack(
    _ block: ASTCBlock, at offset: Int, count: Int, range: ASTCRange
  ) -> [UInt8] {
    var values = [UInt8](repeating: 0, count: count + 4)
    forEachCode(
      block, at: offset, count: count, bitCount: range.sequenceBitCount(count), range: range,
      digits: .shared
    ) { place, code in
      values[place] = UInt8(code)
    }
    return Array(values[..<count])
  }

  /// Packs numbers of a range into bits that are zero so far, from bit `offset` up. For grid
  /// weights: into an empty block at 0, which is then bit-reversed and joined to the rest.
  ///
  /// Of the digit codes that mean the same the smallest is written. Bits beyond 127 are dropped.
  package static func pack(
    _ values: UnsafeBufferPointer<UInt8>, range: ASTCRange, into block: inout ASTCBlock,
    at offset: Int
  ) {
    let bits = range.bitCount
    let mask = (UInt64(1) << UInt64(bits)) - 1
    let tables = ASTCDigits.shared
    let groupCount = range.hasTrit ? 5 : range.hasQuint ? 3 : 1
    // Where the digits' bits stand between the numbers' own bits.
    let digitBits = range.hasTrit ? [2, 2, 1, 2, 1] : range.hasQuint ? [3, 2, 2] : [0]
    var position = offset
    for first in stride(from: 0, to: values.count, by: groupCount) {
      let group = first..<min(first + groupCount, values.count)
      var digits = 0
      for index in group.reversed() {
        // The index lies in `values`.
        let digit = unsafe Int(values[index]) >> bits
        digits = digits * (range.hasTrit ? 3 : 5) + digit
      }
      var packed: UInt64 = 0
      if range.hasTrit {
        precondition(digits < 243, "a number outside its range")
        packed = unsafe UInt64(tables.packedTrits[digits])
      } else if range.hasQuint {
        precondition(digits < 125, "a number outside its range")
        packed = unsafe UInt64(tables.packedQuints[digits])
      }
      for index in group {
        block.insert(unsafe UInt64(values[index]) & mask, at: position, count: bits)
        position += bits
        let count = digitBits[index - first]
        block.insert(packed, at: position, count: count)
        packed >>= UInt64(count)
        position += count
      }
    }
  }
}
