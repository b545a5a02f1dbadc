import Engines
import Foundation
import KVCache
import QuantKernels
import TestSupport

/// Attention by its formula, in f64 over what a cache says it holds, and caches to try it on.
enum AttentionReference {
  /// The heads of a row at a position: softmax(q · kᵀ / √d) · v over the positions that it sees.
  static func row(
    _ queries: ArraySlice<Float>, at position: Int, in sequence: CacheSequence,
    _ place: StorePlace, shape: AttentionShape
  ) -> [Double] {
    let dimension = shape.headDimension
    let group = shape.queryHeadCount / shape.keyValueHeadCount
    let window = sequence.pool.layout.groups[place.group].window
    let positions = Array(max(0, position + 1 - (window ?? .max))...position)
    var result: [Double] = []
    for head in 0..<shape.keyValueHeadCount {
      var (keys, values): ([[Double]], [[Double]]) = ([], [])
      for position in positions {
        var vector = [Float](repeating: 0, count: dimension)
        var span = vector.mutableSpan
        sequence.readKey(
          into: &span, group: place.group, store: place.store, head: head, position: position)
        keys.append(vector.map(Double.init))
        span = vector.mutableSpan
        sequence.readValue(
          into: &span, group: place.group, store: place.store, head: head, position: position)
        values.append(vector.map(Double.init))
      }
      for queryHead in head * group..<(head + 1) * group {
        let query = queries.dropFirst(queryHead * dimension).prefix(dimension).map(Double.init)
        let scores = keys.map { key in
          zip(query, key).reduce(0) { $0 + $1.0 * $1.1 } / Double(dimension).squareRoot()
        }
        let most = scores.max() ?? 0
        let weights = scores.map { exp($0 - most) }
        let sum = weights.reduce(0, +)
        for element in 0..<dimension {
          result.append(zip(weights, values).reduce(0) { $0 + $1.0 * $1.1[element] } / sum)
        }
      }
    }
    return result
  }
}

/// Sequences in the middle of a step: keys and values of their rows are stored, but not yet theirs.
struct AttentionStep {
  let shape: AttentionShape
  let segments: [AttentionSegment]
  let place: StorePlace
  let queries: [Float]
  let rowCount: Int

  /// Sequences with that many positions before the step and that many rows in it.
  init(
    shape: AttentionShape, element: CacheElement, lengths: [(before: Int, rows: Int)],
    window: Int? = nil, pagePositions: Int = 64, seed: UInt64
  ) throws {
    var generator = SeededGenerator(seed: seed)
    func numbers(_ count: Int) -> [Float] {
      (0..<count).map { _ in Float.random(in: -1...1, using: &generator) }
    }
    self.shape = shape
    let geometry = CacheGeometry(
      storeCount: 2, headCount: shape.keyValueHeadCount, headDimension: shape.headDimension,
      pagePositions: pagePositions, keyElement: element, valueElement: element)
    let scales =
      element == .s8Static
      ? StaticScales(keys: [0.01, 0.02], values: [0.01, 0.009]) : nil
    let layout = CacheLayout(
      groups: [CacheGroup(geometry: geometry, window: window, staticScales: scales)],
      layers: [StorePlace(group: 0, store: 0), StorePlace(group: 0, store: 1)])
    place = StorePlace(group: 0, store: 1)
    var segments: [AttentionSegment] = []
    var row = 0
    for (before, rows) in lengths {
      let total = before + rows
      let pool = try PagePool(
        layout: layout,
        byteBudget: (geometry.pageCount(positions: total) + 1) * layout.pageByteCount)
      let sequence = CacheSequence(pool: pool, maximumPositions: total)
      for position in 0..<total {
        if position <= before { try sequence.reserve(position < before ? 1 : rows) }
        for head in 0..<shape.keyValueHeadCount {
          let (key, value) = (numbers(shape.headDimension), numbers(shape.headDimension))
          sequence.storeKey(key.span, store: 1, head: head, position: position)
          sequence.storeValue(value.span, store: 1, head: head, position: position)
        }
        if position < before { sequence.advance(1) }
      }
      segments.append(
        AttentionSegment(sequence: sequence, row: row, rowCount: rows, firstPosition: before))
      row += rows
    }
    self.segments = segments
    rowCount = row
    queries = numbers(row * shape.queryHeadCount * shape.headDimension).map { 3 * $0 }
  }

  /// What the stage gives for every row.
  func attend(
    threads: Int, vectors: VectorKernels, queries: [Float]? = nil
  ) -> [Float] {
    let pool = ThreadPool(threadCount: threads, allowOversubscription: true)
    let stage = AttentionStage(
      shape: shape, vectors: vectors, pool: pool, rowCapacity: rowCount,
      sequenceCapacity: segments.count,
      pagePositions: segments[0].sequence.pool.layout.pagePositions)
    stage.removeSegments()
    for segment in segments { stage.add(segment) }
    let queries = queries ?? self.queries
    // What no row writes stays.
    var output = [Float](repeating: -777, count: queries.count)
    unsafe queries.withUnsafeBufferPointer { from in
      unsafe output.withUnsafeMutableBufferPointer { to in
        guard let from = from.baseAddress, let to = to.baseAddress else { return }
        // As many rows as the segments have, of queryHeadCount heads each.
        unsafe stage.attend(place, queries: from, output: to)
      }
    }
    return output
  }

  /// The largest distance of results from the formula, where a row is wrong where it stands.
  func error(_ output: [Float]) -> Double {
    let width = shape.queryHeadCount * shape.headDimension
    var largest = 0.0
    for segment in segments {
      for row in 0..<segment.rowCount {
        let begin = (segment.row + row) * width
        let wanted = AttentionReference.row(
          queries[begin..<begin + width], at: segment.firstPosition + row, in: segment.sequence,
          place, shape: shape)
        for (got, value) in zip(output[begin..<begin + width], wanted) {
          let distance = abs(Double(got) - value)
          largest = distance.isNaN ? .infinity : max(largest, distance)
        }
      }
    }
    return largest
  }
}
