import CKernels
import PackedFormats

/// What the kernels over ASTC tiles look up: the ends of lines that pairs of stored numbers mean, and
/// the partition of every column for each of 2 × 1024 seeds.
package enum ASTCKernelTables {
  /// 38 kB.
  package static var byteCount: Int { Int(CK_ASTC_TABLE_BYTES) }

  /// Fills `byteCount` bytes.
  @unsafe package static func fill(_ base: UnsafeMutableRawPointer) {
    unsafe base.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    func store(_ value: UInt8, _ offset: Int) {
      precondition(offset < Int(CK_ASTC_TABLE_BYTES), "outside the tables")
      // Inside the memory.
      unsafe base.storeBytes(of: value, toByteOffset: offset, as: UInt8.self)
    }
    /// Both ends of every pair of stored numbers, as they are and as a base and an offset.
    func storePairs(_ range: ASTCRange, bits: Int, _ begin: Int) {
      let levels = 0..<range.levelCount
      for second in levels {
        for first in levels {
          let v0 = ASTCQuantization.endpoint(first, range: range)
          let v1 = ASTCQuantization.endpoint(second, range: range)
          let base = v0 >> 2 | v1 & 0xC0
          let sum = base.addingReportingOverflow(v1 & 0x3F)
          let place = begin + 2 * (second << bits | first)
          store(v0, place)
          store(v1, place + 1)
          // The second table lies behind the first one's 4^bits entries of two bytes.
          let other = place + 2 * (1 << (2 * bits))
          store(base, other)
          store(sum.overflow ? 255 : sum.partialValue, other + 1)
        }
      }
    }
    /// Bits of the columns of partitions 1 and 2: byte i of a plane has those of columns 4s + i.
    func storePlanes(_ pattern: UnsafeBufferPointer<UInt8>, _ begin: Int) {
      var planes = [UInt8](repeating: 0, count: Int(CK_ASTC_PLANE_BYTES))
      for column in 0..<36 where unsafe pattern[column] > 0 {
        let isFirst = unsafe pattern[column] == 1
        let (vector, code) = (column / 12, column % 12 / 4)
        if code < 2 {
          planes[(isFirst ? 0 : 8) + column % 4] |= 0x80 >> UInt8(2 * vector + code)
        } else {
          planes[4 + column % 4] |= (isFirst ? 0x80 : 0x08) >> UInt8(vector)
        }
      }
      for (offset, plane) in planes.enumerated() { store(plane, begin + offset) }
    }
    storePairs(.levels12, bits: 4, Int(CK_ASTC_PAIRS12))
    storePairs(.levels20, bits: 5, Int(CK_ASTC_PAIRS20))
    for count in 2...3 {
      for seed in 0..<ASTCPartitioning.seedCount {
        let pattern = unsafe ASTCPartitioning.pattern(seed: seed, count: count)
        unsafe storePlanes(
          pattern, Int(CK_ASTC_PLANES) + ((count - 2) * ASTCPartitioning.seedCount + seed) * 16)
      }
    }
    // With one partition the kernels look at all columns or at none.
    for offset in 0..<2 * Int(CK_ASTC_PLANE_BYTES) {
      store(
        255,
        Int(CK_ASTC_PLANES) + 2 * ASTCPartitioning.seedCount * Int(CK_ASTC_PLANE_BYTES) + offset)
    }
  }
}
