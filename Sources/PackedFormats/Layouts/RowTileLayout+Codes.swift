import CKernels

/// Canonical codes into tiles, in pieces of any length: what a loader does with one inflated frame
/// after the other.
extension RowTileLayout {
  /// Brings bytes of the canonical plane of codes to their places.
  ///
  /// A word of 32 bits that only begins or ends in the piece is left out: where pieces meet inside
  /// a word, `stitch` brings it.
  ///
  /// - Parameters:
  ///   - bytes: any part of the canonical plane.
  ///   - offset: where the part begins in the plane.
  ///   - storage: the layout's plane of codes, zero where nothing has been brought.
  ///   - way: the instructions for whole tiles, which this CPU must have.
  /// - Returns: the first row in the piece with nonzero bits behind its last code, or nil.
  ///
  /// On an EPYC 7003, a core brings 2-bit codes from its caches to memory at 13 GB/s with AVX2, at
  /// 8 GB/s without.
  package func interleaveCodes(
    _ bytes: UnsafeRawBufferPointer, at offset: Int, into storage: UnsafeMutableRawPointer,
    by way: TileInterleaving = .fastest
  ) -> Int? {
    switch CodePermutation(codeBitCount: codeBitCount) {
    case .bytes: unsafe interleave(bytes, at: offset, into: storage, .bytes, way)
    case .nibbles: unsafe interleave(bytes, at: offset, into: storage, .nibbles, way)
    case .pairs: unsafe interleave(bytes, at: offset, into: storage, .pairs, way)
    }
  }

  /// The bytes of the layout's plane that bytes of a canonical plane go to, up to whole tiles.
  package func range(of plane: Plane, at offset: Int, byteCount count: Int) -> Range<Int> {
    let tileBytes = plane == .codes ? codeTileBytes : scaleTileBytes
    guard plane == .codes || format.axis(of: plane) != .tensor else {
      return 0..<tileCount * tileBytes
    }
    let rowBytes = plane == .codes ? rowBytes : usedGroupCount * scaleBytes
    let first = offset / rowBytes / 16
    let end = min(tileCount, (offset + count + 16 * rowBytes - 1) / rowBytes / 16)
    return first * tileBytes..<max(first, end) * tileBytes
  }

  /// The permutation is a constant where this is inlined.
  @inline(__always)
  private func interleave(
    _ bytes: UnsafeRawBufferPointer, at offset: Int, into storage: UnsafeMutableRawPointer,
    _ permutation: CodePermutation, _ way: TileInterleaving
  ) -> Int? {
    guard let start = bytes.baseAddress else { return nil }
    let rowBytes = rowBytes
    let end = offset + bytes.count
    let lastRow = end / rowBytes
    var row = offset / rowBytes
    var fault: Int?
    // `position` is where the current row's next byte lies in the piece.
    var position = 0
    if offset % rowBytes != 0 {
      let from = offset % rowBytes
      let to = min(rowBytes, from + bytes.count)
      unsafe part(
        start - from, row: row, bytes: from..<to, into: storage, permutation, &fault)
      position = to - from
      row += 1
    }
    while row < lastRow {
      let source = unsafe start + position
      var count =
        row % 16 == 0 && row + 16 <= lastRow ? 16 : row % 4 == 0 && row + 4 <= lastRow ? 4 : 1
      if count > 1 {
        if count == 16, way == .avx2,
          unsafe tiles(
            source, row: row, tileCount: (lastRow - row) / 16, into: storage, permutation)
        {
          count = (lastRow - row) / 16 * 16
        } else {
          unsafe quads(source, row: row, quadCount: count / 4, into: storage, permutation)
        }
        if wordCount % 4 != 0 || wordCount * 4 != rowBytes {
          for index in 0..<count {
            unsafe part(
              source + index * rowBytes, row: row + index,
              bytes: wordCount / 4 * 16..<rowBytes, into: storage, permutation, &fault)
          }
        }
      } else {
        unsafe part(source, row: row, bytes: 0..<rowBytes, into: storage, permutation, &fault)
      }
      position += count * rowBytes
      row += count
    }
    if row == lastRow, position < bytes.count {
      unsafe part(
        start + position, row: row, bytes: 0..<bytes.count - position, into: storage, permutation,
        &fault)
    }
    return fault
  }

  /// The words of a row that lie whole in a range of its bytes, one at a time.
  private func part(
    _ source: UnsafeRawPointer, row: Int, bytes: Range<Int>, into storage: UnsafeMutableRawPointer,
    _ permutation: CodePermutation, _ fault: inout Int?
  ) {
    let to = unsafe storage + (row / 16 * codeTileBytes + row % 16 * 4)
    let first = (bytes.lowerBound + 3) / 4
    let end = bytes.upperBound / 4
    if first < end {
      for word in first..<end {
        let canonical = unsafe source.loadUnaligned(fromByteOffset: word &* 4, as: UInt32.self)
        unsafe to.storeBytes(
          of: permutation(UInt32(littleEndian: canonical)).littleEndian,
          toByteOffset: word &* 64, as: UInt32.self)
      }
    }
    guard bytes.upperBound == rowBytes, wordCount * 4 < rowBytes, first <= wordCount else { return }
    var word: UInt32 = 0
    for byte in wordCount * 4..<rowBytes {
      word |= unsafe UInt32(source.load(fromByteOffset: byte, as: UInt8.self)) << (8 * (byte % 4))
    }
    if word & ~lastWordMask != 0 { fault = fault ?? row }
    unsafe to.storeBytes(
      of: permutation(word & lastWordMask).littleEndian, toByteOffset: wordCount * 64,
      as: UInt32.self)
  }

  /// The same words as `quads`, of all rows of some tiles; false where tiles do not lie as the
  /// instructions want them.
  @inline(__always)
  private func tiles(
    _ source: UnsafeRawPointer, row: Int, tileCount: Int, into storage: UnsafeMutableRawPointer,
    _ permutation: CodePermutation
  ) -> Bool {
    #if arch(x86_64) && !hasFeature(Embedded)
      let target = unsafe storage + row / 16 * codeTileBytes
      guard Int(bitPattern: target) % 32 == 0 else { return false }
      var work = unsafe CKInterleaving(
        source: source, target: target, rowStride: rowBytes, tileStride: codeTileBytes,
        tileCount: tileCount, stepCount: wordCount / 4)
      // 16 · tileCount whole rows of the piece, and as many places in the storage.
      unsafe permutation.interleaveAVX2(&work)
      return true
    #else
      return false
    #endif
  }

  /// The first `wordCount / 4 * 4` words of 4 · quadCount whole rows of one tile.
  @inline(__always)
  private func quads(
    _ source: UnsafeRawPointer, row: Int, quadCount: Int, into storage: UnsafeMutableRawPointer,
    _ permutation: CodePermutation
  ) {
    let rowBytes = rowBytes
    let base = unsafe storage + (row / 16 * codeTileBytes + row % 16 * 4)
    for word in stride(from: 0, to: wordCount / 4 * 4, by: 4) {
      for quad in 0..<quadCount {
        // Four words of each of four rows, all inside whole rows of the piece.
        let from = unsafe source + (quad &* 4 &* rowBytes &+ word &* 4)
        let a = permutation(unsafe from.loadUnaligned(as: SIMD4<UInt32>.self))
        let b = permutation(
          unsafe from.loadUnaligned(fromByteOffset: rowBytes, as: SIMD4<UInt32>.self))
        let c = permutation(
          unsafe from.loadUnaligned(fromByteOffset: 2 &* rowBytes, as: SIMD4<UInt32>.self))
        let d = permutation(
          unsafe from.loadUnaligned(fromByteOffset: 3 &* rowBytes, as: SIMD4<UInt32>.self))
        let ab = SIMD4(a[0], b[0], a[1], b[1])
        let cd = SIMD4(c[0], d[0], c[1], d[1])
        let ab2 = SIMD4(a[2], b[2], a[3], b[3])
        let cd2 = SIMD4(c[2], d[2], c[3], d[3])
        let to = unsafe base + (word &* 64 &+ quad &* 16)
        unsafe to.storeBytes(
          of: SIMD4(lowHalf: ab.lowHalf, highHalf: cd.lowHalf), as: SIMD4<UInt32>.self)
        unsafe to.storeBytes(
          of: SIMD4(lowHalf: ab.highHalf, highHalf: cd.highHalf), toByteOffset: 64,
          as: SIMD4<UInt32>.self)
        unsafe to.storeBytes(
          of: SIMD4(lowHalf: ab2.lowHalf, highHalf: cd2.lowHalf), toByteOffset: 128,
          as: SIMD4<UInt32>.self)
        unsafe to.storeBytes(
          of: SIMD4(lowHalf: ab2.highHalf, highHalf: cd2.highHalf), toByteOffset: 192,
          as: SIMD4<UInt32>.self)
      }
    }
  }

  /// Brings the word that two pieces share, if there is one.
  ///
  /// - Parameters:
  ///   - boundary: where the second piece begins in the canonical plane.
  ///   - before: the last bytes of the first piece, at least three where it has them.
  ///   - after: the first bytes of the second, likewise.
  /// - Returns: the row, where it has nonzero bits behind its last code.
  package func stitch(
    at boundary: Int, before: some Collection<UInt8>, after: some Collection<UInt8>,
    into storage: UnsafeMutableRawPointer
  ) -> Int? {
    let (row, position) = boundary.quotientAndRemainder(dividingBy: rowBytes)
    let held = position % 4
    guard held != 0 else { return nil }
    let index = position / 4
    let missing = min(4, rowBytes - index * 4) - held
    var word: UInt32 = 0
    for (place, byte) in (Array(before.suffix(held)) + Array(after.prefix(missing))).enumerated() {
      word |= UInt32(byte) << UInt32(8 * place)
    }
    let mask = index == wordCount ? lastWordMask : UInt32.max
    let to = unsafe storage + (row / 16 * codeTileBytes + row % 16 * 4)
    let permutation = CodePermutation(codeBitCount: codeBitCount)
    unsafe to.storeBytes(
      of: permutation(word & mask).littleEndian, toByteOffset: index * 64, as: UInt32.self)
    return word & ~mask == 0 ? nil : row
  }
}
