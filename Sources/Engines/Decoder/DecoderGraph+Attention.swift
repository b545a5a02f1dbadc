import Foundation
import KVCache
import KernelContract
import QuantKernels

/// Rotation, cache writes and attention of a step.
extension DecoderGraph {
  /// Cosines and sines of the rows' positions (Su et al. 2021), shared by all layers.
  ///
  /// Angles are computed in double precision: at large positions float32 would lose digits.
  func computeRotations() {
    let half = engine.header.ropeDimension / 2
    for row in 0..<rowCount {
      // Row `row` of tables with `half` columns and room for a step's rows.
      let position = unsafe Double(work.rowPlaces[row].position)
      for index in 0..<half {
        let angle = position * engine.rotationFrequencies[index]
        unsafe work.cosines[row * half + index] = Float(cos(angle))
        unsafe work.sines[row * half + index] = Float(sin(angle))
      }
    }
  }

  /// Turns and normalises the heads of queries and keys, and puts keys and values into the cache,
  /// row by row.
  func finishHeads(_ layer: DecoderLayer) {
    engine.compute.run(HeadWork(graph: self, layer: layer), rows: rowCount)
  }

  /// `finishHeads` on all threads of a pool.
  @safe private struct HeadWork: RowWork {
    // It outlives the run, and threads that copy the work retain nothing.
    unowned(unsafe) let graph: DecoderGraph
    let layer: DecoderLayer

    init(graph: DecoderGraph, layer: DecoderLayer) {
      unsafe self.graph = graph
      self.layer = layer
    }

    func perform(row: Int, thread: Int) {
      unsafe graph.finishHeads(layer, row: row, room: thread)
    }
  }

  private func finishHeads(_ layer: DecoderLayer, row: Int, room: Int) {
    let header = engine.header
    let queries = header.queryHeadCount * header.headDimension
    let keys = header.keyValueHeadCount * header.headDimension
    // Rows of the step's queries, and behind all of those of its keys and then its values.
    let query = unsafe work.projections + row * queries
    unsafe turn(query, heads: header.queryHeadCount, norm: layer.queryNorm, row: row)
    guard layer.makesKeysAndValues else { return }
    let key = unsafe work.projections + rowCount * queries + row * keys
    let place = unsafe work.rowPlaces[row]
    unsafe turn(key, heads: header.keyValueHeadCount, norm: layer.keyNorm, row: row)
    unsafe store(
      key: key, value: key + rowCount * keys, store: layer.store,
      in: segments[Int(place.segment)].sequence, position: Int(place.position), room: room)
  }

  /// Rotates the heads of a row of the step in place and normalises them, in the model's order.
  @unsafe private func turn(
    _ place: UnsafeMutablePointer<Float>, heads: Int, norm: FloatVector?, row: Int
  ) {
    let header = engine.header
    let half = header.ropeDimension / 2
    // The caller's row has that many heads, of which ropeDimension elements turn; a norm has as many
    // gains as a head has elements.
    if header.headNorm == .beforeRope { unsafe normalizeHeads(place, heads: heads, gains: norm) }
    unsafe engine.compute.vectors.rope(
      place, cosines: work.cosines + row * half, sines: work.sines + row * half,
      pairCount: half, headCount: heads, headStride: header.headDimension,
      pairing: header.ropePairing == .adjacent ? .adjacent : .halves)
    if header.headNorm == .afterRope { unsafe normalizeHeads(place, heads: heads, gains: norm) }
  }

  /// RMSNorm of every head of a row in place, where there are gains.
  @unsafe private func normalizeHeads(
    _ place: UnsafeMutablePointer<Float>, heads: Int, gains: FloatVector?
  ) {
    guard let gains else { return }
    let dimension = engine.header.headDimension
    // Heads of `dimension` elements inside the row, as many as there are gains.
    unsafe engine.compute.vectors.rmsNorm(
      heads: place, count: heads, stride: dimension, dimension: dimension,
      weight: gains.baseAddress, epsilon: Float(engine.header.normEpsilon))
  }

  /// Puts a row's keys and values into a reserved position, in the cache's elements.
  @unsafe private func store(
    key: UnsafePointer<Float>, value: UnsafePointer<Float>, store: Int,
    in sequence: CacheSequence, position: Int, room: Int
  ) {
    let dimension = engine.header.headDimension
    let geometry = sequence.geometry
    // One head's elements of scratch a thread; heads lie inside the caller's rows.
    let scratch = unsafe work.elements + room * work.elementStride
    for head in 0..<engine.header.keyValueHeadCount {
      let (headKey, headValue) = unsafe (key + head * dimension, value + head * dimension)
      if let scale = unsafe convert(
        headKey, to: geometry.keyElement, into: scratch, count: dimension)
      {
        unsafe sequence.storeKey(
          store: store, head: head, position: position, elements: scratch, scale: scale)
      } else {
        sequence.storeKey(
          unsafe Span(_unsafeStart: headKey, count: dimension), store: store, head: head,
          position: position)
      }
      if let scale = unsafe convert(
        headValue, to: geometry.valueElement, into: scratch, count: dimension)
      {
        unsafe sequence.storeValue(
          store: store, head: head, position: position, elements: scratch, scale: scale)
      } else {
        sequence.storeValue(
          unsafe Span(_unsafeStart: headValue, count: dimension), store: store, head: head,
          position: position)
      }
    }
  }

  /// Returns the scale of 8-bit elements, else 1; nil for elements that no kernel makes.
  @unsafe private func convert(
    _ values: UnsafePointer<Float>, to element: CacheElement,
    into output: UnsafeMutableRawPointer, count: Int
  ) -> Float? {
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
    case .s8Static, .u4g32: return nil
    }
  }

  /// Causal attention of every row over what is stored of its sequence, the step's rows included.
  ///
  /// The query heads of one token that share a key/value head go through its pages together, as far
  /// as one thread has them; so do up to `scoreTokens` tokens of one head in a prefill.
  func attend(_ layer: DecoderLayer) {
    for segment in segments where segment.rowCount > 0 {
      engine.compute.pool.run(
        AttentionWork(graph: self, store: layer.store, segment: segment),
        partsPerThread: segment.rowCount == 1 ? 1 : 4)
    }
  }

  /// The attention of a segment on all threads of a pool.
  private struct AttentionWork: ThreadPoolWork {
    // Both outlive the run, and threads that copy the work retain nothing.
    unowned(unsafe) let graph: DecoderGraph
    unowned(unsafe) let sequence: CacheSequence
    let store: Int
    let row: Int
    let count: Int
    let start: Int

    init(graph: DecoderGraph, store: Int, segment: StepSegment) {
      unsafe self.graph = graph
      unsafe self.sequence = segment.sequence
      self.store = store
      row = segment.row
      count = segment.rowCount
      start = segment.firstPosition
    }

    func perform(part: Int, of partCount: Int, thread: Int) {
      unsafe graph.attend(self, part: part, of: partCount, room: thread)
    }
  }

  /// One part of a segment's attention.
  private func attend(_ work: AttentionWork, part: Int, of partCount: Int, room: Int) {
    let heads = engine.header.queryHeadCount
    if work.count == 1 {
      let group = heads / engine.header.keyValueHeadCount
      let share = ThreadPool.share(of: heads, part: part, partCount: partCount)
      var head = share.lowerBound
      while head < share.upperBound {
        let end = min(share.upperBound, (head / group + 1) * group)
        attend(
          AttentionTile(
            sequence: unsafe work.sequence, store: work.store, queryHead: head, row: work.row,
            rowCount: end - head, isOneToken: true, firstLimit: work.start + 1),
          room: room)
        head = end
      }
      return
    }
    let tokens = DecoderWorkspace.scoreTokens
    let tiles = (work.count + tokens - 1) / tokens
    for item in ThreadPool.share(of: heads * tiles, part: part, partCount: partCount) {
      // Late tokens see more than early ones: taken in turn from both ends, they are spread evenly.
      let turn = item / heads
      let tile = turn % 2 == 0 ? turn / 2 : tiles - 1 - turn / 2
      let row = tile * tokens
      attend(
        AttentionTile(
          sequence: unsafe work.sequence, store: work.store, queryHead: item % heads,
          row: work.row + row, rowCount: min(tokens, work.count - row), isOneToken: false,
          firstLimit: work.start + row + 1),
        room: room)
    }
  }
}
