import Engines
import KVCache
import KernelContract
import QuantKernels
import TestSupport
import Testing

/// Attention over caches against its formula; values are within ±1, so that distances are relative to
/// that.
struct AttentionTests {
  /// Queries and weights of 16 bits, or floats: measured at most 6e-5.
  static let tolerance = 3e-4
  static let dimensions = [20, 64, 80, 128, 256]
  static let vectors = VectorKernels(
    InstructionSet.available(on: .detect()).max() ?? .portable, on: .detect())

  static func shape(_ dimension: Int, ratio: Int, heads: Int = 2) -> AttentionShape {
    AttentionShape(
      queryHeadCount: ratio * heads, keyValueHeadCount: heads, headDimension: dimension)
  }

  @Test(arguments: CacheElement.allCases, dimensions)
  func decodingIsTheFormula(_ element: CacheElement, _ dimension: Int) throws {
    for ratio in [1, 3, 8] {
      for before in [0, 1, 15, 62, 63, 64, 130, 299] {
        let step = try AttentionStep(
          shape: Self.shape(dimension, ratio: ratio), element: element, lengths: [(before, 1)],
          seed: 3)
        let error = step.error(step.attend(threads: 1, vectors: Self.vectors))
        #expect(error < Self.tolerance, "ratio \(ratio), \(before) positions: \(error)")
      }
    }
  }

  @Test(arguments: CacheElement.allCases, dimensions)
  func prefillIsTheFormula(_ element: CacheElement, _ dimension: Int) throws {
    for (ratio, lengths) in [(1, (0, 70)), (3, (0, 33)), (8, (61, 9)), (8, (130, 5)), (1, (3, 2))] {
      let step = try AttentionStep(
        shape: Self.shape(dimension, ratio: ratio), element: element, lengths: [lengths], seed: 4)
      let error = step.error(step.attend(threads: 1, vectors: Self.vectors))
      #expect(error < Self.tolerance, "ratio \(ratio), \(lengths): \(error)")
    }
  }

  /// Rows of several sequences in one step, each with its own mask, with and without a window; pages of
  /// other sizes too.
  @Test(arguments: CacheElement.allCases, [nil, 1, 17, 100])
  func windowsAndBatchesAreTheFormula(_ element: CacheElement, _ window: Int?) throws {
    let lengths = [(200, 1), (0, 37), (5, 1), (90, 20), (0, 1), (129, 1)]
    for pagePositions in [64, 16, 20] {
      let step = try AttentionStep(
        shape: Self.shape(64, ratio: 3), element: element, lengths: lengths, window: window,
        pagePositions: pagePositions, seed: 5)
      let error = step.error(step.attend(threads: 2, vectors: Self.vectors))
      #expect(error < Self.tolerance, "pages of \(pagePositions): \(error)")
    }
  }

  /// Every level, and no row's result depends on threads or on the other rows of the step.
  @Test(arguments: CacheElement.allCases)
  func bitsDependOnTheRowAlone(_ element: CacheElement) throws {
    let lengths = [(300, 1), (0, 37), (63, 1), (90, 20)]
    let shape = Self.shape(80, ratio: 3)
    let whole = try AttentionStep(shape: shape, element: element, lengths: lengths, seed: 6)
    for level in InstructionSet.available(on: .detect()) {
      let vectors = VectorKernels(level, on: .detect())
      let once = whole.attend(threads: 1, vectors: vectors)
      #expect(whole.error(once) < Self.tolerance, "\(level)")
      for threads in [2, 3] {
        #expect(whole.attend(threads: threads, vectors: vectors) == once, "\(level), \(threads)")
      }
    }
  }

  /// A NaN in a query head breaks that head of that row, and nothing else.
  @Test(arguments: CacheElement.allCases)
  func aNaNStaysInItsHead(_ element: CacheElement) throws {
    let shape = Self.shape(64, ratio: 3)
    let step = try AttentionStep(
      shape: shape, element: element, lengths: [(200, 1), (10, 30)], seed: 7)
    let clean = step.attend(threads: 1, vectors: Self.vectors)
    for (row, head) in [(0, 4), (7, 1), (30, 0)] {
      var queries = step.queries
      let begin = (row * shape.queryHeadCount + head) * shape.headDimension
      queries[begin + 5] = .nan
      let output = step.attend(threads: 2, vectors: Self.vectors, queries: queries)
      for index in output.indices {
        let isBroken = (begin..<begin + shape.headDimension).contains(index)
        #expect(isBroken ? output[index].isNaN : output[index] == clean[index], "\(index)")
        if isBroken != output[index].isNaN { break }
      }
    }
  }

  /// What kernels store is what the cache's own reference stores.
  @Test(arguments: CacheElement.allCases, dimensions)
  func storedVectorsAreTheCaches(_ element: CacheElement, _ dimension: Int) throws {
    let shape = Self.shape(dimension, ratio: 1)
    let step = try AttentionStep(shape: shape, element: element, lengths: [(0, 2)], seed: 8)
    let sequence = step.segments[0].sequence
    var generator = SeededGenerator(seed: 9)
    let count = 2 * dimension
    var key = (0..<count).map { _ in Float.random(in: -1.5...1.5, using: &generator) }
    let value = (0..<count).map { _ in Float.random(in: 0.5...1.5, using: &generator) }
    if element != .s8 { key[3] = .nan }
    let scratch = UnsafeMutableRawPointer.allocate(
      byteCount: CacheVectorWriter.scratchByteCount(headDimension: dimension), alignment: 64)
    defer { unsafe scratch.deallocate() }
    unsafe key.withUnsafeBufferPointer { key in
      unsafe value.withUnsafeBufferPointer { value in
        guard let key = key.baseAddress, let value = value.baseAddress else { return }
        // Two heads of each; the scratch is for one.
        unsafe CacheVectorWriter(Self.vectors, scratch: scratch).store(
          key: key, value: value, into: sequence, step.place, position: 0)
      }
    }
    for head in 0..<2 {
      let part = head * dimension..<(head + 1) * dimension
      sequence.storeKey(Array(key[part]).span, store: 1, head: head, position: 1)
      sequence.storeValue(Array(value[part]).span, store: 1, head: head, position: 1)
      var (keys, values): ([[Float]], [[Float]]) = ([], [])
      for position in 0..<2 {
        var vector = [Float](repeating: 0, count: dimension)
        var span = vector.mutableSpan
        sequence.readKey(into: &span, store: 1, head: head, position: position)
        keys.append(vector.map { $0.isNaN ? 777 : $0 })
        span = vector.mutableSpan
        sequence.readValue(into: &span, store: 1, head: head, position: position)
        values.append(vector)
      }
      // 127 / m and m / 127 round apart: s8 codes may be neighbours.
      let tolerance: Float = element == .s8 ? 1.6 / 127 : 0
      #expect(zip(keys[0], keys[1]).allSatisfy { abs($0 - $1) <= tolerance })
      #expect(zip(values[0], values[1]).allSatisfy { abs($0 - $1) <= tolerance })
    }
  }
}
