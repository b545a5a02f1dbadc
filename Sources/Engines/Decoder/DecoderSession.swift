import EngineInterface
import KVCache
import KernelContract
import ModelFile
import QuantKernels
import TensorCore
import TraceCore

/// A token timeline through a Llama-family graph (Touvron et al. 2023; Qwen2 adds biases to Q, K
/// and V): pre-norm layers of grouped-query attention with RoPE and a SwiGLU feed-forward; with
/// norms of the heads and layers that read the keys and values of one before them, Apple's on-device
/// model of 2025. Of a prompt only the last position needs such layers, so that a prefill skips them
/// for the others.
///
/// Everything it writes is allocated when it is made.
final class DecoderSession: Session, ObservableSession {
  let contextLimit: Int
  var recordsDetail = true
  var inputObserver: (any InputObserver)? {
    get { inputs.observer }
    set { inputs.observer = newValue }
  }

  let engine: DecoderEngine
  let sequence: CacheSequence
  let work: DecoderWorkspace
  let trace: TraceWriter
  private let batchTokens: Int
  private let runsAllLayers: Bool
  private let inputs: LayerInputs
  /// Whether `work.logits` row 0 belongs to the last position.
  private var hasLogits = false
  /// What `decode` runs; kept, so that a token allocates no array.
  private var oneToken: [Int32] = [0]

  init(engine: DecoderEngine, options: SessionOptions) throws(EngineError) {
    guard options.contextLimit >= 1, options.batchTokens >= 1 else {
      throw .unsupported("a session needs room for at least one position and one batch token")
    }
    let keyElement = try Self.cacheElement(named: options.keyElement)
    let valueElement = try Self.cacheElement(named: options.valueElement)
    let header = engine.header
    let layout = try Self.cacheLayout(engine, keys: keyElement, values: valueElement)
    self.engine = engine
    contextLimit = options.contextLimit
    batchTokens = min(options.batchTokens, options.contextLimit)
    runsAllLayers = options.runsAllLayers
    trace = options.trace
    do {
      let pages = layout.groups[0].geometry.pageCount(positions: options.contextLimit)
      let pool = try PagePool(layout: layout, byteBudget: pages * layout.pageByteCount)
      sequence = CacheSequence(pool: pool, maximumPositions: options.contextLimit)
    } catch {
      throw .cacheFull(reason: error.description)
    }
    work = DecoderWorkspace(
      header: header, tokens: batchTokens, contextLimit: contextLimit,
      pagePositions: layout.pagePositions, threads: engine.compute.pool.threadCount)
    inputs = LayerInputs(
      compute: engine.compute, tokenCapacity: batchTokens,
      columnCapacity: max(
        header.hiddenSize, header.queryHeadCount * header.headDimension, header.feedForwardSize))
    inputs.use(nil, with: engine.weights.groups)
  }

  private static func cacheElement(named name: String) throws(EngineError) -> CacheElement {
    guard let element = CacheElement(commandLineName: name) else {
      let known = CacheElement.allCases.map(\.rawValue).joined(separator: ", ")
      throw .unsupported("unknown cache element \(name); known: \(known)")
    }
    return element
  }

  /// One group of stores; layers without keys and values of their own read the last one.
  private static func cacheLayout(
    _ engine: DecoderEngine, keys: CacheElement, values: CacheElement
  ) throws(EngineError) -> CacheLayout {
    let header = engine.header
    var scales: StaticScales?
    if keys == .s8Static || values == .s8Static {
      guard let known = header.cacheScales, known.keys.count == engine.weights.storeCount,
        known.values.count == known.keys.count,
        (known.keys + known.values).allSatisfy({ $0.isFinite && $0 > 0 })
      else {
        throw .unsupported("the model has no static scales for a cache of s8static")
      }
      scales = StaticScales(keys: known.keys, values: known.values)
    }
    guard ![keys, values].contains(.u4g32) || header.headDimension % 2 == 0 else {
      throw .unsupported("a cache of 4-bit elements needs heads of an even size")
    }
    guard ![keys, values].contains(where: \.isByteCode) || header.headDimension <= 512 else {
      throw .unsupported("a cache of 8-bit elements needs heads of at most 512 elements")
    }
    let geometry = CacheGeometry(
      storeCount: engine.weights.storeCount, headCount: header.keyValueHeadCount,
      headDimension: header.headDimension, keyElement: keys, valueElement: values)
    return CacheLayout(
      sharingLastStoreOf: CacheGroup(geometry: geometry, staticScales: scales),
      layerCount: header.layerCount)
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

  var adapter: (any EngineAdapter)? { inputs.adapter }

  func use(_ adapter: (any EngineAdapter)?) throws(EngineError) {
    let groups = engine.weights.groups
    guard let adapter else { return inputs.use(nil, with: groups) }
    guard let ours = adapter as? ModelAdapter, ours.fits(groups) else {
      throw .unsupported("the adapter \(adapter.name) was loaded for another model")
    }
    inputs.use(ours, with: groups)
  }

  func prefill(_ tokens: ArraySlice<Int32>) throws(EngineError) {
    try run(tokens, readsEveryRow: false) { _, _ in }
  }

  func prefill(
    _ tokens: ArraySlice<Int32>,
    visitingLogits visit: (_ position: Int, _ logits: Span<Float>) -> Void
  ) throws(EngineError) {
    let vocabulary = engine.header.vocabularySize
    try run(tokens, readsEveryRow: true) { first, rowCount in
      var row = 0
      while row < rowCount {
        let count = min(DecoderWorkspace.outputRows, rowCount - row)
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
  /// number of rows in `work.hidden`, which are all of them where it reads every row. Afterwards
  /// row 0 of the logits, which `sample` reads, is the last position's.
  private func run(
    _ tokens: ArraySlice<Int32>, readsEveryRow: Bool,
    finish: (_ first: Int, _ rowCount: Int) -> Void
  ) throws(EngineError) {
    try check(tokens)
    var rest = tokens
    while !rest.isEmpty {
      let batch = rest.prefix(batchTokens)
      rest = rest.dropFirst(batch.count)
      let first = sequence.positionCount
      let needed: NeededRows =
        readsEveryRow || runsAllLayers || inputs.observer != nil
        ? .all : rest.isEmpty ? .last : .none
      let rows = forward(batch, needed: needed)
      finish(first, rows)
      if rest.isEmpty { computeLogits(row: rows - 1, count: 1) }
    }
    hasLogits = true
  }

  /// The rows of a batch whose last hidden states somebody reads. The others need the layers that
  /// make keys and values, and no layer behind those.
  private enum NeededRows {
    case all, last, none
  }

  func sample(using sampler: inout Sampler) throws(EngineError) -> Int32 {
    precondition(hasLogits, "sample before any token, or after truncation")
    if recordsDetail { trace.begin(.sample) }
    defer { if recordsDetail { trace.end() } }
    // Row 0 holds the last position's logits and stays until the next forward pass.
    let row = unsafe UnsafeBufferPointer(
      start: work.logits, count: engine.header.vocabularySize)
    guard let token = unsafe sampler.sample(row.span, searching: engine.compute) else {
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

  /// Runs one batch and appends its keys and values; the hidden states of the rows that are needed
  /// are in `work.hidden` afterwards, from its beginning on. Returns how many those are.
  private func forward(_ tokens: ArraySlice<Int32>, needed: NeededRows) -> Int {
    var count = tokens.count
    var start = sequence.positionCount
    embed(tokens)
    computeRotations(count: count, start: start)
    let layers = engine.weights.layers
    let storeCount = engine.weights.storeCount
    for index in 0..<storeCount { run(layers[index], index: index, count: count, start: start) }
    if storeCount < layers.count && needed != .all {
      guard needed == .last else {
        sequence.advance(count)
        return 0
      }
      start += count - 1
      keepLastRow(of: count, position: start)
      count = 1
    }
    for index in storeCount..<layers.count {
      run(layers[index], index: index, count: count, start: start)
    }
    sequence.advance(tokens.count)
    return count
  }

  /// Makes the batch's last row its only one.
  private func keepLastRow(of count: Int, position: Int) {
    guard count > 1 else { return }
    let width = engine.header.hiddenSize
    // Both rows lie inside the batch, and they are different ones.
    unsafe work.hidden.update(from: work.hidden + (count - 1) * width, count: width)
    computeRotations(count: 1, start: position)
  }

  private func run(_ layer: DecoderLayer, index: Int, count: Int, start: Int) {
    if recordsDetail {
      trace.begin(.layer, .index, Int64(index))
      trace.begin(.attention)
    }
    attention(layer, count: count, start: start)
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

  private func embed(_ tokens: ArraySlice<Int32>) {
    let width = engine.header.hiddenSize
    for (row, token) in tokens.enumerated() {
      // Row `row` of the hidden states; the token was checked against the vocabulary.
      unsafe engine.weights.embedding.copyRow(Int(token), into: work.hidden + row * width)
    }
  }

  /// Norm, QKV, rotation and norms of the heads, cache, attention, output projection, residual.
  private func attention(_ layer: DecoderLayer, count: Int, start: Int) {
    // All pointers are parts of `work`, with room for a batch of rows each.
    unsafe normalize(work.hidden, layer.attentionNorm, into: work.normed, count: count)
    unsafe inputs.set(work.normed, tokens: count, for: layer.projections)
    unsafe layer.projections.apply(inputs, into: work.projections)
    finishHeads(layer, count: count, start: start)
    attend(layer, count: count, start: start)
    unsafe inputs.set(work.attended, tokens: count, for: layer.output)
    unsafe layer.output.apply(inputs, into: work.projected, ending: .added(work.hidden))
  }

  /// Norm, gate and up, SwiGLU, down, residual.
  private func feedForward(_ layer: DecoderLayer, count: Int) {
    // All pointers are parts of `work`, with room for a batch of rows each.
    unsafe normalize(work.hidden, layer.feedForwardNorm, into: work.normed, count: count)
    unsafe inputs.set(work.normed, tokens: count, for: layer.gateAndUp)
    unsafe layer.gateAndUp.apply(inputs, into: work.gateAndUp, ending: .gated(work.gated))
    unsafe inputs.set(work.gated, tokens: count, for: layer.down)
    unsafe layer.down.apply(inputs, into: work.projected, ending: .added(work.hidden))
  }

  /// Final norm and logits of `count` rows of the batch, into rows 0… of `work.logits`.
  private func computeLogits(row: Int, count: Int) {
    if recordsDetail { trace.begin(.output) }
    defer { if recordsDetail { trace.end() } }
    let width = engine.header.hiddenSize
    // `row + count` rows are inside the batch, and `count` inside the logits.
    unsafe normalize(
      work.hidden + row * width, engine.weights.outputNorm, into: work.normed, count: count)
    unsafe inputs.set(work.normed, tokens: count, for: engine.weights.output)
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
}
