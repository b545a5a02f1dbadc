import CacheSnapshots
import EngineInterface
import KVCache
import TensorCore

/// A token timeline of a decoder. Of a prompt only the last position needs the layers that make no keys
/// and values, so that a prefill skips them for the others.
///
/// Everything it writes is allocated when it is made.
@safe
final class DecoderSession: Session, ObservableSession {
  var recordsDetail = true
  var inputObserver: (any InputObserver)? {
    get { graph.inputs.observer }
    set { graph.inputs.observer = newValue }
  }

  let group: DecoderSessionGroup
  private var sequence: CacheSequence
  private var ownAdapter: ModelAdapter?
  private(set) var adoptedPositionCount = 0
  /// Whether all positions were computed with the present adapter.
  private var isOfOneAdapter = true
  /// Whether the logits belong to the last position.
  private var hasLogits = false
  private let logitStorage: AlignedStorage
  /// What `decode` runs; kept, so that a token allocates no array.
  private var oneToken: [Int32] = [0]

  private var graph: DecoderGraph { group.graph }
  private var engine: DecoderEngine { group.engine }

  init(group: DecoderSessionGroup) {
    self.group = group
    sequence = group.makeSequence(nil)
    logitStorage = AlignedStorage(byteCount: group.engine.header.vocabularySize * 4)
  }

  private init(forkOf other: DecoderSession) {
    group = other.group
    sequence = other.sequence.fork()
    ownAdapter = other.ownAdapter
    isOfOneAdapter = other.isOfOneAdapter
    recordsDetail = other.recordsDetail
    logitStorage = AlignedStorage(byteCount: group.engine.header.vocabularySize * 4)
  }

  var contextLimit: Int { group.options.contextLimit }
  var positionCount: Int { sequence.positionCount }

  var cacheUsage: SessionCacheUsage {
    let usage = sequence.usage
    return SessionCacheUsage(
      allocated: usage.allocatedBytes, used: usage.usedBytes, ideal: usage.idealBytes)
  }

  var threadWaitNanoseconds: Int64 { Int64(clamping: engine.compute.pool.waitedNanoseconds) }

  /// [vocabularySize] those after the last position; valid as long as the session.
  @unsafe var logits: UnsafeMutablePointer<Float> {
    unsafe logitStorage.baseAddress.assumingMemoryBound(to: Float.self)
  }

  func truncate(to position: Int) {
    sequence.truncate(to: position)
    hasLogits = false
    if position == 0 { beginAnew() }
  }

  /// Makes an empty session one of its adapter alone.
  private func beginAnew() {
    adoptedPositionCount = 0
    guard !isOfOneAdapter else { return }
    isOfOneAdapter = true
    sequence = group.makeSequence(ownAdapter)
  }

  var adapter: (any EngineAdapter)? { ownAdapter }

  func use(_ adapter: (any EngineAdapter)?) throws(EngineError) {
    let groups = engine.weights.groups
    var ours: ModelAdapter?
    if let adapter {
      guard let known = adapter as? ModelAdapter, known.fits(groups) else {
        throw .unsupported("the adapter \(adapter.name) was loaded for another model")
      }
      ours = known
    }
    guard ours !== ownAdapter else { return }
    graph.inputs.reserve(for: ours, with: groups)
    ownAdapter = ours
    isOfOneAdapter = false
    if positionCount == 0 { truncate(to: 0) }
  }

  func fork() throws(EngineError) -> any Session { DecoderSession(forkOf: self) }

  // MARK: - Running

  func prefill(_ tokens: ArraySlice<Int32>) throws(EngineError) {
    try check(tokens)
    let adopted = adoptPrefix(of: tokens)
    do throws(EngineError) {
      try run(tokens.dropFirst(adopted), readsEveryRow: false) { _, _ in }
    } catch {
      if adopted > 0 { truncate(to: 0) }
      throw error
    }
  }

  func adoptPrefix(of prompt: ArraySlice<Int32>) -> Int {
    guard positionCount == 0 else { return 0 }
    adoptedPositionCount = isOfOneAdapter ? sequence.adoptPrefix(of: prompt.dropLast()) : 0
    return adoptedPositionCount
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
        unsafe graph.computeLogits(row: row, count: count, into: graph.work.logits)
        for index in 0..<count {
          // Row `index` of the logits just computed; the span does not leave the call.
          let logits = unsafe Span(
            _unsafeStart: graph.work.logits + index * vocabulary, count: vocabulary)
          visit(first + row + index, logits)
        }
        row += count
      }
    }
  }

  func decode(_ token: Int32) throws(EngineError) {
    oneToken[0] = token
    try run(oneToken[...], readsEveryRow: false) { _, _ in }
  }

  /// Runs tokens batch by batch; `finish` is called after each with its first position and the number of
  /// rows that the graph has left, which are all of them where it reads every row. Afterwards the
  /// logits are the last position's.
  private func run(
    _ tokens: ArraySlice<Int32>, readsEveryRow: Bool,
    finish: (_ first: Int, _ rowCount: Int) -> Void
  ) throws(EngineError) {
    try check(tokens)
    try reserve(tokens.count)
    graph.recordsDetail = recordsDetail
    var rest = tokens
    while !rest.isEmpty {
      let batch = rest.prefix(graph.rowCapacity)
      rest = rest.dropFirst(batch.count)
      let first = positionCount
      graph.begin()
      add(batch, reading: readsEveryRow ? .every : rest.isEmpty ? .last : .none)
      let rowCount = graph.run()
      advance(batch, hasLogits: rest.isEmpty)
      finish(first, rowCount)
      if rest.isEmpty {
        // The last row of those that the step has left.
        unsafe graph.computeLogits(row: rowCount - 1, count: 1, into: logits)
      } else {
        recordProgress()
      }
    }
  }

  /// Shows what the cache holds between two batches.
  private func recordProgress() {
    let usage = cacheUsage
    graph.trace.counter(.contextUsed, Int64(positionCount))
    graph.trace.counter(.keyValueBytesUsed, Int64(usage.used))
    graph.trace.counter(.keyValueBytesAllocated, Int64(usage.allocated))
  }

  func sample(using sampler: inout Sampler) throws(EngineError) -> Int32 {
    precondition(hasLogits, "sample before any token, or after truncation")
    if recordsDetail { graph.trace.begin(.sample) }
    defer { if recordsDetail { graph.trace.end() } }
    // The session's own logits, which stay until its next token.
    let row = unsafe UnsafeBufferPointer(start: logits, count: engine.header.vocabularySize)
    guard let token = unsafe sampler.sample(row.span, searching: engine.compute) else {
      throw .logitsNotFinite(position: positionCount - 1)
    }
    return token
  }

  // MARK: - Parts of a step

  /// Refuses tokens that cannot be run, whatever room the cache has.
  func check(_ tokens: ArraySlice<Int32>) throws(EngineError) {
    precondition(!tokens.isEmpty, "no tokens to run")
    let vocabulary = engine.header.vocabularySize
    for token in tokens where token < 0 || Int(token) >= vocabulary {
      throw .unknownToken(token, vocabularyCount: vocabulary)
    }
    let need = positionCount + tokens.count
    guard need <= contextLimit else {
      throw .contextExceeded(limit: contextLimit, need: need)
    }
  }

  /// Makes room for positions, or changes nothing.
  func reserve(_ count: Int) throws(EngineError) {
    do { try sequence.reserve(count) } catch { throw .cache(error) }
  }

  /// Gives back what was reserved and not run.
  func giveBackReserved() { sequence.truncate(to: positionCount) }

  /// Puts tokens into the graph's step.
  func add(_ tokens: ArraySlice<Int32>, reading: StepSegment.Reading) {
    graph.add(tokens, to: sequence, adapter: ownAdapter, reading: reading)
  }

  /// Makes the tokens of a step part of the timeline.
  func advance(_ tokens: ArraySlice<Int32>, hasLogits: Bool) {
    if isOfOneAdapter { sequence.advance(tokens) } else { sequence.advance(tokens.count) }
    self.hasLogits = hasLogits
  }

  // MARK: - Files

  func save(to path: String) throws {
    try sequence.writeSnapshot(to: path, identity: try fileIdentity())
  }

  func restore(from path: String) throws {
    // What stands here is replaced as a whole, whatever it was computed with.
    let target = isOfOneAdapter ? sequence : group.makeSequence(ownAdapter)
    try target.restoreSnapshot(from: path, identity: engine.identity(of: ownAdapter))
    sequence = target
    isOfOneAdapter = true
    hasLogits = false
    adoptedPositionCount = 0
  }

  private func fileIdentity() throws(EngineError) -> PrefixIdentity {
    guard isOfOneAdapter else {
      throw .unsupported("positions that were computed with several adapters are not saved")
    }
    return engine.identity(of: ownAdapter)
  }
}

extension DecoderSessionGroup {
  /// An empty sequence; where prefixes are shared, one that knows what it is computed with.
  func makeSequence(_ adapter: ModelAdapter?) -> CacheSequence {
    CacheSequence(
      pool: pool, maximumPositions: options.contextLimit,
      identity: options.sharesPrefixes ? engine.identity(of: adapter) : nil)
  }
}

extension DecoderEngine {
  /// What keys and values depend on beside the tokens.
  func identity(of adapter: ModelAdapter?) -> PrefixIdentity {
    PrefixIdentity(
      model: modelIdentity, adapter: adapter.map { String($0.digest, radix: 16) } ?? "")
  }
}
