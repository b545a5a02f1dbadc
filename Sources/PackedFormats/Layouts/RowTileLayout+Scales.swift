/// Canonical scales and minimums into tiles.
extension RowTileLayout {
  /// Brings bytes of the canonical plane of scales or minimums to their places.
  ///
  /// - Parameters:
  ///   - bytes: whole numbers of the plane.
  ///   - offset: where they begin in the plane.
  ///   - storage: the layout's plane of scales.
  package func interleaveScales(
    _ bytes: UnsafeRawBufferPointer, of plane: Plane, at offset: Int,
    into storage: UnsafeMutableRawPointer
  ) {
    guard let start = bytes.baseAddress else { return }
    let base = unsafe storage + (plane == .minimums ? 16 * scaleBytes : 0)
    if format.axis(of: plane) == .tensor {
      for row in 0..<rows {
        unsafe (base + (row / 16 * scaleTileBytes + row % 16 * 4)).storeBytes(
          of: start.loadUnaligned(as: UInt32.self), as: UInt32.self)
      }
      return
    }
    let groups = usedGroupCount
    if groupBytes == 64, scaleBytes == 4 {
      // One binary32 a row, 16 a tile: the tiles' scales are the plane.
      unsafe (base + offset).copyMemory(from: start, byteCount: bytes.count)
      return
    }
    let first = offset / scaleBytes
    let end = first + bytes.count / scaleBytes
    var number = first
    while number < end {
      let (row, group) = number.quotientAndRemainder(dividingBy: groups)
      let source = unsafe start + (number - first) * scaleBytes
      let to = unsafe base + row / 16 * scaleTileBytes
      if group == 0, row % 16 == 0, number + 16 * groups <= end, scaleBytes == 2 {
        unsafe tile(source, groups: groups, into: to)
        number += 16 * groups
        continue
      }
      let count = min(groups - group, end - number)
      for index in 0..<count {
        let place = unsafe to + ((group + index) * groupBytes + row % 16 * scaleBytes)
        if scaleBytes == 4 {
          unsafe place.storeBytes(
            of: source.loadUnaligned(fromByteOffset: index &* 4, as: UInt32.self), as: UInt32.self)
        } else {
          unsafe place.storeBytes(
            of: source.loadUnaligned(fromByteOffset: index &* 2, as: UInt16.self), as: UInt16.self)
        }
      }
      number += count
    }
  }

  /// 16 whole rows of binary16 numbers.
  private func tile(
    _ source: UnsafeRawPointer, groups: Int, into destination: UnsafeMutableRawPointer
  ) {
    let stride = groupBytes
    let rowStride = groups &* 2
    // Whole vectors of the 16 rows, then single groups: all inside the rows.
    let vectorCount = groups / 8
    for vector in 0..<vectorCount {
      for half in 0..<2 {
        unsafe eightRows(
          source + (half &* 8 &* rowStride &+ vector &* 16), rowStride: rowStride,
          into: destination + (vector &* 8 &* stride &+ half &* 16), stride: stride)
      }
    }
    for group in vectorCount &* 8..<groups {
      let from = unsafe source + group &* 2
      var numbers = SIMD16<UInt16>()
      for row in 0..<16 {
        numbers[row] = unsafe from.loadUnaligned(
          fromByteOffset: row &* rowStride, as: UInt16.self)
      }
      unsafe destination.storeBytes(
        of: numbers, toByteOffset: group &* stride, as: SIMD16<UInt16>.self)
    }
  }

  /// Eight numbers of each of eight rows: rows become columns.
  @inline(__always)
  private func eightRows(
    _ source: UnsafeRawPointer, rowStride: Int, into destination: UnsafeMutableRawPointer,
    stride: Int
  ) {
    @inline(__always)
    func row(_ index: Int) -> SIMD8<UInt16> {
      // Sixteen bytes of a row; the caller has all of them.
      unsafe source.loadUnaligned(fromByteOffset: index &* rowStride, as: SIMD8<UInt16>.self)
    }
    let (a, b) = (zip(row(0), row(1)), zip(row(2), row(3)))
    let (c, d) = (zip(row(4), row(5)), zip(row(6), row(7)))
    for half in 0..<2 {
      // Of four groups: two rows a word, then four, then eight.
      let (ab, cd) = half == 0 ? (zip(a.0, b.0), zip(c.0, d.0)) : (zip(a.1, b.1), zip(c.1, d.1))
      let to = unsafe destination + half &* 4 &* stride
      // The places of four groups in the tile.
      unsafe to.storeBytes(of: lower(ab.0, cd.0), as: SIMD4<UInt32>.self)
      unsafe to.storeBytes(of: upper(ab.0, cd.0), toByteOffset: stride, as: SIMD4<UInt32>.self)
      unsafe to.storeBytes(
        of: lower(ab.1, cd.1), toByteOffset: 2 &* stride, as: SIMD4<UInt32>.self)
      unsafe to.storeBytes(
        of: upper(ab.1, cd.1), toByteOffset: 3 &* stride, as: SIMD4<UInt32>.self)
    }
  }

  /// The elements of two vectors by turns, as words of two.
  @inline(__always)
  private func zip(
    _ a: SIMD8<UInt16>, _ b: SIMD8<UInt16>
  ) -> (SIMD4<UInt32>, SIMD4<UInt32>) {
    let low = SIMD8(a[0], b[0], a[1], b[1], a[2], b[2], a[3], b[3])
    let high = SIMD8(a[4], b[4], a[5], b[5], a[6], b[6], a[7], b[7])
    // Any bits are vectors of integers.
    return unsafe (
      unsafeBitCast(low, to: SIMD4<UInt32>.self), unsafeBitCast(high, to: SIMD4<UInt32>.self)
    )
  }

  /// The words of two vectors by turns.
  @inline(__always)
  private func zip(
    _ a: SIMD4<UInt32>, _ b: SIMD4<UInt32>
  ) -> (SIMD4<UInt32>, SIMD4<UInt32>) {
    (SIMD4(a[0], b[0], a[1], b[1]), SIMD4(a[2], b[2], a[3], b[3]))
  }

  @inline(__always)
  private func lower(_ a: SIMD4<UInt32>, _ b: SIMD4<UInt32>) -> SIMD4<UInt32> {
    SIMD4(lowHalf: a.lowHalf, highHalf: b.lowHalf)
  }

  @inline(__always)
  private func upper(_ a: SIMD4<UInt32>, _ b: SIMD4<UInt32>) -> SIMD4<UInt32> {
    SIMD4(lowHalf: a.highHalf, highHalf: b.highHalf)
  }
}
