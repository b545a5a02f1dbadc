import Foundation
import KVCache
import KernelContract
import QuantKernels

/// Rotation, cache writes and attention of a batch.
extension LlamaSession {
  /// Cosines and sines of the batch's positions (Su et al. 2021), shared by all layers.
  ///
  /// Angles are computed in double precision: at large positions float32 would lose digits.
  func computeRotations(count: Int, start: Int) {
    let half = engine.header.ropeDimension / 2
    for row in 0..<count {
      let position = Double(start + row)
      for index in 0..<half {
        let angle = position * engine.rotationFrequencies[index]
        // Row `row` of tables with `half` columns and room for a batch of rows.
        unsafe work.cosines[row * half + index] = Float(cos(angle))
        unsafe work.sines[row * half + index] = Float(sin(angle))
      }
    }
  }

  /// Rotates every head of every row in place.
  @unsafe func rotate(_ rows: UnsafeMutablePointer<Float>, heads: Int, stride: Int, count: Int) {
    let header = engine.header
    let half = header.ropeDimension / 2
    let vectors = engine.compute.vectors
    let cosines = unsafe work.cosines
    let sines = unsafe work.sines
    engine.compute.forEachRow(count) { row in
      // Heads of `headDimension` elements inside the row, of which ropeDimension turn.
      unsafe vectors.rope(
        rows + row * stride, cosines: cosines + row * half, sines: sines + row * half,
        pairCount: half, headCount: heads, headStride: header.headDimension,
        pairing: header.ropePairing == .adjacent ? .adjacent : .halves)
    }
  }

  /// Puts the batch's keys and values into reserved positions, in the cache's elements.
  func storeKeysAndValues(store: Int, count: Int, start: Int) {
    let header = engine.header
    let dimension = header.headDimension
    let stride = header.keyValueHeadCount * dimension
    let geometry = sequence.geometry
    engine.compute.forEachRowWithRoom(count) { row, room in
      // One head's elements of scratch a range; rows and heads lie inside the batch.
      let scratch = unsafe work.elements + room * work.elementStride
      for head in 0..<header.keyValueHeadCount {
        let offset = row * stride + head * dimension
        let keyScale = unsafe convert(
          work.key + offset, to: geometry.keyElement, into: scratch, count: dimension)
        unsafe sequence.storeKey(
          store: store, head: head, position: start + row, elements: scratch, scale: keyScale)
        let valueScale = unsafe convert(
          work.value + offset, to: geometry.valueElement, into: scratch, count: dimension)
        unsafe sequence.storeValue(
          store: store, head: head, position: start + row, elements: scratch, scale: valueScale)
      }
    }
  }

  /// Returns the scale of 8-bit elements, else 1.
  @unsafe private func convert(
    _ values: UnsafePointer<Float>, to element: CacheElement,
    into output: UnsafeMutableRawPointer, count: Int
  ) -> Float {
    let vectors = engine.compute.vectors
    // `output` has room for `count` elements of four bytes.
    switch element {
    case .f32:
      unsafe output.copyMemory(from: values, byteCount: count * 4)
      return 1
    case .f16:
      unsafe vectors.convert(values, toF16: output, count: count)
      return 1
    case .s8:
      return unsafe vectors.quantize(
        values, toS8: output.assumingMemoryBound(to: Int8.self), count: count)
    case .s8Static, .u4g32:
      preconditionFailure("a session of this family refuses elements without a panel kernel")
    }
  }

  /// Causal attention of the batch over everything stored, the batch included.
  ///
  /// The work is cut into items that threads take in contiguous ranges. A decode item is the group
  /// of query heads that share a key/value head (one head each, where that balances the threads
  /// better); a prefill item is one query head for up to `scoreTokens` tokens.
  func attend(store: Int, count: Int, start: Int) {
    let header = engine.header
    let group = header.queryHeadCount / header.keyValueHeadCount
    let pool = engine.compute.pool
    if count == 1 {
      let isBalanced = header.keyValueHeadCount % pool.threadCount == 0
      let heads = isBalanced ? group : 1
      engine.compute.forEachRowWithRoom(header.queryHeadCount / heads) { item, room in
        attendTile(
          AttentionTile(
            store: store, queryHead: item * heads, row: 0, rowCount: heads, isOneToken: true,
            firstLimit: start + 1),
          room: room)
      }
    } else {
      let tokens = LlamaWorkspace.scoreTokens
      let tiles = (count + tokens - 1) / tokens
      engine.compute.forEachRowWithRoom(header.queryHeadCount * tiles) { item, room in
        let row = item / header.queryHeadCount * tokens
        attendTile(
          AttentionTile(
            store: store, queryHead: item % header.queryHeadCount, row: row,
            rowCount: min(tokens, count - row), isOneToken: false, firstLimit: start + row + 1),
          room: room)
      }
    }
  }

  /// Score rows that share a pass over one head's pages: heads of one token, or tokens of one head.
  private struct AttentionTile {
    var store: Int
    var queryHead: Int
    /// The batch row of the first score row.
    var row: Int
    var rowCount: Int
    var isOneToken: Bool
    /// Positions that the first score row sees; each further token sees one more.
    var firstLimit: Int

    func limit(_ row: Int) -> Int { isOneToken ? firstLimit : firstLimit + row }
  }

  private func attendTile(_ tile: AttentionTile, room: Int) {
    let header = engine.header
    let vectors = engine.compute.vectors
    let dimension = header.headDimension
    let geometry = sequence.geometry
    let pagePositions = geometry.pagePositions
    let group = header.queryHeadCount / header.keyValueHeadCount
    let head = tile.queryHead / group
    let rowStride = tile.isOneToken ? dimension : header.queryHeadCount * dimension
    let offset = tile.row * header.queryHeadCount * dimension + tile.queryHead * dimension
    let total = tile.limit(tile.rowCount - 1)
    let pageCount = geometry.pageCount(positions: total)
    // This range's score rows; `total` positions fit the stride, which covers the context limit.
    let stride = work.scoreStride
    guard let keyPanel = geometry.keyElement.panelElement,
      let valuePanel = geometry.valueElement.panelElement
    else { preconditionFailure("a session refuses elements without a panel kernel") }
    let scores = unsafe work.scores + room * work.scoreRows * stride

    for page in 0..<pageCount {
      let place = unsafe sequence.headPage(store: tile.store, head: head, page: page)
      let width = min(pagePositions, total - page * pagePositions)
      let panel = unsafe scores + page * pagePositions
      // The page holds [dimension][pagePositions] keys; `width` columns of it are stored.
      unsafe vectors.panelProduct(
        a: work.query + offset, aStride: rowStride, b: place.keys, bStride: pagePositions,
        of: keyPanel, c: panel, cStride: stride,
        rows: tile.rowCount, columns: width, depth: dimension, accumulates: false)
      if let scales = unsafe place.keyScales {
        for row in 0..<tile.rowCount {
          let line = unsafe panel + row * stride
          unsafe vectors.multiply(line, scales, output: line, count: width)
        }
      }
    }
    let scale = 1 / Float(dimension).squareRoot()
    for row in 0..<tile.rowCount {
      let limit = tile.limit(row)
      // What this row may not see has no weight.
      unsafe vectors.softmax(scores + row * stride, count: limit, scale: scale)
      unsafe (scores + row * stride + limit).update(repeating: 0, count: total - limit)
    }
    for page in 0..<pageCount {
      let place = unsafe sequence.headPage(store: tile.store, head: head, page: page)
      let depth = min(pagePositions, total - page * pagePositions)
      let panel = unsafe scores + page * pagePositions
      if let scales = unsafe place.valueScales {
        for row in 0..<tile.rowCount {
          let line = unsafe panel + row * stride
          unsafe vectors.multiply(line, scales, output: line, count: depth)
        }
      }
      // The page holds [pagePositions][dimension] values; `depth` rows of it are stored.
      unsafe vectors.panelProduct(
        a: panel, aStride: stride, b: place.values, bStride: dimension,
        of: valuePanel, c: work.attended + offset, cStride: rowStride,
        rows: tile.rowCount, columns: dimension, depth: depth, accumulates: page > 0)
    }
  }
}

extension CacheElement {
  /// What the panel kernel calls it; nil where it has no such element.
  var panelElement: PanelElement? {
    switch self {
    case .f32: .f32
    case .f16: .f16
    case .s8: .s8
    case .s8Static, .u4g32: nil
    }
  }
}
