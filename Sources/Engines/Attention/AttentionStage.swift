import KVCache
import QuantKernels

/// Rows of a step that belong to one sequence: tokens one after another, whose keys and values are in
/// its reserved positions when attention begins.
package struct AttentionSegment {
  package let sequence: CacheSequence
  /// The first row of the step, and how many there are.
  package let row: Int
  package let rowCount: Int
  /// The first row's position.
  package let firstPosition: Int

  package init(sequence: CacheSequence, row: Int, rowCount: Int, firstPosition: Int) {
    self.sequence = sequence
    self.row = row
    self.rowCount = rowCount
    self.firstPosition = firstPosition
  }
}

/// Causal attention of a step's rows, each over what is stored of its own sequence.
///
/// Work is cut into tiles: tokens of a sequence times the query heads that share a key/value head, which
/// go through the pages together, with an online softmax, so that nothing grows with the context. One
/// token's pages are split into parts, whose results are merged. Tiles and parts depend on a segment
/// alone: results are the same for any number of threads and any neighbours in the step.
///
/// Everything it writes is allocated when it is made; a step allocates nothing.
@safe package final class AttentionStage {
  let shape: AttentionShape
  let vectors: VectorKernels
  private let pool: ThreadPool
  let work: AttentionWorkspace
  private let pagePositions: Int
  private let sequenceCapacity: Int
  private var segments: [AttentionSegment] = []
  // [itemCapacity], freed in deinit.
  private let items: UnsafeMutablePointer<AttentionItem>
  private let itemCapacity: Int

  /// For steps of that many rows of that many sequences, in pages of that many positions.
  package init(
    shape: AttentionShape, vectors: VectorKernels, pool: ThreadPool, rowCapacity: Int,
    sequenceCapacity: Int, pagePositions: Int
  ) {
    self.shape = shape
    self.vectors = vectors
    self.pool = pool
    self.pagePositions = pagePositions
    self.sequenceCapacity = sequenceCapacity
    work = AttentionWorkspace(
      shape: shape, pagePositions: pagePositions, threads: pool.threadCount,
      sequences: sequenceCapacity)
    // A tile more for every sequence, and parts for those that have one row.
    itemCapacity =
      shape.keyValueHeadCount
      * (rowCapacity / shape.tileTokenCount + sequenceCapacity * AttentionShape.partCapacity)
    unsafe items = .allocate(capacity: itemCapacity)
    segments.reserveCapacity(sequenceCapacity)
  }

  deinit { unsafe items.deallocate() }

  /// Forgets the rows of a step, so that their sequences can go.
  package func removeSegments() { segments.removeAll(keepingCapacity: true) }

  /// Adds rows of a sequence.
  package func add(_ segment: AttentionSegment) {
    precondition(segments.count < sequenceCapacity, "more sequences than a step holds")
    precondition(
      segment.sequence.geometry.pagePositions <= pagePositions, "pages longer than scores have room"
    )
    segments.append(segment)
  }

  /// Attention of every row with the keys and values at a place of each sequence's cache: queries
  /// [rows][queryHeads · headDimension] to results of the same shape.
  @unsafe package func attend(
    _ place: StorePlace, queries: UnsafePointer<Float>, output: UnsafeMutablePointer<Float>
  ) {
    let count = plan(place)
    guard count > 0 else { return }
    let run = unsafe AttentionRun(
      stage: self, place: place, queries: queries, output: output, itemCount: count)
    // Few items are a part each; of many, threads take some at a time.
    let each = (count + pool.threadCount - 1) / pool.threadCount
    unsafe pool.run(run, partsPerThread: min(8, each))
    guard segments.contains(where: { partCount($0, place) > 1 }) else { return }
    unsafe pool.run(AttentionMerge(run: run))
  }

  /// Parts of a segment's attention: one unless it is a single token's.
  func partCount(_ segment: AttentionSegment, _ place: StorePlace) -> Int {
    guard segment.rowCount == 1 else { return 1 }
    return AttentionShape.partCount(pages: pages(of: segment, place).count)
  }

  /// Pages that the first row of a segment sees.
  private func pages(of segment: AttentionSegment, _ place: StorePlace) -> Range<Int> {
    let group = segment.sequence.pool.layout.groups[place.group]
    let first = group.firstVisible(positions: segment.firstPosition + 1)
    let positions = group.geometry.pagePositions
    return first / positions..<group.geometry.pageCount(positions: segment.firstPosition + 1)
  }

  /// Writes the step's items; returns how many.
  private func plan(_ place: StorePlace) -> Int {
    var count = 0
    func append(_ item: AttentionItem) {
      precondition(count < itemCapacity, "more rows than a step holds")
      // Below the capacity.
      unsafe items[count] = item
      count += 1
    }
    for index in segments.indices {
      let segment = segments[index]
      let parts = partCount(segment, place)
      if segment.rowCount == 1 {
        for head in 0..<shape.keyValueHeadCount {
          for part in 0..<parts {
            append(
              AttentionItem(
                segment: index, head: head, token: 0, tokenCount: 1, part: part, partCount: parts))
          }
        }
        continue
      }
      let tokens = shape.tileTokenCount
      let tiles = (segment.rowCount + tokens - 1) / tokens
      for turn in 0..<tiles {
        // Late tokens see more than early ones: taken in turn from both ends, they spread evenly.
        let token = (turn % 2 == 0 ? turn / 2 : tiles - 1 - turn / 2) * tokens
        for head in 0..<shape.keyValueHeadCount {
          append(
            AttentionItem(
              segment: index, head: head, token: token,
              tokenCount: min(tokens, segment.rowCount - token), part: 0, partCount: 1))
        }
      }
    }
    return count
  }

  func segment(_ index: Int) -> AttentionSegment { segments[index] }
  var segmentCount: Int { segments.count }

  func item(_ index: Int) -> AttentionItem {
    // Planned before the run.
    unsafe items[index]
  }
}

/// A tile of work: some tokens' heads that share a key/value head, over all pages or a part of them.
struct AttentionItem: BitwiseCopyable {
  var segment: Int
  /// The key/value head.
  var head: Int
  /// The first token of the segment, and how many.
  var token: Int
  var tokenCount: Int
  var part: Int
  var partCount: Int
}

/// A step's attention with one layer's keys and values, on all threads of a pool.
@unsafe struct AttentionRun: ThreadPoolWork {
  // It outlives the run, and threads that copy the work retain nothing.
  unowned(unsafe) let stage: AttentionStage
  let place: StorePlace
  let queries: UnsafePointer<Float>
  let output: UnsafeMutablePointer<Float>
  let itemCount: Int

  init(
    stage: AttentionStage, place: StorePlace, queries: UnsafePointer<Float>,
    output: UnsafeMutablePointer<Float>, itemCount: Int
  ) {
    unsafe self.stage = stage
    unsafe self.place = place
    unsafe self.queries = queries
    unsafe self.output = output
    unsafe self.itemCount = itemCount
  }

  func perform(part: Int, of partCount: Int, thread: Int) {
    for index in unsafe ThreadPool.share(of: itemCount, part: part, partCount: partCount) {
      let item = unsafe stage.item(index)
      // The room is this thread's, and the item was planned for this step.
      let tile = unsafe AttentionTile(item, in: self, room: stage.work.room(thread))
      unsafe tile.attendPages()
    }
  }
}
