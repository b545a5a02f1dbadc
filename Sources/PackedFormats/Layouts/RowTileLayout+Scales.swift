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
    for group in 0..<groups {
      let from = unsafe source + group &* 2
      var numbers = SIMD16<UInt16>()
      for row in 0..<16 {
        numbers[row] = unsafe from.loadUnaligned(
          fromByteOffset: row &* groups &* 2, as: UInt16.self)
      }
      unsafe destination.storeBytes(
        of: numbers, toByteOffset: group &* stride, as: SIMD16<UInt16>.self)
    }
  }
}
