import KVCache
import QuantKernels

/// One tile at work: its rows go through pages with an online softmax.
///
/// Rows are the tokens of the tile and for each the query heads that share a key/value head. A row's
/// numbers do not depend on which others the tile has.
@unsafe struct AttentionTile {
  let stage: AttentionStage
  let room: AttentionRoom
  let item: AttentionItem
  let run: AttentionRun
  let segment: AttentionSegment
  let geometry: CacheGeometry
  let table: CacheSequence.PageTable
  let store: Int
  /// Positions that a token looks back at; nil where there is no limit.
  let window: Int?
  /// What codes of the store's keys and values are multiples of, where it is the model's.
  let keyScale: Float
  let valueScale: Float
  let rowCount: Int

  init(_ item: AttentionItem, in run: AttentionRun, room: AttentionRoom) {
    unsafe self.item = item
    unsafe self.run = run
    unsafe self.room = room
    unsafe stage = run.stage
    unsafe segment = stage.segment(item.segment)
    let place = unsafe run.place
    // The segment holds the sequence while the step runs.
    unsafe store = place.store
    let group = unsafe segment.sequence.pool.layout.groups[place.group]
    unsafe geometry = group.geometry
    unsafe window = group.window
    unsafe keyScale = group.staticScales?.keys[place.store] ?? 1
    unsafe valueScale = group.staticScales?.values[place.store] ?? 1
    unsafe table = segment.sequence.pageTable(group: place.group)
    unsafe rowCount = item.tokenCount * stage.shape.groupHeadCount
  }

  /// Where this tile's pages are in use: the part of a page that some row sees.
  struct Block {
    /// The page of the sequence, and its columns that some row sees.
    let page: Int
    let columns: Range<Int>
    /// The first column that scores are made for, a multiple of 16, and how many.
    let firstColumn: Int
    let columnCount: Int
    /// The rows that see anything of it.
    let rows: Range<Int>

    /// The columns from an even one on: panels of codes have two positions side by side.
    var pairedColumns: Range<Int> { columns.lowerBound & ~1..<columns.upperBound }
  }

  private func limit(_ token: Int) -> Int {
    unsafe segment.firstPosition + item.token + token + 1
  }

  private func earliest(_ token: Int) -> Int {
    let window = unsafe window
    return window.map { unsafe max(0, limit(token) - $0) } ?? 0
  }

  func attendPages() {
    let positions = unsafe geometry.pagePositions
    let (begin, end) = unsafe (earliest(0), limit(item.tokenCount - 1))
    let first = begin / positions
    let pages = (end + positions - 1) / positions - first
    let share = unsafe ThreadPool.share(of: pages, part: item.part, partCount: item.partCount)
    unsafe prepareRows()
    for page in first + share.lowerBound..<first + share.upperBound {
      let origin = page * positions
      let columns = max(begin - origin, 0)..<min(end - origin, positions)
      let block = unsafe block(page, columns)
      let next = page + 1 < first + share.upperBound ? page + 1 : page
      unsafe attend(block, next: headPage(next))
    }
    unsafe finish()
  }

  private func headPage(_ page: Int) -> CacheSequence.HeadPage {
    // Pages from the first visible to that of the last token are held.
    unsafe CacheSequence.headPage(
      in: table.address(page), geometry: geometry, store: store, head: item.head)
  }

  /// What of a page the rows see; notes where each row does.
  private func block(_ page: Int, _ columns: Range<Int>) -> Block {
    let positions = unsafe geometry.pagePositions
    let origin = page * positions
    let firstColumn = columns.lowerBound & ~15
    let columnCount = min(positions, (columns.upperBound + 15) & ~15) - firstColumn
    let heads = unsafe stage.shape.groupHeadCount
    var rows = unsafe rowCount..<rowCount
    for token in unsafe 0..<item.tokenCount {
      let begin = unsafe max(earliest(token) - origin, columns.lowerBound)
      let end = unsafe min(limit(token) - origin, columns.upperBound)
      // Tokens that see the page stand together: limits and earliest positions grow with them.
      if begin < end {
        rows = min(rows.lowerBound, token * heads)..<(token + 1) * heads
      }
      for row in token * heads..<(token + 1) * heads {
        // Below the tile's row capacity.
        unsafe room.begins[row] = Int32(max(begin, columns.lowerBound) - firstColumn)
        unsafe room.ends[row] = Int32(max(begin, end) - firstColumn)
      }
    }
    return Block(
      page: page, columns: columns, firstColumn: firstColumn, columnCount: columnCount, rows: rows)
  }

  /// Scores, weights and sums of a page.
  private func attend(_ block: Block, next: CacheSequence.HeadPage) {
    let page = unsafe headPage(block.page)
    let first = block.rows.lowerBound
    let stride = unsafe geometry.pagePositions
    switch unsafe geometry.keyElement {
    case .f32: unsafe scoreFloats(block, page.keys, .f32)
    case .f16: unsafe scoreFloats(block, page.keys, .f16)
    case .s8, .s8Static: unsafe scoreCodes(block, page)
    case .u4g32: unsafe scoreNibbles(block, page)
    }
    // The rows of the block, each with columns of its own.
    unsafe stage.vectors.softmax(
      block: room.scores + first * stride, stride: stride, rows: block.rows.count,
      columns: block.columnCount, begins: room.begins + first, ends: room.ends + first,
      maxima: room.maxima + first, sums: room.sums + first, decays: room.decays + first)
    switch unsafe geometry.valueElement {
    case .f32: unsafe sumFloats(block, page.values, .f32)
    case .f16: unsafe sumFloats(block, page.values, .f16)
    case .s8, .s8Static: unsafe sumCodes(block, page, next: next)
    case .u4g32: unsafe sumNibbles(block, page, next: next)
    }
  }

  /// Brings the rows' queries in, scaled, and begins their sums.
  private func prepareRows() {
    let shape = unsafe stage.shape
    let (heads, dimension) = (shape.groupHeadCount, shape.headDimension)
    let scale = 1 / Float(dimension).squareRoot()
    for token in unsafe 0..<item.tokenCount {
      let row = unsafe segment.row + item.token + token
      // The heads of a row that share the key/value head lie side by side, as in the tile.
      let source = unsafe run.queries + row * shape.rowStride + item.head * heads * dimension
      unsafe (room.queries + token * heads * dimension).update(
        from: source, count: heads * dimension)
    }
    for row in unsafe 0..<rowCount {
      // Below the tile's row capacity.
      unsafe room.maxima[row] = -.infinity
      unsafe room.sums[row] = 0
    }
    let count = unsafe rowCount * dimension
    unsafe room.attended.update(repeating: 0, count: count)
    switch unsafe geometry.keyElement {
    case .f32, .f16: unsafe stage.vectors.scale(room.queries, by: scale, count: count)
    case .s8, .s8Static, .u4g32:
      unsafe stage.vectors.quantize(
        rows: room.queries, stride: dimension, codes: room.queryCodes,
        codeStride: room.layout.queryStride, rowScales: room.queryScales, count: rowCount,
        columns: dimension, factor: scale * keyScale)
    }
    if unsafe geometry.keyElement == .u4g32 { unsafe sumQueryGroups() }
    if unsafe geometry.valueElement == .u4g32 {
      unsafe room.minimums.update(repeating: 0, count: rowCount * geometry.elementGroupCount)
    }
  }

  /// Writes what the rows have, or hands it on to be merged.
  private func finish() {
    let shape = unsafe stage.shape
    let (heads, dimension) = (shape.groupHeadCount, shape.headDimension)
    if unsafe geometry.valueElement == .u4g32 { unsafe addMinimums() }
    if unsafe item.partCount > 1 {
      let slot = unsafe item.segment * shape.keyValueHeadCount + item.head
      let partials = unsafe stage.work.partials(slot: slot)
      let count = heads * dimension
      // This part's place among those of the head.
      unsafe (partials.attended + item.part * count).update(from: room.attended, count: count)
      for row in 0..<heads {
        let place = unsafe row * AttentionShape.partCapacity + item.part
        unsafe partials.maxima[place] = room.maxima[row]
        unsafe partials.sums[place] = room.sums[row]
      }
      return
    }
    for row in unsafe 0..<rowCount {
      let sum = unsafe room.sums[row]
      let line = unsafe room.attended + row * dimension
      unsafe stage.vectors.scale(line, by: sum == 0 ? 0 : 1 / sum, count: dimension)
    }
    for token in unsafe 0..<item.tokenCount {
      let row = unsafe segment.row + item.token + token
      // As the queries lie.
      let target = unsafe run.output + row * shape.rowStride + item.head * heads * dimension
      unsafe target.update(
        from: room.attended + token * heads * dimension, count: heads * dimension)
    }
  }

  // MARK: - Floats

  private func scoreFloats(
    _ block: Block, _ keys: UnsafeMutableRawPointer, _ element: PanelElement
  ) {
    let (dimension, positions) = unsafe (geometry.headDimension, geometry.pagePositions)
    let first = block.rows.lowerBound
    let size = element == .f32 ? 4 : 2
    // Columns inside of the page's panel.
    unsafe stage.vectors.panelProduct(
      a: room.queries + first * dimension, aStride: dimension,
      b: keys + block.firstColumn * size, bStride: positions, of: element,
      c: room.scores + first * positions, cStride: positions, rows: block.rows.count,
      columns: block.columnCount, depth: dimension)
  }

  private func sumFloats(
    _ block: Block, _ values: UnsafeMutableRawPointer, _ element: PanelElement
  ) {
    let (dimension, positions) = unsafe (geometry.headDimension, geometry.pagePositions)
    let first = block.rows.lowerBound
    let size = element == .f32 ? 4 : 2
    // The positions that some row sees; weights begin at the first column of scores.
    unsafe stage.vectors.panelProduct(
      a: room.scores + first * positions + (block.columns.lowerBound - block.firstColumn),
      aStride: positions, b: values + block.columns.lowerBound * dimension * size,
      bStride: dimension, of: element, c: room.attended + first * dimension, cStride: dimension,
      rows: block.rows.count, columns: dimension, depth: block.columns.count,
      rowFactors: room.decays + first)
  }
}
