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
      rowScales: room.queryScales + first, b: keys + 2 * block.firstColumn, bStride: 2 * positions,
      columnScales: scales, c: room.scores + first * positions, cStride: positions,
      rows: block.rows.count, columns: block.columnCount, depth: dimension, rowFactors: nil,
      ahead: UnsafeRawBufferPointer(
        start: page.values, count: geometry.headByteCount - geometry.keyPanelByteCount))
  }

  func sumCodes(
    _ block: Block, _ page: CacheSequence.HeadPage, next: CacheSequence.HeadPage
  ) {
    let dimension = unsafe geometry.headDimension
    let first = block.rows.lowerBound
    let scales = unsafe page.valueScales.map { unsafe UnsafePointer($0 + block.columns.lowerBound) }
    unsafe quantizeWeights(block, columnScales: scales, factor: valueScale)
    let values = unsafe page.values.assumingMemoryBound(to: Int8.self)
    let columns = block.pairedColumns
    unsafe stage.vectors.codeProduct(
      a: room.weightCodes + first * room.layout.weightStride, aStride: room.layout.weightStride,
      rowScales: room.weightScales + first, b: values + columns.lowerBound * dimension,
      bStride: 2 * dimension, columnScales: nil, c: room.attended + first * dimension,
      cStride: dimension, rows: block.rows.count, columns: dimension, depth: columns.count,
      rowFactors: room.decays + first,
      ahead: UnsafeRawBufferPointer(start: next.keys, count: geometry.keyPanelByteCount))
  }

  /// The weights of `block.pairedColumns` as codes: what no row sees has none.
  func quantizeWeights(_ block: Block, columnScales: UnsafePointer<Float>?, factor: Float) {
    let positions = unsafe geometry.pagePositions
    let (first, stride) = unsafe (block.rows.lowerBound, room.layout.weightStride)
    let codes = unsafe room.weightCodes + first * stride
    let skipped = block.columns.lowerBound - block.pairedColumns.lowerBound
    if skipped > 0 {
      // The first code of each row.
      for row in 0..<block.rows.count { unsafe codes[row * stride] = 0 }
    }
    // The positions that some row sees; weights begin at the first column of scores.
    let weights = unsafe room.scores + first * positions
    unsafe stage.vectors.quantize(
      rows: weights + (block.columns.lowerBound - block.firstColumn), stride: positions,
      columnScales: columnScales, codes: codes + skipped, codeStride: stride,
      rowScales: room.weightScales + first, count: block.rows.count, columns: block.columns.count,
      factor: factor)
  }
}
