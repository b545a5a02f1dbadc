import KVCache
import QuantKernels

/// Pages of 4-bit codes with a scale and a minimum for 32 elements: a panel is unpacked to bytes once
/// for all rows and multiplied group by group; minimums are multiplied by sums of queries, and summed
/// by weights.
extension AttentionTile {
  /// Elements of a head that share a scale.
  private func elements(of group: Int) -> Range<Int> {
    let size = CacheElement.groupElementCount
    return unsafe group * size..<min((group + 1) * size, geometry.headDimension)
  }

  /// Sums of the queries' codes, for minimums of keys.
  func sumQueryGroups() {
    let groups = unsafe geometry.elementGroupCount
    for row in unsafe 0..<rowCount {
      // A row of codes, of which groups take what they have.
      let codes = unsafe room.queryCodes + row * room.layout.queryStride
      for group in 0..<groups {
        var sum: Int32 = 0
        for index in unsafe elements(of: group) { unsafe sum += Int32(codes[index]) }
        unsafe room.groupSums[row * groups + group] = unsafe Float(sum) * room.queryScales[row]
      }
      unsafe room.ones[row] = 1
    }
  }

  /// Scales and minimums of a panel as floats.
  private func loadPlanes(_ source: UnsafeMutablePointer<Float16>?) {
    guard let source = unsafe source else { return }
    // [2 · groups][pagePositions] on both sides.
    unsafe stage.vectors.convert(
      fromF16: source, to: room.planes,
      count: 2 * geometry.elementGroupCount * geometry.pagePositions)
  }

  func scoreNibbles(_ block: Block, _ page: CacheSequence.HeadPage) {
    let (dimension, positions) = unsafe (geometry.headDimension, geometry.pagePositions)
    let groups = unsafe geometry.elementGroupCount
    let first = block.rows.lowerBound
    let scores = unsafe room.scores + first * positions
    let panel = unsafe room.panel.assumingMemoryBound(to: Int8.self)
    let planes = unsafe room.planes + block.firstColumn
    unsafe loadPlanes(page.keyGroupScales)
    unsafe stage.vectors.unpack(
      nibblePairs: page.keys, to: room.panel, byteCount: dimension / 2 * positions)
    // Columns inside of panel and planes; the minimums stand behind the scales.
    unsafe stage.vectors.panelProduct(
      a: room.groupSums + first * groups, aStride: groups, b: planes + groups * positions,
      bStride: positions, of: .f32, c: scores, cStride: positions, rows: block.rows.count,
      columns: block.columnCount, depth: groups)
    let codes = unsafe room.queryCodes + first * room.layout.queryStride
    let rest = unsafe geometry.headByteCount - geometry.keyPanelByteCount
    for group in 0..<groups {
      let elements = unsafe elements(of: group)
      unsafe stage.vectors.codeProduct(
        a: codes + elements.lowerBound, aStride: room.layout.queryStride,
        rowScales: room.queryScales + first,
        b: panel + elements.lowerBound * positions + 2 * block.firstColumn,
        bStride: 2 * positions,
        columnScales: planes + group * positions, c: scores, cStride: positions,
        rows: block.rows.count, columns: block.columnCount, depth: elements.count,
        rowFactors: room.ones + first,
        ahead: share(of: page.values, byteCount: rest, group, groups))
    }
  }

  func sumNibbles(
    _ block: Block, _ page: CacheSequence.HeadPage, next: CacheSequence.HeadPage
  ) {
    let (dimension, positions) = unsafe (geometry.headDimension, geometry.pagePositions)
    let groups = unsafe geometry.elementGroupCount
    let (first, count) = (block.rows.lowerBound, block.rows.count)
    let low = block.columns.lowerBound
    let weights = unsafe room.scores + first * positions + (low - block.firstColumn)
    let panel = unsafe room.panel.assumingMemoryBound(to: Int8.self)
    unsafe loadPlanes(page.valueGroupScales)
    let columns = block.pairedColumns
    // The positions that some row sees, in pairs.
    unsafe stage.vectors.unpack(
      nibbleRows: page.values + columns.lowerBound * dimension / 2, to: room.panel,
      rows: columns.count, byteCount: dimension / 2)
    let planes = unsafe room.planes + low
    unsafe stage.vectors.floatProduct(
      weights: planes + groups * positions, of: .f32, weightStride: positions, rows: 0..<groups,
      columns: block.columns.count, activations: weights, activationStride: positions,
      tokens: count, output: room.pageMinimums, outputStride: groups)
    for row in 0..<count {
      let decay = unsafe room.decays[first + row]
      for group in 0..<groups {
        // [rows][groups] both.
        let place = (first + row) * groups + group
        unsafe room.minimums[place] =
          unsafe room.minimums[place] * decay + room.pageMinimums[row * groups + group]
      }
    }
    let codes = unsafe room.weightCodes + first * room.layout.weightStride
    for group in 0..<groups {
      let elements = unsafe elements(of: group)
      unsafe quantizeWeights(block, columnScales: planes + group * positions, factor: 1)
      unsafe stage.vectors.codeProduct(
        a: codes, aStride: room.layout.weightStride, rowScales: room.weightScales + first,
        b: panel + 2 * elements.lowerBound, bStride: 2 * dimension, columnScales: nil,
        c: room.attended + first * dimension + elements.lowerBound, cStride: dimension,
        rows: count, columns: elements.count, depth: columns.count,
        rowFactors: room.decays + first,
        ahead: share(of: next.keys, byteCount: geometry.keyPanelByteCount, group, groups))
    }
  }

  /// A group's part of what is asked for.
  private func share(
    of base: UnsafeMutableRawPointer, byteCount: Int, _ group: Int, _ groups: Int
  ) -> UnsafeRawBufferPointer {
    let part = ThreadPool.share(of: byteCount, part: group, partCount: groups)
    return unsafe UnsafeRawBufferPointer(start: base + part.lowerBound, count: part.count)
  }

  /// Adds the weighted sums of minimums to those of codes.
  func addMinimums() {
    let (dimension, groups) = unsafe (geometry.headDimension, geometry.elementGroupCount)
    for row in unsafe 0..<rowCount {
      for group in 0..<groups {
        let minimum = unsafe room.minimums[row * groups + group]
        // A row of sums, of which groups take what they have.
        for index in unsafe elements(of: group) {
          unsafe room.attended[row * dimension + index] += minimum
        }
      }
    }
  }
}
