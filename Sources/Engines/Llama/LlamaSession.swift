import EngineInterface
import KVCache
import KernelContract
import ModelFile
import QuantKernels
import TensorCore
import TraceCore

/// A token timeline through a Llama-family graph (Touvron et al. 2023; Qwen2 adds biases to Q, K
/// and V): pre-norm layers of grouped-query attention with RoPE and a SwiGLU feed-forward.
///
/// Everything it writes is allocated when it is made.
final class LlamaSession: Session, ObservableSession {
  let contextLimit: Int
  var recordsDetail = true
  var inputObserver: (any InputObserver)? {
    get { inputs.observer }
    set { inputs.observer = newValue }
  }

  let engine: LlamaEngine
  let sequence: CacheSequence
  let work: LlamaWorkspace
  let trace: TraceWriter
  private let batchTokens: Int
  private let inputs: LayerInputs
  /// Whether `work.logits` row 0 belongs to the last position.
  private var hasLogits = false
  /// What `decode` runs; kept, so that a token allocates no array.
  private var oneToken: [Int32] = [0]

  init(engine: LlamaEngine, options: SessionOptions) throws(EngineError) {
    guard options.contextLimit >= 1, options.batchTokens >= 1 else {
      throw .unsupported("a session needs room for at least one position and one batch token")
    }
    let keyElement = try Self.cacheElement(named: options.keyElement)
    let valueElement = try Self.cacheElement(named: options.valueElement)
    let header = engine.header
    let geometry = CacheGeometry(
      storeCount: header.layerCount, headCount: header.keyValueHeadCount,
      headDimension: header.headDimension, keyElement: keyElement, valueElement: valueElement)
    self.engine = engine
    contextLimit = options.contextLimit
    batchTokens = min(options.batchTokens, options.contextLimit)
    trace = options.trace
    do {
      let pages = geometry.pageCount(positions: options.contextLimit)
      let pool = try PagePool(
        geometry: geometry, byteBudget: pages * geometry.pageByteCount)
      sequence = CacheSequence(pool: pool, maximumPositions: options.contextLimit)
    } catch {
      throw .cacheFull(reason: error.description)
    }
    work = LlamaWorkspace(
      header: header, tokens: batchTokens, contextLimit: contextLimit,
      pagePositions: geometry.pagePositions, threads: engine.compute.pool.threadCount)
    inputs = LayerInputs(
      compute: engine.compute, tokenCapacity: batchTokens,
      columnCapacity: max(
        header.hiddenSize, header.queryHeadCount * header.headDimension, header.feedForwardSize),
      scratchCapacity: engine.weights.matrices
        .reduce(0) { max($0, $1.adapter?.scratchCount ?? 0) })
  }

  /// The element of that name, if this family's attention reads it.
  private static func cacheElement(named name: String) throws(EngineError) -> CacheElement {
    guard let element = CacheElement(commandLineName: name), element.panelElement != nil else {
      throw .unsupported("unknown cache element \(name); known: f32, f16, s8")
    }
    return element
  }

  var positionCount: Int { sequence.positionCount }

  var cacheUsage: SessionCacheUsage {
    let usage = sequence.usage
    return SessionCacheUsage(
      allocated: usage.allocatedBytes, used: usage.usedBytes, ideal: usage.idealBytes)
  }

  var threadWaitNanoseconds: Int64 { Int64(clamping: engine.compute.pool.waitedNanoseconds) }

  func truncate(to position: Int) {
    sequence.truncate(to: position)
    hasLogits = false
  }

  func prefill(_ tokens: ArraySlice<Int32>) throws(EngineError) {
    try run(tokens) { _, _ in }
  }

  func prefill(
    _ tokens: ArraySlice<Int32>,
    visitingLogits visit: (_ position: Int, _ logits: Span<Float>) -> Void
  ) throws(EngineError) {
    let vocabulary = engine.header.vocabularySize
    try run(tokens) { first, rowCount in
      var row = 0
      while row < rowCount {
        let count = min(LlamaWorkspace.outputRows, rowCount - row)
        computeLogits(row: row, count: count)
        for index in 0..<count {
          // Row `index` of the logits just computed; the span does not leave the call.
          let logits = unsafe Span(
            _unsafeStart: work.logits + index * vocabulary, count: vocabulary)
          visit(first + row + index, logits)
        }
        row += count
      }
    }
  }

  func decode(_ token: Int32) throws(EngineError) {
    oneToken[0] = token
    try prefill(oneToken[...])
  }

  /// Runs tokens batch by batch; `finish` is called after each with its first position and its
  /// number of rows in `work.hidden`. Afterwards row 0 of the logits, which `sample` reads, is the
  /// last position's.
  private func run(
    _ tokens: ArraySlice<Int32>, finish: (_ first: Int, _ rowCount: Int) -> Void
  ) throws(EngineError) {
    try check(tokens)
    var rest = tokens
    while !rest.isEmpty {
      let batch = rest.prefix(batchTokens)
      rest = rest.dropFirst(batch.count)
      let first = sequence.positionCount
      forward(batch)
      finish(first, batch.count)
      if rest.isEmpty { computeLogits(row: batch.count - 1, count: 1) }
    }
    hasLogits = true
  }

  func sample(using sampler: inout Sampler) throws(EngineError) -> Int32 {
    precondition(hasLogits, "sample before any token, or after truncation")
    if recordsDetail { trace.begin(.sample) }
    defer { if recordsDetail { trace.end() } }
    // Row 0 holds the last position's logits and stays until the next forward pass.
    let row = unsafe UnsafeBufferPointer(
      start: work.logits, count: engine.header.vocabularySize)
    guard let token = unsafe sampler.sample(row.span) else {
      throw .logitsNotFinite(position: positionCount - 1)
    }
    return token
  }

  /// Refuses what cannot be run, before anything is written.
  private func check(_ tokens: ArraySlice<Int32>) throws(EngineError) {
    precondition(!tokens.isEmpty, "no tokens to run")
    let vocabulary = engine.header.vocabularySize
    for token in tokens where token < 0 || Int(token) >= vocabulary {
      throw .unknownToken(token, vocabularyCount: vocabulary)
    }
    let need = sequence.positionCount + tokens.count
    guard need <= contextLimit else {
      throw .contextExceeded(limit: contextLimit, need: need)
    }
    do { try sequence.reserve(tokens.count) } catch {
      throw .cacheFull(reason: error.description)
    }
  }

  // MARK: - The graph

  /// Runs one batch and appends its keys and values; the last hidden states stay in `work.hidden`.
  private func forward(_ tokens: ArraySlice<Int32>) {
    let count = tokens.count
    let start = sequence.positionCount
    embed(tokens)
    computeRotations(count: count, start: start)
    for (index, layer) in engine.weights.layers.enumerated() {
      if recordsDetail { trace.begin(.layer, .index, Int64(index)) }
      if recordsDetail { trace.begin(.attention) }
      attention(layer, index: index, count: count, start: start)
      if recordsDetail {
        trace.end()
        trace.begin(.feedForward)
      }
      feedForward(layer, count: count)
      if recordsDetail {
        trace.end()
        trace.end()
      }
    }
    sequence.advance(count)
  }

  private func embed(_ tokens: ArraySlice<Int32>) {
    let width = engine.header.hiddenSize
    for (row, token) in tokens.enumerated() {
      // Row `row` of the hidden states; the token was checked against the vocabulary.
      unsafe engine.weights.embedding.copyRow(Int(token), into: work.hidden + row * width)
    }
  }

  /// Norm, QKV, rotation, cache, attention, output projection, residual.
  private func attention(_ layer: LlamaLayer, index: Int, count: Int, start: Int) {
    let header = engine.header
    let queries = header.queryHeadCount * header.headDimension
    let keys = header.keyValueHeadCount * header.headDimension
    // All pointers are parts of `work`, with room for a batch of rows each.
    unsafe normalize(work.hidden, layer.attentionNorm, into: work.normed, count: count)
    unsafe inputs.set(
      work.normed, tokens: count, columns: header.hiddenSize,
      for: layer.query, layer.key, layer.value)
    unsafe layer.query.apply(inputs, into: work.query)
    unsafe layer.key.apply(inputs, into: work.key)
    unsafe layer.value.apply(inputs, into: work.value)
    unsafe rotate(work.query, heads: header.queryHeadCount, stride: queries, count: count)
    unsafe rotate(work.key, heads: header.keyValueHeadCount, stride: keys, count: count)
    storeKeysAndValues(store: index, count: count, start: start)
    attend(store: index, count: count, start: start)
    unsafe inputs.set(work.attended, tokens: count, columns: queries, for: layer.output)
    unsafe layer.output.apply(inputs, into: work.projected)
    unsafe addResidual(work.projected, count: count)
  }

  /// Norm, gate and up, SwiGLU, down, residual.
  private func feedForward(_ layer: LlamaLayer, count: Int) {
    let header = engine.header
    let vectors = engine.compute.vectors
    let width = header.feedForwardSize
    // All pointers are parts of `work`, with room for a batch of rows each.
    unsafe normalize(work.hidden, layer.feedForwardNorm, into: work.normed, count: count)
    unsafe inputs.set(
      work.normed, tokens: count, columns: header.hiddenSize, for: layer.gate, layer.up)
    unsafe layer.gate.apply(inputs, into: work.gate)
    unsafe layer.up.apply(inputs, into: work.up)
    engine.compute.forEachRow(count) { row in
      let offset = row * width
      unsafe vectors.swiglu(
        gate: work.gate + offset, up: work.up + offset, output: work.gate + offset, count: width)
    }
    unsafe inputs.set(work.gate, tokens: count, columns: width, for: layer.down)
    unsafe layer.down.apply(inputs, into: work.projected)
    unsafe addResidual(work.projected, count: count)
  }

  /// Final norm and logits of `count` rows of the batch, into rows 0… of `work.logits`.
  private func computeLogits(row: Int, count: Int) {
    if recordsDetail { trace.begin(.output) }
    defer { if recordsDetail { trace.end() } }
    let width = engine.header.hiddenSize
    // `row + count` rows are inside the batch, and `count` inside the logits.
    unsafe normalize(
      work.hidden + row * width, engine.weights.outputNorm, into: work.normed, count: count)
    unsafe inputs.set(
      work.normed, tokens: count, columns: width, for: engine.weights.output)
    unsafe engine.weights.output.apply(inputs, into: work.logits)
  }

  @unsafe private func normalize(
    _ input: UnsafePointer<Float>, _ weight: FloatVector, into output: UnsafeMutablePointer<Float>,
    count: Int
  ) {
    let width = engine.header.hiddenSize
    let vectors = engine.compute.vectors
    let epsilon = Float(engine.header.normEpsilon)
    engine.compute.forEachRow(count) { row in
      // Rows of hiddenSize elements, as long as the weight.
      unsafe vectors.rmsNorm(
        input + row * width, weight: weight.baseAddress, epsilon: epsilon,
        output: output + row * width, count: width)
    }
  }

  @unsafe private func addResidual(_ addend: UnsafePointer<Float>, count: Int) {
    let width = engine.header.hiddenSize
    let vectors = engine.compute.vectors
    let hidden = unsafe work.hidden
    engine.compute.forEachRow(count) { row in
      // Both have hiddenSize elements a row.
      let place = unsafe hidden + row * width
      unsafe vectors.add(place, addend + row * width, output: place, count: width)
    }
  }
}
