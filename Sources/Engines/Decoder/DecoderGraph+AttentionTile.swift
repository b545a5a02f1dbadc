import KVCache
import KernelContract
import QuantKernels

/// Score rows that share a pass over one head's pages: heads of one token, or tokens of one head.
@safe struct AttentionTile {
  // Its step keeps it.
  private unowned(unsafe) let owner: CacheSequence
  var store: Int
  var queryHead: Int
  /// The step's row of the first score row.
  var row: Int
  var rowCount: Int
  var isOneToken: Bool
  /// Positions that the first score row sees; each further token sees one more.
  var firstLimit: Int

  init(
    sequence: CacheSequence, store: Int, queryHead: Int, row: Int, rowCount: Int,
    isOneToken: Bool, firstLimit: Int
  ) {
    unsafe owner = sequence
    self.store = store
    self.queryHead = queryHead
    self.row = row
    self.rowCount = rowCount
    self.isOneToken = isOneToken
    self.firstLimit = firstLimit
  }

  var sequence: CacheSequence { unsafe owner }
  func limit(_ row: Int) -> Int { isOneToken ? firstLimit : firstLimit + row }
  /// Positions that any score row sees.
  var total: Int { limit(rowCount - 1) }
}

/// What one head's pages give to the rows of a tile.
///
/// Against 8-bit codes queries and probabilities become 16-bit codes and products integers; other
/// elements are multiplied as floats, 4-bit ones after they are unpacked.
extension DecoderGraph {
  func attend(_ tile: AttentionTile, room: Int) {
    let vectors = engine.compute.vectors
    let stride = work.scoreStride
    let scale = 1 / Float(engine.header.headDimension).squareRoot()
    // This thread's score rows; `total` positions fit the stride, which covers the context limit.
    let scores = unsafe work.scores + room * work.scoreRows * stride
    let total = tile.total
    unsafe computeScores(tile, into: scores, room: room)
    for row in 0..<tile.rowCount {
      let limit = tile.limit(row)
      // What this row may not see has no weight.
      unsafe vectors.softmax(scores + row * stride, count: limit, scale: scale)
      unsafe (scores + row * stride + limit).update(repeating: 0, count: total - limit)
    }
    unsafe sumValues(tile, weights: scores, room: room)
  }

  /// Where the pages of a tile are.
  private struct Pages {
    let store: Int
    let head: Int
    let count: Int
    let positions: Int
    let total: Int

    init(_ tile: AttentionTile, _ graph: DecoderGraph) {
      let header = graph.engine.header
      store = tile.store
      head = tile.queryHead / (header.queryHeadCount / header.keyValueHeadCount)
      positions = tile.sequence.geometry.pagePositions
      total = tile.total
      count = tile.sequence.geometry.pageCount(positions: total)
    }

    /// Positions of a page that the tile sees.
    func width(_ page: Int) -> Int { min(positions, total - page * positions) }
  }

  private var rowStride: Int { engine.header.queryHeadCount * engine.header.headDimension }

  /// Query · key for every row and position.
  @unsafe private func computeScores(
    _ tile: AttentionTile, into scores: UnsafeMutablePointer<Float>, room: Int
  ) {
    let vectors = engine.compute.vectors
    let geometry = tile.sequence.geometry
    let dimension = geometry.headDimension
    let stride = work.scoreStride
    let pages = Pages(tile, self)
    let queryStride = tile.isOneToken ? dimension : rowStride
    let queries = unsafe work.projections + tile.row * rowStride + tile.queryHead * dimension
    // Panels of the page and of this thread's scratch, each as large as the counts say.
    let codes = unsafe work.codes(room)
    let rowScales = unsafe work.rowScales(room)
    if geometry.keyElement.isByteCode {
      let scale = tile.sequence.staticScales?.keys[tile.store] ?? 1
      for row in 0..<tile.rowCount {
        unsafe rowScales[row] =
          unsafe scale
          * vectors.quantize(
            queries + row * queryStride, toS16: codes + row * work.codeStride, count: dimension)
      }
    }
    for page in 0..<pages.count {
      let place = unsafe tile.sequence.headPage(store: pages.store, head: pages.head, page: page)
      let panel = unsafe scores + page * pages.positions
      if geometry.keyElement.isByteCode {
        // Whole bundles of columns: what stands behind the stored positions is not read later.
        unsafe vectors.codeProduct(
          a: codes, aStride: work.codeStride, rowScales: rowScales,
          b: place.keys.assumingMemoryBound(to: Int8.self), bStride: pages.positions,
          columnScales: place.keyScales, c: panel, cStride: stride, rows: tile.rowCount,
          columns: min(pages.positions, (pages.width(page) + 15) & ~15), depth: dimension,
          accumulates: false)
        continue
      }
      let keys = unsafe floatKeys(tile, place, pages, page: page, room: room)
      unsafe vectors.panelProduct(
        a: queries, aStride: queryStride, b: keys.base, bStride: pages.positions, of: keys.element,
        c: panel, cStride: stride, rows: tile.rowCount, columns: pages.width(page),
        depth: dimension, accumulates: false)
    }
  }

  /// Σ weight · value for every row, into the rows of `work.attended`.
  @unsafe private func sumValues(
    _ tile: AttentionTile, weights: UnsafeMutablePointer<Float>, room: Int
  ) {
    let vectors = engine.compute.vectors
    let geometry = tile.sequence.geometry
    let dimension = geometry.headDimension
    let stride = work.scoreStride
    let pages = Pages(tile, self)
    let output = unsafe work.attended + tile.row * rowStride + tile.queryHead * dimension
    let outputStride = tile.isOneToken ? dimension : rowStride
    // As above.
    let codes = unsafe work.codes(room)
    let rowScales = unsafe work.rowScales(room)
    if geometry.valueElement.isByteCode {
      unsafe scaleWeights(tile, pages, weights)
      let scale = tile.sequence.staticScales?.values[tile.store] ?? 1
      for row in 0..<tile.rowCount {
        unsafe rowScales[row] =
          unsafe scale
          * vectors.quantize(
            weights + row * stride, toS16: codes + row * work.codeStride, count: pages.total)
      }
    }
    for page in 0..<pages.count {
      let place = unsafe tile.sequence.headPage(store: pages.store, head: pages.head, page: page)
      let first = page * pages.positions
      if geometry.valueElement.isByteCode {
        unsafe vectors.codeProduct(
          a: codes + first, aStride: work.codeStride, rowScales: rowScales,
          b: place.values.assumingMemoryBound(to: Int8.self), bStride: dimension,
          columnScales: nil, c: output, cStride: outputStride, rows: tile.rowCount,
          columns: dimension, depth: pages.width(page), accumulates: page > 0)
        continue
      }
      let values = unsafe floatValues(tile, place, pages, page: page, room: room)
      unsafe vectors.panelProduct(
        a: weights + first, aStride: stride, b: values.base, bStride: dimension,
        of: values.element, c: output, cStride: outputStride, rows: tile.rowCount,
        columns: dimension, depth: pages.width(page), accumulates: page > 0)
    }
  }

  /// Weights times the scales of the values that they are for, where each position has one.
  @unsafe private func scaleWeights(
    _ tile: AttentionTile, _ pages: Pages, _ weights: UnsafeMutablePointer<Float>
  ) {
    for page in 0..<pages.count {
      let place = unsafe tile.sequence.headPage(store: pages.store, head: pages.head, page: page)
      guard let scales = unsafe place.valueScales else { return }
      for row in 0..<tile.rowCount {
        let line = unsafe weights + row * work.scoreStride + page * pages.positions
        unsafe engine.compute.vectors.multiply(
          line, scales, output: line, count: pages.width(page))
      }
    }
  }

  /// A page's keys as floats, [dimension][pagePositions]; 4-bit ones are unpacked.
  @unsafe private func floatKeys(
    _ tile: AttentionTile, _ place: CacheSequence.HeadPage, _ pages: Pages, page: Int, room: Int
  ) -> (base: UnsafeRawPointer, element: PanelElement) {
    switch tile.sequence.geometry.keyElement {
    case .f32: return unsafe (UnsafeRawPointer(place.keys), .f32)
    case .f16: return unsafe (UnsafeRawPointer(place.keys), .f16)
    case .s8, .s8Static: preconditionFailure("codes are multiplied as such")
    case .u4g32: break
    }
    let dimension = tile.sequence.geometry.headDimension
    // A panel and a vector behind it, this thread's.
    let panel = unsafe work.panel(room)
    let column = unsafe panel + dimension * pages.positions
    for index in 0..<pages.width(page) {
      var vector = unsafe MutableSpan(_unsafeStart: column, count: dimension)
      tile.sequence.readKey(
        into: &vector, store: pages.store, head: pages.head,
        position: page * pages.positions + index)
      for d in 0..<dimension { unsafe panel[d * pages.positions + index] = column[d] }
    }
    return (UnsafeRawPointer(panel), .f32)
  }

  /// A page's values as floats, [pagePositions][dimension]; 4-bit ones are unpacked.
  @unsafe private func floatValues(
    _ tile: AttentionTile, _ place: CacheSequence.HeadPage, _ pages: Pages, page: Int, room: Int
  ) -> (base: UnsafeRawPointer, element: PanelElement) {
    switch tile.sequence.geometry.valueElement {
    case .f32: return unsafe (UnsafeRawPointer(place.values), .f32)
    case .f16: return unsafe (UnsafeRawPointer(place.values), .f16)
    case .s8, .s8Static: preconditionFailure("codes are multiplied as such")
    case .u4g32: break
    }
    let dimension = tile.sequence.geometry.headDimension
    // This thread's panel.
    let panel = unsafe work.panel(room)
    for index in 0..<pages.width(page) {
      var vector = unsafe MutableSpan(_unsafeStart: panel + index * dimension, count: dimension)
      tile.sequence.readValue(
        into: &vector, store: pages.store, head: pages.head,
        position: page * pages.positions + index)
    }
    return (UnsafeRawPointer(panel), .f32)
  }
}

extension CacheElement {
  /// Whether elements are codes of a byte that scales are multiplied with afterwards.
  var isByteCode: Bool { self == .s8 || self == .s8Static }
}

extension CacheSequence {
  /// The scales of 8-bit elements that belong to the model; nil where the cache has none.
  var staticScales: StaticScales? { pool.layout.groups[0].staticScales }
}
