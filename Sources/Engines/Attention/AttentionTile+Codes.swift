import KVCache
import QuantKernels

/// Pages of 8-bit codes: queries and weights become 16-bit codes, and products integers.
extension AttentionTile {
  func scoreCodes(_ block: Block, _ page: CacheSequence.HeadPage) {
    let (dimension, positions) = unsafe (geometry.headDimension, geometry.pagePositions)
    let first = block.rows.lowerBound
    let keys = unsafe page.keys.assumingMemoryBound(to: Int8.self)
    let scales = unsafe page.keyScales.map { unsafe UnsafePointer($0 + block.firstColumn) }
    // Columns inside of the page's panel; what stands behind the stored positions is not read later.
    // Values and all scales of the head follow its keys.
    unsafe stage.vectors.codeProduct(
      a: room.queryCodes + first * room.layout.queryStride, aStride: room.layout.queryStride,
      rowScales: room.queryScales + first, b: keys + block.firstColumn, bStride: positions,
      columnScales: scales, c: room.scores + first * positions, cStride: positions,
      rows: block.rows.count, columns: block.columnCount, depth: dimension, rowFactors: nil,
      ahead: UnsafeRawBufferPointer(
        start: page.values, count: geometry.headByteCount - geometry.keyPanelByteCount))
  }

  func sumCodes(
    _ block: Block, _ page: CacheSequence.HeadPage, next: CacheSequence.HeadPage
  ) {
    let (dimension, positions) = unsafe (geometry.headDimension, geometry.pagePositions)
    let first = block.rows.lowerBound
    let skipped = block.columns.lowerBound - block.firstColumn
    let scales = unsafe page.valueScales.map { unsafe UnsafePointer($0 + block.columns.lowerBound) }
    let codes = unsafe room.weightCodes + first * room.layout.weightStride
    // The positions that some row sees; weights begin at the first column of scores.
    unsafe stage.vectors.quantize(
      rows: room.scores + first * positions + skipped, stride: positions, columnScales: scales,
      codes: codes, codeStride: room.layout.weightStride, rowScales: room.weightScales + first,
      count: block.rows.count, columns: block.columns.count, factor: valueScale)
    let values = unsafe page.values.assumingMemoryBound(to: Int8.self)
    unsafe stage.vectors.codeProduct(
      a: codes, aStride: room.layout.weightStride, rowScales: room.weightScales + first,
      b: values + block.columns.lowerBound * dimension, bStride: dimension, columnScales: nil,
      c: room.attended + first * dimension, cStride: dimension, rows: block.rows.count,
      columns: dimension, depth: block.columns.count, rowFactors: room.decays + first,
      ahead: UnsafeRawBufferPointer(start: next.keys, count: geometry.keyPanelByteCount))
  }
}

extension CacheElement {
  /// Whether elements are codes of a byte, whose products with a head's queries are summed whole.
  var isByteCode: Bool { self == .s8 || self == .s8Static }
}
