import EngineInterface
import KVCache
import QuantKernels

/// Sessions of a decoder over one pool of pages and one graph.
final class DecoderSessionGroup: SessionGroup {
  let engine: DecoderEngine
  let options: SessionOptions
  let pool: PagePool
  let graph: DecoderGraph

  init(engine: DecoderEngine, options: SessionOptions) throws(EngineError) {
    guard options.contextLimit >= 1, options.batchTokens >= 1 else {
      throw .unsupported("a session needs room for at least one position and one batch token")
    }
    let layout = try engine.cacheLayout(options)
    self.engine = engine
    self.options = options
    let budget = options.cacheBudget ?? Self.budget(options, layout)
    do { pool = try PagePool(layout: layout, byteBudget: budget, tier: options.tier) } catch {
      throw .cache(error)
    }
    graph = DecoderGraph(
      engine: engine, rowCapacity: options.batchTokens, pagePositions: layout.pagePositions,
      runsAllLayers: options.runsAllLayers, trace: options.trace)
  }

  /// What every session needs in full, and a page each that a fork copies.
  private static func budget(_ options: SessionOptions, _ layout: CacheLayout) -> Int {
    let pages = layout.pageCount(positions: options.contextLimit)
    return (options.sessionCount * (pages + 1) - 1) * layout.pageByteCount
  }

  var cacheUsage: PoolUsage { pool.usage }

  func predictedUsage(positions: [Int], sharedPositions: Int) -> CacheUsage {
    pool.layout.predictedUsage(of: positions, sharedPositions: sharedPositions)
  }

  func makeSession() throws(EngineError) -> any Session { DecoderSession(group: self) }

  func decode(_ tokens: [Int32], in sessions: [any Session]) throws(EngineError) {
    precondition(tokens.count == sessions.count, "as many tokens as sessions")
    try step(
      count: sessions.count, session: { sessions[$0] }, tokens: { tokens[$0...$0] },
      readsLogits: { _ in true })
  }

  func run(_ inputs: [SessionInput]) throws(EngineError) {
    try step(
      count: inputs.count, session: { inputs[$0].session }, tokens: { inputs[$0].tokens },
      readsLogits: { inputs[$0].readsLogits })
  }

  /// Tokens of some sessions in one step.
  private func step(
    count: Int, session: (Int) -> any Session, tokens: (Int) -> ArraySlice<Int32>,
    readsLogits: (Int) -> Bool
  ) throws(EngineError) {
    func ours(_ index: Int) -> DecoderSession {
      guard let session = session(index) as? DecoderSession, session.group === self else {
        preconditionFailure("a session of another group")
      }
      return session
    }
    guard count > 0 else { return }
    try reserve(count: count, session: ours, tokens: tokens)
    graph.begin()
    graph.recordsDetail = false
    for index in 0..<count {
      let session = ours(index)
      graph.recordsDetail = graph.recordsDetail || session.recordsDetail
      session.add(tokens(index), reading: readsLogits(index) ? .last : .none)
    }
    let rowCount = graph.run()
    for index in 0..<count { ours(index).advance(tokens(index), hasLogits: readsLogits(index)) }
    computeLogits(rowCount: rowCount) { row in
      // The rows that are left are those of the sessions that read logits, in their order.
      var left = row
      for index in 0..<count where readsLogits(index) {
        if left == 0 { return ours(index) }
        left -= 1
      }
      preconditionFailure("more rows than sessions that read them")
    }
  }

  /// Checks every session's tokens and reserves their positions: of all or, where it throws, of none.
  private func reserve(
    count: Int, session: (Int) -> DecoderSession, tokens: (Int) -> ArraySlice<Int32>
  ) throws(EngineError) {
    var rowCount = 0
    for index in 0..<count {
      let one = session(index)
      for other in 0..<index {
        precondition(session(other) !== one, "a session twice in one step")
      }
      try one.check(tokens(index))
      rowCount += tokens(index).count
    }
    guard rowCount <= graph.rowCapacity else {
      throw .unsupported(
        "a step of \(rowCount) tokens, where a batch has room for \(graph.rowCapacity)")
    }
    for index in 0..<count {
      do throws(EngineError) {
        try session(index).reserve(tokens(index).count)
      } catch {
        for other in 0..<index { session(other).giveBackReserved() }
        throw error
      }
    }
  }

  /// Logits of rows of the graph into their sessions' own.
  private func computeLogits(rowCount: Int, session: (_ row: Int) -> DecoderSession) {
    let vocabulary = engine.header.vocabularySize
    if rowCount == 1 {
      // A session's logits have room for a row.
      unsafe graph.computeLogits(row: 0, count: 1, into: session(0).logits)
      return
    }
    var row = 0
    while row < rowCount {
      let count = min(DecoderWorkspace.outputRows, rowCount - row)
      unsafe graph.computeLogits(row: row, count: count, into: graph.work.logits)
      for index in 0..<count {
        // Row `index` of those just computed, and a row's room.
        unsafe session(row + index).logits.update(
          from: graph.work.logits + index * vocabulary, count: vocabulary)
      }
      row += count
    }
  }
}

extension DecoderEngine {
  /// One group of stores; layers without keys and values of their own read the last one.
  func cacheLayout(_ options: SessionOptions) throws(EngineError) -> CacheLayout {
    let keys = try Self.cacheElement(named: options.keyElement)
    let values = try Self.cacheElement(named: options.valueElement)
    var scales: StaticScales?
    if keys == .s8Static || values == .s8Static {
      guard let known = header.cacheScales, known.keys.count == weights.storeCount,
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
    // Sums over a page's codes fit 32 bits up to 512 positions.
    guard 16...512 ~= options.pagePositions, options.pagePositions % 16 == 0 else {
      throw .unsupported("a page of the cache has a multiple of 16 positions, at most 512")
    }
    let geometry = CacheGeometry(
      storeCount: weights.storeCount, headCount: header.keyValueHeadCount,
      headDimension: header.headDimension, pagePositions: options.pagePositions,
      keyElement: keys, valueElement: values)
    return CacheLayout(
      sharingLastStoreOf: CacheGroup(geometry: geometry, staticScales: scales),
      layerCount: header.layerCount)
  }

  private static func cacheElement(named name: String) throws(EngineError) -> CacheElement {
    guard let element = CacheElement(commandLineName: name) else {
      let known = CacheElement.allCases.map(\.rawValue).joined(separator: ", ")
      throw .unsupported("unknown cache element \(name); known: \(known)")
    }
    return element
  }
}
