extension ASTCUnpacker {
  /// Writes the weights of a block of two partitions and five codes or three and four, endpoint mode
  /// 0 or 1: the modes that the encoder writes. Returns false for any other block.
  @inline(__always)
  func unpackSubsetWeights(
    _ block: ASTCBlock, _ value: ASTCWeightValue, into output: UnsafeMutablePointer<Float>
  ) -> Bool {
    let header = block.low & ASTCSubsetTables.headerMask
    if header == subset.twoHeader {
      unsafe unpackTwo(block, value, into: output)
      return true
    }
    if header == subset.threeHeader {
      unsafe unpackThree(block, value, into: output)
      return true
    }
    return false
  }

  @inline(__always)
  private func unpackTwo(
    _ block: ASTCBlock, _ value: ASTCWeightValue, into output: UnsafeMutablePointer<Float>
  ) {
    // Four numbers of 12 levels in 15 bits: one group of trits, whose last is missing.
    let group = block.low &>> 29
    let packed =
      (group &>> 2) & 3 | (group &>> 4) & 12 | (group &>> 6) & 16 | (group &>> 8) & 96
    // 256 entries of two bits a trit; a number is below 12, of 256 entries.
    let trits = unsafe UInt64(tables.digits.trits[Int(truncatingIfNeeded: packed)])
    let meanings = unsafe tables.endpoints + Int(ASTCRange.levels12.rawValue) &* 256
    @inline(__always) func number(_ bits: UInt64, _ trit: UInt64) -> UInt32 {
      unsafe UInt32(meanings[Int(truncatingIfNeeded: bits & 3 | (trit & 3) &<< 2)])
    }
    fillSubsetPalette(
      first: SIMD4(number(group, trits), number(group &>> 8, trits &>> 4), 0, 0),
      second: SIMD4(number(group &>> 4, trits &>> 2), number(group &>> 11, trits &>> 6), 0, 0),
      isOffset: block.low &>> 25 & 1 != 0, ASTCRange.levels5, value)

    // 12 groups of three codes: nine in the upper half, three behind them. Patterns have 36 bytes,
    // and four may be read at the last three; tables have an entry for any 7 bits.
    let palette = unsafe UnsafePointer(self.palette)
    let pattern = unsafe UnsafeRawPointer(partitionPattern(block, count: 2))
    @inline(__always) func store(_ bits: UInt64, _ first: Int) {
      let codes = unsafe subset.fiveLevels[Int(truncatingIfNeeded: bits & 127)]
      let places = unsafe codes | pattern.loadUnaligned(fromByteOffset: first, as: UInt32.self)
      unsafe output[first] = palette[Int(places & 31)]
      unsafe output[first &+ 1] = palette[Int(places &>> 8 & 31)]
      unsafe output[first &+ 2] = palette[Int(places &>> 16 & 31)]
    }
    let rest = block.high &<< 20 | block.low &>> 44
    for group in 0..<9 { store(block.high &>> UInt64(57 &- 7 &* group), 3 &* group) }
    for group in 0..<3 { store(rest &>> UInt64(14 &- 7 &* group), 27 &+ 3 &* group) }
  }

  @inline(__always)
  private func unpackThree(
    _ block: ASTCBlock, _ value: ASTCWeightValue, into output: UnsafeMutablePointer<Float>
  ) {
    // Six numbers of 20 levels: two groups of quints in 13 bits each. 128 entries of three bits a
    // quint; a number is below 20, of 256 entries.
    let meanings = unsafe tables.endpoints + Int(ASTCRange.levels20.rawValue) &* 256
    let quints = unsafe tables.digits.quints
    @inline(__always) func numbers(_ group: UInt64) -> (UInt32, UInt32, UInt32) {
      let packed = (group &>> 2) & 7 | (group &>> 4) & 24 | (group &>> 6) & 96
      let digits = unsafe UInt64(quints[Int(truncatingIfNeeded: packed)])
      @inline(__always) func number(_ bits: UInt64, _ quint: UInt64) -> UInt32 {
        unsafe UInt32(meanings[Int(truncatingIfNeeded: bits & 3 | (quint & 7) &<< 2)])
      }
      return (
        number(group, digits), number(group &>> 5, digits &>> 3),
        number(group &>> 9, digits &>> 6)
      )
    }
    let (a, b) = (numbers(block.low &>> 29), numbers(block.low &>> 42))
    fillSubsetPalette(
      first: SIMD4(a.0, a.2, b.1, 0), second: SIMD4(a.1, b.0, b.2, 0),
      isOffset: block.low &>> 25 & 1 != 0, ASTCRange.levels4, value)

    // Nine groups of four codes: eight in the upper half. As above.
    let palette = unsafe UnsafePointer(self.palette)
    let pattern = unsafe UnsafeRawPointer(partitionPattern(block, count: 3))
    @inline(__always) func store(_ bits: UInt64, _ first: Int) {
      let codes = unsafe subset.fourLevels[Int(truncatingIfNeeded: bits & 255)]
      let places = unsafe codes | pattern.loadUnaligned(fromByteOffset: first, as: UInt32.self)
      unsafe output[first] = palette[Int(places & 31)]
      unsafe output[first &+ 1] = palette[Int(places &>> 8 & 31)]
      unsafe output[first &+ 2] = palette[Int(places &>> 16 & 31)]
      unsafe output[first &+ 3] = palette[Int(places &>> 24)]
    }
    for group in 0..<8 { store(block.high &>> UInt64(56 &- 8 &* group), 4 &* group) }
    store(block.low &>> 56, 32)
  }

  @inline(__always)
  private func partitionPattern(_ block: ASTCBlock, count: Int) -> UnsafePointer<UInt8> {
    let seed = Int(truncatingIfNeeded: block.low &>> 13 & 1023)
    return unsafe ASTCPartitioning.table(seed: seed, count: count, tables)
  }

  /// Sets entry 4 · code + partition of the palette.
  @inline(__always)
  private func fillSubsetPalette(
    first: SIMD4<UInt32>, second: SIMD4<UInt32>, isOffset: Bool, _ range: ASTCRange,
    _ value: ASTCWeightValue
  ) {
    var (first, second) = (first, second)
    if isOffset {
      // Mode 1: the second number has the upper bits of the base, and the offset.
      let base = first &>> 2 | second & 0xC0
      let sum = base &+ second & 0x3F
      let largest = SIMD4<UInt32>(repeating: 255)
      (first, second) = (base, sum.replacing(with: largest, where: sum .> largest))
    }
    // Both times 257, and as `ASTCLine` has them.
    let low = ASTCResult.float(small: first)
    let base = low * 257 + 0x1p-7
    let slope = (ASTCResult.float(small: second) - low) * 0x1.01p2
    // Codes are below the level count: 4 times 5 entries at most, of 32.
    let weights = unsafe tables.fullGrids[Int(range.rawValue)].weights
    let raw = unsafe UnsafeMutableRawPointer(palette)
    for code in 0..<(range == .levels5 ? 5 : 4) {
      let shifted =
        (base + slope * SIMD4(repeating: weights[code])) + SIMD4(repeating: ASTCLine.magic)
      let values = value(shifted: shifted, isHDR: false)
      unsafe raw.storeBytes(of: values, toByteOffset: 16 &* code, as: SIMD4<Float>.self)
    }
  }
}
