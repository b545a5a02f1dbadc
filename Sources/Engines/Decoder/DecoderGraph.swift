import EngineInterface
import KVCache
import KernelContract
import ModelFile
import QuantKernels
import TraceCore

/// The graph of the Llama family (Touvron et al. 2023; Qwen2 adds biases to Q, K and V): pre-norm
/// layers of grouped-query attention with RoPE and a SwiGLU feed-forward; with norms of the heads and
/// layers that read the keys and values of one before them, Apple's on-device model of 2025.
///
/// It runs steps: rows of one sequence or of several, which read every weight together and attend
/// apart. What it writes is allocated when it is made.
final class DecoderGraph {
  let engine: DecoderEngine
  let work: DecoderWorkspace
  let inputs: LayerInputs
  let attentionStage: AttentionStage
  let trace: TraceWriter
  /// Whether layers and their halves are recorded.
  var recordsDetail = true
  /// Rows a step may have.
  let rowCapacity: Int
  /// Of the present step, in the order of their rows.
  private(set) var segments: [StepSegment] = []
  /// Rows at work.
  private(set) var rowCount = 0
  /// Whether every row runs every layer, read or not.
  private let runsAllLayers: Bool

  init(
    engine: DecoderEngine, rowCapacity: Int, pagePositions: Int, runsAllLayers: Bool,
    trace: TraceWriter
  ) {
    let header = engine.header
    self.engine = engine
    self.rowCapacity = rowCapacity
    self.runsAllLayers = runsAllLayers
    self.trace = trace
    work = DecoderWorkspace(
      header: header, tokens: rowCapacity, threads: engine.compute.pool.threadCount)
    attentionStage = AttentionStage(
      shape: AttentionShape(header), vectors: engine.compute.vectors, pool: engine.compute.pool,
      rowCapacity: rowCapacity, sequenceCapacity: rowCapacity, pagePositions: pagePositions)
    inputs = LayerInputs(
      compute: engine.compute, tokenCapacity: rowCapacity,
      columnCapacity: max(
        header.hiddenSize, header.queryHeadCount * header.headDimension, header.feedForwardSize))
    inputs.reserve(for: nil, with: engine.weights.groups)
    segments.reserveCapacity(rowCapacity)
  }

  // MARK: - A step

  /// Begins a step without rows.
  func begin() { rowCount = 0 }

  /// Adds rows for tokens of the vocabulary, which follow on the sequence's positions and for which it
  /// has reserved room. There is room for them in the step, and scratch for the adapter.
  func add(
    _ tokens: ArraySlice<Int32>, to sequence: CacheSequence, adapter: ModelAdapter?,
    reading: StepSegment.Reading
  ) {
    precondition(rowCount + tokens.count <= rowCapacity, "more rows than a step holds")
    segments.append(
      StepSegment(
        sequence: sequence, adapter: adapter, reading: reading, row: rowCount,
        rowCount: tokens.count))
    let width = engine.header.hiddenSize
    for token in tokens {
      // A row of the hidden states; the caller has held the token against the vocabulary.
      unsafe engine.weights.embedding.copyRow(Int(token), into: work.hidden + rowCount * width)
      rowCount += 1
    }
  }

  /// Runs the step: keys and values of every row are in its sequence's reserved positions afterwards,
  /// and the hidden states of the rows that somebody reads one after the other at the beginning of
  /// `work.hidden`. Returns how many those are.
  func run() -> Int {
    let layers = engine.weights.layers
    let storeCount = engine.weights.storeCount
    placeRows()
    for index in 0..<storeCount { run(layers[index], index: index) }
    if storeCount < layers.count {
      if !runsAllLayers && inputs.observer == nil { keepReadRows() }
      if rowCount > 0 {
        for index in storeCount..<layers.count { run(layers[index], index: index) }
      }
    }
    keepReadRows()
    // Nobody's pages are held for longer than the step.
    segments.removeAll(keepingCapacity: true)
    attentionStage.removeSegments()
    return rowCount
  }

  /// Moves the rows that somebody reads to the beginning and forgets the others.
  private func keepReadRows() {
    guard segments.contains(where: { $0.readRows.count < $0.rowCount }) else { return }
    let width = engine.header.hiddenSize
    var row = 0
    for index in segments.indices {
      let kept = segments[index].readRows
      if row < kept.lowerBound {
        for (offset, source) in kept.enumerated() {
          // Both rows lie inside the step, and they are different ones.
          unsafe (work.hidden + (row + offset) * width).update(
            from: work.hidden + source * width, count: width)
        }
      }
      segments[index].keepReadRows(at: row)
      row += kept.count
    }
    rowCount = row
    placeRows()
  }

  /// Says for every row which sequence and adapter it belongs to and where it stands, and computes
  /// the angles of its position.
  private func placeRows() {
    inputs.removeAdapters()
    attentionStage.removeSegments()
    for (index, segment) in segments.enumerated() {
      if segment.rowCount > 0 {
        attentionStage.add(
          AttentionSegment(
            sequence: segment.sequence, row: segment.row, rowCount: segment.rowCount,
            firstPosition: segment.firstPosition))
      }
      if let adapter = segment.adapter { inputs.use(adapter, for: segment.rows) }
      for (offset, row) in segment.rows.enumerated() {
        // Rows of the step, for which there is room.
        unsafe work.rowPlaces[row] = RowPlace(
          segment: Int32(index), position: Int32(segment.firstPosition + offset))
      }
    }
    computeRotations()
  }

  // MARK: - Layers

  private func run(_ layer: DecoderLayer, index: Int) {
    if recordsDetail {
      trace.begin(.layer, .index, Int64(index))
      trace.begin(.attention)
    }
    attention(layer)
    if recordsDetail {
      trace.end()
      trace.begin(.feedForward)
    }
    feedForward(layer)
    if recordsDetail {
      trace.end()
      trace.end()
    }
  }

  /// Norm, QKV, rotation and norms of the heads, cache, attention, output projection, residual.
  private func attention(_ layer: DecoderLayer) {
    // All pointers are parts of `work`, with room for a step's rows each.
    unsafe normalize(work.hidden, layer.attentionNorm, into: work.normed, count: rowCount)
    unsafe inputs.set(work.normed, tokens: rowCount, for: layer.projections)
    unsafe layer.projections.apply(inputs, into: work.projections)
    finishHeads(layer)
    attend(layer)
    unsafe inputs.set(work.attended, tokens: rowCount, for: layer.output)
    unsafe layer.output.apply(inputs, into: work.projected, ending: .added(work.hidden))
  }

  /// Norm, gate and up, SwiGLU, down, residual.
  private func feedForward(_ layer: DecoderLayer) {
    // All pointers are parts of `work`, with room for a step's rows each.
    unsafe normalize(work.hidden, layer.feedForwardNorm, into: work.normed, count: rowCount)
    unsafe inputs.set(work.normed, tokens: rowCount, for: layer.gateAndUp)
    unsafe layer.gateAndUp.apply(inputs, into: work.gateAndUp, ending: .gated(work.gated))
    unsafe inputs.set(work.gated, tokens: rowCount, for: layer.down)
    unsafe layer.down.apply(inputs, into: work.projected, ending: .added(work.hidden))
  }

  /// Final norm and logits of some of the rows that `run` has left, into [count][vocabularySize].
  @unsafe func computeLogits(row: Int, count: Int, into logits: UnsafeMutablePointer<Float>) {
    if recordsDetail { trace.begin(.output) }
    defer { if recordsDetail { trace.end() } }
    let width = engine.header.hiddenSize
    // `row + count` rows are inside the step; the caller's logits have room.
    unsafe normalize(
      work.hidden + row * width, engine.weights.outputNorm, into: work.normed, count: count)
    unsafe inputs.set(work.normed, firstRow: row, tokens: count, for: engine.weights.output)
    unsafe engine.weights.output.apply(inputs, into: logits)
  }

  @unsafe private func normalize(
    _ input: UnsafePointer<Float>, _ weight: FloatVector, into output: UnsafeMutablePointer<Float>,
    count: Int
  ) {
    let header = engine.header
    let work = unsafe NormWork(
      vectors: engine.compute.vectors, weight: weight, input: input, output: output,
      width: header.hiddenSize, epsilon: Float(header.normEpsilon))
    engine.compute.run(work, rows: count)
  }
}

/// RMSNorm of rows of `width` elements, as many as the weight has. The addresses are the caller's.
@safe private struct NormWork: RowWork {
  // They outlive the run, and threads that copy the work retain nothing.
  unowned(unsafe) let vectors: VectorKernels
  unowned(unsafe) let weight: FloatVector
  let input: UnsafePointer<Float>
  let output: UnsafeMutablePointer<Float>
  let width: Int
  let epsilon: Float

  init(
    vectors: VectorKernels, weight: FloatVector, input: UnsafePointer<Float>,
    output: UnsafeMutablePointer<Float>, width: Int, epsilon: Float
  ) {
    unsafe self.vectors = vectors
    unsafe self.weight = weight
    unsafe self.input = input
    unsafe self.output = output
    self.width = width
    self.epsilon = epsilon
  }

  func perform(row: Int, thread: Int) {
    unsafe vectors.rmsNorm(
      input + row * width, weight: weight.baseAddress, epsilon: epsilon,
      output: output + row * width, count: width)
  }
}
