/// What tiles must hold to be read: checked where their bytes come from a file.
extension RowTileLayout {
  /// Checks some tiles against the rules of format and layout.
  ///
  /// - Parameters:
  ///   - codes: the whole plane of codes, of `byteCount(of:)` bytes.
  ///   - scales: the whole plane of scales, likewise.
  /// - Throws: the first fault, by tile, plane, row and column: padding that is not as specified,
  ///   the code −128, a scale that is not finite, has its sign bit set or is above
  ///   `WeightFormat.largestScale`, a minimum that is not finite, a per-tensor scale that differs
  ///   between rows.
  ///
  /// Reads every scale; of 2- and 4-bit codes only the padding.
  public func validate(
    codes: RawSpan, scales: RawSpan, tiles: Range<Int>
  ) throws(PackedFormatError) {
    for (plane, bytes) in [(Plane.codes, codes.byteCount), (.scales, scales.byteCount)] {
      guard bytes == byteCount(of: plane) else {
        throw PackedFormatError(
          .planeByteCount(found: bytes, expected: byteCount(of: plane)), plane: plane)
      }
    }
    precondition(tiles.lowerBound >= 0 && tiles.upperBound <= tileCount, "tiles outside the matrix")
    // Every address below lies in a tile of the planes, whose byte counts were checked.
    try unsafe codes.withUnsafeBytes { codes throws(PackedFormatError) in
      try unsafe scales.withUnsafeBytes { scales throws(PackedFormatError) in
        guard let codeBase = codes.baseAddress, let scaleBase = scales.baseAddress else { return }
        let shared = unsafe scaleBase.loadUnaligned(as: UInt32.self)
        for tile in tiles {
          try unsafe validateCodes(codeBase + tile * codeTileBytes, tile: tile)
          try unsafe validateScales(scaleBase + tile * scaleTileBytes, tile: tile, shared: shared)
        }
      }
    }
  }

  private func validateCodes(
    _ base: UnsafeRawPointer, tile: Int
  ) throws(PackedFormatError) {
    let usedRows = min(16, rows - tile * 16)
    let lastMask = lastWordMask
    let permutation = CodePermutation(codeBitCount: codeBitCount)
    let usedWords = wordCount + (lastMask == 0 ? 0 : 1)
    // Any bits are codes, but for 8-bit ones: whole words of whole tiles need no look.
    let first = usedRows == 16 && codeBitCount != 8 ? wordCount : 0
    for word in first..<codeTileBytes / 64 {
      let isPadding = word >= usedWords
      let line = unsafe (base + word * 64).loadUnaligned(as: SIMD16<UInt32>.self)
      if codeBitCount == 8, !isPadding, usedRows == 16, word < wordCount {
        // The 64 bytes of the line loaded above.
        guard unsafe hasZeroByte(base + word * 64) else { continue }
      }
      for row in 0..<16 {
        let stored = UInt32(littleEndian: line[row])
        if isPadding || row >= usedRows {
          guard stored == 0 else { throw fault(.nonzeroPadding, tile: tile, row: row, word: word) }
          continue
        }
        if word == wordCount, permutation.inverse(stored) & ~lastMask != 0 {
          throw fault(.nonzeroPadding, tile: tile, row: row, word: word)
        }
        guard codeBitCount == 8 else { continue }
        for byte in 0..<4 where stored >> UInt32(8 * byte) & 0xFF == 0 {
          throw PackedFormatError(
            .forbiddenCode, plane: .codes, row: tile * 16 + row, column: word * 4 + byte)
        }
      }
    }
  }

  /// Whether one of 64 bytes is zero.
  @inline(__always)
  private func hasZeroByte(_ line: UnsafeRawPointer) -> Bool {
    var lowest = unsafe line.loadUnaligned(as: SIMD16<UInt8>.self)
    for part in 1..<4 {
      let bytes = unsafe line.loadUnaligned(fromByteOffset: part * 16, as: SIMD16<UInt8>.self)
      lowest = pointwiseMin(lowest, bytes)
    }
    return lowest.min() == 0
  }

  private func fault(
    _ reason: PackedFormatError.Reason, tile: Int, row: Int, word: Int
  ) -> PackedFormatError {
    PackedFormatError(
      reason, plane: .codes, row: tile * 16 + row, column: min(columns, word * 32 / codeBitCount))
  }

  private func validateScales(
    _ base: UnsafeRawPointer, tile: Int, shared: UInt32
  ) throws(PackedFormatError) {
    let usedRows = min(16, rows - tile * 16)
    let isShared = format.axis(of: .scales) == .tensor
    if scaleBytes == 2, usedRows == 16, usedGroupCount == groupCount,
      unsafe areValid(base, groupCount: groupCount)
    {
      return
    }
    for group in 0..<groupCount {
      let numbers = unsafe base + group * groupBytes
      let isUsed = group < usedGroupCount
      if scaleBytes == 4 {
        for row in 0..<16 {
          let bits = UInt32(
            littleEndian: unsafe numbers.loadUnaligned(fromByteOffset: row * 4, as: UInt32.self))
          if row >= usedRows || !isUsed {
            if bits != 0 { throw number(.nonzeroPadding, tile, row, group) }
          } else if bits & 0x7F80_0000 == 0x7F80_0000 {
            throw number(.nonFiniteScale, tile, row, group)
          } else if bits >> 31 != 0 {
            throw number(.negativeScale, tile, row, group)
          } else if bits > format.largestScale.bitPattern {
            throw number(.outOfRange, tile, row, group)
          } else if isShared, bits != UInt32(littleEndian: shared) {
            throw number(.unequalScales, tile, row, group)
          }
        }
        continue
      }
      let scales = unsafe numbers.loadUnaligned(as: SIMD16<UInt16>.self)
      let minimums =
        hasMinimums
        ? unsafe numbers.loadUnaligned(fromByteOffset: 32, as: SIMD16<UInt16>.self)
        : SIMD16<UInt16>()
      for row in 0..<16 {
        if row >= usedRows || !isUsed {
          if scales[row] | minimums[row] != 0 { throw number(.nonzeroPadding, tile, row, group) }
        } else if scales[row] & 0x7C00 == 0x7C00 {
          throw number(.nonFiniteScale, tile, row, group)
        } else if scales[row] >> 15 != 0 {
          throw number(.negativeScale, tile, row, group)
        } else if minimums[row] & 0x7C00 == 0x7C00 {
          throw PackedFormatError(
            .nonFiniteMinimum, plane: .minimums, row: tile * 16 + row,
            column: group * (format.groupSize ?? 0))
        }
      }
    }
  }

  /// Whether a tile without padding, whose scales are binary16, has no fault: what most tiles are
  /// found to be, without a look at single numbers. The tile is in memory, as `validateScales` says.
  @inline(__always)
  private func areValid(_ tile: UnsafeRawPointer, groupCount: Int) -> Bool {
    let magnitude = SIMD8<UInt16>(repeating: 0x7FFF)
    // Plus this, 0x7C00 and above, infinity and NaN, reach the sign bit.
    let rest = SIMD8<UInt16>(repeating: 0x0400)
    var faults = SIMD8<UInt16>(repeating: 0)
    let step = groupBytes
    // Of a group 16 scales of two bytes, and as many minimums where the format has them.
    let hasMinimums = step > 32
    for group in 0..<groupCount {
      let numbers = unsafe tile + group &* step
      for half in 0..<2 {
        let scales = unsafe numbers.loadUnaligned(
          fromByteOffset: half &* 16, as: SIMD8<UInt16>.self)
        faults |= scales | ((scales & magnitude) &+ rest)
        if hasMinimums {
          let minimums = unsafe numbers.loadUnaligned(
            fromByteOffset: 32 &+ half &* 16, as: SIMD8<UInt16>.self)
          faults |= (minimums & magnitude) &+ rest
        }
      }
    }
    return all(faults .< 0x8000)
  }

  private func number(
    _ reason: PackedFormatError.Reason, _ tile: Int, _ row: Int, _ group: Int
  ) -> PackedFormatError {
    PackedFormatError(
      reason, plane: .scales, row: tile * 16 + row, column: format.groupSize.map { group * $0 })
  }
}
