/// Integer sequences: numbers of one range in as few bits as trits, quints and bits allow.
package enum ASTCSequence {
  /// Unpacks `count` numbers that begin at bit `offset`; for grid weights, of the bit-reversed block.
  ///
  /// - Parameter output: room for `count` rounded up to a multiple of 5 numbers; the surplus ones
  ///   are written as zeros or left alone.
  @inline(__always)
  package static func unpack(
    _ block: ASTCBlock, at offset: Int, count: Int, range: ASTCRange,
    into output: UnsafeMutablePointer<UInt8>
  ) {
    // `output` has room for whole groups of 5 or 3: the caller's promise.
    let bits = range.bitCount
    let mask = (UInt64(1) &<< UInt64(bits)) &- 1
    if range.hasTrit {
      unsafe unpackTrits(block, at: offset, count: count, bits: bits, mask: mask, into: output)
    } else if range.hasQuint {
      unsafe unpackQuints(block, at: offset, count: count, bits: bits, mask: mask, into: output)
    } else {
      for index in 0..<count {
        let value = block.bits(at: offset &+ index &* bits, count: bits)
        unsafe output[index] = UInt8(truncatingIfNeeded: value)
      }
    }
  }

  /// Groups of five numbers: m0 T1…0 m1 T3…2 m2 T4 m3 T6…5 m4 T7, from the low bits up.
  @inline(__always)
  private static func unpackTrits(
    _ block: ASTCBlock, at offset: Int, count: Int, bits: Int, mask: UInt64,
    into output: UnsafeMutablePointer<UInt8>
  ) {
    let tables = ASTCTables.shared
    let n = UInt64(truncatingIfNeeded: bits)
    let groupBits = 8 &+ 5 &* bits
    let end = offset &+ (8 &* count &+ 4) / 5 &+ count &* bits
    var start = offset
    for first in stride(from: 0, to: count, by: 5) {
      // What the sequence lacks at its end reads as zero.
      let group = block.bits(at: start, count: min(groupBits, end &- start))
      start &+= groupBits
      let t01 = (group &>> n) & 3
      let t23 = (group &>> (2 &* n &+ 2)) & 3
      let t4 = (group &>> (3 &* n &+ 4)) & 1
      let t56 = (group &>> (4 &* n &+ 5)) & 3
      let t7 = (group &>> (5 &* n &+ 7)) & 1
      let packed = t01 | t23 &<< 2 | t4 &<< 4 | t56 &<< 5 | t7 &<< 7
      let trits = unsafe UInt64(tables.trits[Int(packed)])
      let output = unsafe output + first
      // Five numbers lie in the room that was promised; trits are two bits each.
      unsafe output[0] = UInt8(truncatingIfNeeded: group & mask | (trits & 3) &<< n)
      unsafe output[1] = UInt8(
        truncatingIfNeeded: (group &>> (n &+ 2)) & mask | ((trits &>> 2) & 3) &<< n)
      unsafe output[2] = UInt8(
        truncatingIfNeeded: (group &>> (2 &* n &+ 4)) & mask | ((trits &>> 4) & 3) &<< n)
      unsafe output[3] = UInt8(
        truncatingIfNeeded: (group &>> (3 &* n &+ 5)) & mask | ((trits &>> 6) & 3) &<< n)
      unsafe output[4] = UInt8(
        truncatingIfNeeded: (group &>> (4 &* n &+ 7)) & mask | ((trits &>> 8) & 3) &<< n)
    }
  }

  /// Groups of three numbers: m0 Q2…0 m1 Q4…3 m2 Q6…5, from the low bits up.
  @inline(__always)
  private static func unpackQuints(
    _ block: ASTCBlock, at offset: Int, count: Int, bits: Int, mask: UInt64,
    into output: UnsafeMutablePointer<UInt8>
  ) {
    let tables = ASTCTables.shared
    let n = UInt64(truncatingIfNeeded: bits)
    let groupBits = 7 &+ 3 &* bits
    let end = offset &+ (7 &* count &+ 2) / 3 &+ count &* bits
    var start = offset
    for first in stride(from: 0, to: count, by: 3) {
      let group = block.bits(at: start, count: min(groupBits, end &- start))
      start &+= groupBits
      let packed =
        (group &>> n) & 7 | ((group &>> (2 &* n &+ 3)) & 3) &<< 3
        | ((group &>> (3 &* n &+ 5)) & 3) &<< 5
      let quints = unsafe UInt64(tables.quints[Int(packed)])
      let output = unsafe output + first
      // Three numbers lie in the room that was promised; quints are three bits each.
      unsafe output[0] = UInt8(truncatingIfNeeded: group & mask | (quints & 7) &<< n)
      unsafe output[1] = UInt8(
        truncatingIfNeeded: (group &>> (n &+ 3)) & mask | ((quints &>> 3) & 7) &<< n)
      unsafe output[2] = UInt8(
        truncatingIfNeeded: (group &>> (2 &* n &+ 5)) & mask | ((quints &>> 6) & 7) &<< n)
    }
  }

  /// The same as an array.
  package static func unpack(
    _ block: ASTCBlock, at offset: Int, count: Int, range: ASTCRange
  ) -> [UInt8] {
    var values = [UInt8](repeating: 0, count: count + 4)
    // Room for count rounded up to a multiple of 5 or 3.
    unsafe values.withUnsafeMutableBufferPointer { values in
      guard let base = values.baseAddress else { return }
      unsafe unpack(block, at: offset, count: count, range: range, into: base)
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
    let tables = ASTCTables.shared
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
