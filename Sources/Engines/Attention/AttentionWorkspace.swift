import TensorCore

/// Every buffer that attention writes beside its results, allocated once; its size does not grow with
/// the context.
@safe
struct AttentionWorkspace: ~Copyable {
  private let layout: AttentionRoom.Layout
  private let partialLayout: AttentionPartials.Layout
  private let partialOffset: Int
  let byteCount: Int
  private let storage: AlignedStorage

  /// For that many threads, and that many sequences that decode one token at a time.
  init(shape: AttentionShape, pagePositions: Int, threads: Int, sequences: Int) {
    layout = AttentionRoom.Layout(shape, pagePositions: pagePositions)
    partialLayout = AttentionPartials.Layout(shape)
    partialOffset = threads * layout.byteCount
    byteCount = partialOffset + sequences * shape.keyValueHeadCount * partialLayout.byteCount
    storage = AlignedStorage(byteCount: byteCount)
  }

  /// A thread's own.
  @unsafe func room(_ thread: Int) -> AttentionRoom {
    // Rooms lie one after the other inside `storage`, which this value owns.
    unsafe AttentionRoom(base: storage.baseAddress + thread * layout.byteCount, layout: layout)
  }

  /// What the parts of one token's attention give, of a key/value head of a sequence.
  @unsafe func partials(slot: Int) -> AttentionPartials {
    // Behind the rooms, one after the other.
    unsafe AttentionPartials(
      base: storage.baseAddress + partialOffset + slot * partialLayout.byteCount,
      layout: partialLayout)
  }
}

/// Adds up the bytes of parts that begin on cache lines.
struct PartOffsets {
  private(set) var byteCount = 0

  /// Where a part of `count` elements begins.
  mutating func next<Element>(_ type: Element.Type, _ count: Int) -> Int {
    defer { byteCount += (count * MemoryLayout<Element>.stride + 63) & ~63 }
    return byteCount
  }
}

/// A thread's scratch for one tile.
@unsafe struct AttentionRoom {
  let base: UnsafeMutableRawPointer
  let layout: Layout

  /// Where its parts begin, in bytes.
  struct Layout {
    let begins, ends, maxima, sums, decays, queryScales, weightScales, ones: Int
    let queries, queryCodes, scores, weightCodes, attended, panel, planes: Int
    let groupSums, pageMinimums, minimums: Int
    /// Codes from one row to the next: even, and longer than a row.
    let queryStride, weightStride: Int
    let byteCount: Int

    init(_ shape: AttentionShape, pagePositions: Int) {
      let rows = shape.tileRowCapacity
      let dimension = shape.headDimension
      let groups = (dimension + 31) / 32
      queryStride = (dimension + 17) & ~15
      weightStride = (pagePositions + 17) & ~15
      var offsets = PartOffsets()
      begins = offsets.next(Int32.self, rows)
      ends = offsets.next(Int32.self, rows)
      maxima = offsets.next(Float.self, rows)
      sums = offsets.next(Float.self, rows)
      decays = offsets.next(Float.self, rows)
      queryScales = offsets.next(Float.self, rows)
      weightScales = offsets.next(Float.self, rows)
      ones = offsets.next(Float.self, rows)
      queries = offsets.next(Float.self, rows * dimension)
      queryCodes = offsets.next(Int16.self, rows * queryStride)
      scores = offsets.next(Float.self, rows * pagePositions)
      weightCodes = offsets.next(Int16.self, rows * weightStride)
      attended = offsets.next(Float.self, rows * dimension)
      // Positions stand in pairs, and columns are read 16 pairs at a time.
      panel = offsets.next(Int8.self, dimension * (pagePositions + 1) + 32)
      planes = offsets.next(Float.self, 2 * groups * pagePositions)
      groupSums = offsets.next(Float.self, rows * groups)
      pageMinimums = offsets.next(Float.self, rows * groups)
      minimums = offsets.next(Float.self, rows * groups)
      byteCount = offsets.byteCount
    }
  }

  // Parts do not overlap, and each is as large as the layout says.
  private func floats(_ offset: Int) -> UnsafeMutablePointer<Float> {
    unsafe (base + offset).assumingMemoryBound(to: Float.self)
  }
  private func codes(_ offset: Int) -> UnsafeMutablePointer<Int16> {
    unsafe (base + offset).assumingMemoryBound(to: Int16.self)
  }

  /// [rows] the columns of the page at hand that each row sees.
  var begins: UnsafeMutablePointer<Int32> {
    unsafe (base + layout.begins).assumingMemoryBound(to: Int32.self)
  }
  var ends: UnsafeMutablePointer<Int32> {
    unsafe (base + layout.ends).assumingMemoryBound(to: Int32.self)
  }
  /// [rows] the online softmax so far.
  var maxima: UnsafeMutablePointer<Float> { unsafe floats(layout.maxima) }
  var sums: UnsafeMutablePointer<Float> { unsafe floats(layout.sums) }
  var decays: UnsafeMutablePointer<Float> { unsafe floats(layout.decays) }
  /// [rows] what the codes of queries and of weights stand for multiples of; and ones.
  var queryScales: UnsafeMutablePointer<Float> { unsafe floats(layout.queryScales) }
  var weightScales: UnsafeMutablePointer<Float> { unsafe floats(layout.weightScales) }
  var ones: UnsafeMutablePointer<Float> { unsafe floats(layout.ones) }
  /// [rows][headDimension] queries, and [rows][queryStride] their codes.
  var queries: UnsafeMutablePointer<Float> { unsafe floats(layout.queries) }
  var queryCodes: UnsafeMutablePointer<Int16> { unsafe codes(layout.queryCodes) }
  /// [rows][pagePositions] scores of a page, then weights; [rows][weightStride] their codes.
  var scores: UnsafeMutablePointer<Float> { unsafe floats(layout.scores) }
  var weightCodes: UnsafeMutablePointer<Int16> { unsafe codes(layout.weightCodes) }
  /// [rows][headDimension] sums of weighted values.
  var attended: UnsafeMutablePointer<Float> { unsafe floats(layout.attended) }
  /// [headDimension · pagePositions] a panel of 4-bit codes as bytes, in pairs.
  var panel: UnsafeMutableRawPointer { unsafe base + layout.panel }
  /// [2 · groups][pagePositions] its scales, then its minimums.
  var planes: UnsafeMutablePointer<Float> { unsafe floats(layout.planes) }
  /// [rows][groups] sums of each group's queries; weighted sums of minimums, of a page and so far.
  var groupSums: UnsafeMutablePointer<Float> { unsafe floats(layout.groupSums) }
  var pageMinimums: UnsafeMutablePointer<Float> { unsafe floats(layout.pageMinimums) }
  var minimums: UnsafeMutablePointer<Float> { unsafe floats(layout.minimums) }
}

/// What the parts of one token's attention give: rows are the heads that share a key/value head.
@unsafe struct AttentionPartials {
  let base: UnsafeMutableRawPointer
  let layout: Layout

  /// Where its parts begin, in bytes.
  struct Layout {
    let attended, maxima, sums: Int
    let byteCount: Int

    init(_ shape: AttentionShape) {
      let parts = AttentionShape.partCapacity
      let rows = shape.groupHeadCount
      var offsets = PartOffsets()
      attended = offsets.next(Float.self, parts * rows * shape.headDimension)
      maxima = offsets.next(Float.self, rows * parts)
      sums = offsets.next(Float.self, rows * parts)
      byteCount = offsets.byteCount
    }
  }

  // Parts do not overlap, and each is as large as the layout says.
  private func floats(_ offset: Int) -> UnsafeMutablePointer<Float> {
    unsafe (base + offset).assumingMemoryBound(to: Float.self)
  }

  /// [parts][rows][headDimension].
  var attended: UnsafeMutablePointer<Float> { unsafe floats(layout.attended) }
  /// [rows][partCapacity].
  var maxima: UnsafeMutablePointer<Float> { unsafe floats(layout.maxima) }
  var sums: UnsafeMutablePointer<Float> { unsafe floats(layout.sums) }
}
