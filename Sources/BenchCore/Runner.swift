import EngineInterface
import RandomNumbers
import Tiers
import TraceCore

/// Measures an engine: test by test, the cells of a test (its tiers, reasoning levels, caches,
/// adapters) warmed up, then repetition by repetition in turns, so that a drift of the machine
/// falls alike on all that are compared.
package struct Runner {
  private let engine: any Engine
  /// The configuration's, loaded.
  private let adapters: [String: any EngineAdapter]
  let configuration: RunnerConfiguration
  private let recorder: TraceRecorder
  /// Whether the run is asked to end; looked at between tokens.
  let isInterrupted: @Sendable () -> Bool
  private let modelFilename: String
  private var sessions: [SessionKey: OpenSessions] = [:]
  private var writers: [Tier: TraceWriter]

  /// Sessions of one tier and cache format are kept: opening one is no part of a measurement.
  private struct SessionKey: Hashable {
    var tier: Tier
    var keyElement: String
    var valueElement: String
    var sessionCount: Int
    /// Several that run together have theirs from the beginning on.
    var adapter: String?
  }

  /// What serves a cell.
  private enum OpenSessions {
    case one(LanguageModelSession)
    case several(BatchedSessions)

    func close() {
      switch self {
      case .one(let session): session.close()
      case .several(let sessions): sessions.close()
      }
    }
  }

  /// Layers are recorded for the first tokens of a cell's first repetition: they repeat themselves,
  /// and a trace of every one would be a hundred times as large.
  static let detailTokens = 8

  /// Events of the layers of a request's first tokens, and of its prefill in a few batches: three
  /// spans a layer, two around them.
  static func detailEventCount(layerCount: Int) -> Int {
    (detailTokens + 8) * (6 * layerCount + 4)
  }

  /// A runner that records on one track per tier. `adapters` are those that the configuration
  /// names, `modelFilename` is the model as its rows name it.
  package init(
    engine: any Engine, modelFilename: String, adapters: [any EngineAdapter] = [],
    configuration: RunnerConfiguration, recorder: TraceRecorder,
    isInterrupted: @escaping @Sendable () -> Bool = { false }
  ) {
    self.isInterrupted = isInterrupted
    self.engine = engine
    self.modelFilename = modelFilename
    self.adapters = Dictionary(adapters.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
    self.configuration = configuration
    self.recorder = recorder
    writers = Dictionary(
      uniqueKeysWithValues: Set(configuration.tiers).sorted { $0.rawValue < $1.rawValue }.map {
        let capacity = configuration.expectedEventCount(
          tier: $0, layerCount: engine.facts.layerCount)
        let file = modelFilename.split(separator: "/").last.map(String.init) ?? modelFilename
        let threads = engine.facts.threadCount
        let name =
          "\($0.displayName) · \(file), \(threads) \(threads == 1 ? "thread" : "threads")"
        return ($0, recorder.makeWriter(trackName: name, eventCapacity: capacity))
      })
  }

  /// One request, or all turns of one conversation, from a fresh cache of the cell's depth.
  mutating func serve(_ cell: RunCell, repetition: Int) throws -> [ServedRequest] {
    let session: LanguageModelSession
    switch try openSessions(for: cell) {
    case .one(let one): session = one
    case .several(let several): return [try serve(cell, on: several, repetition: repetition)]
    }
    session.repetition = repetition
    session.row = row(of: cell)
    session.detailTokenLimit = repetition == 0 ? Self.detailTokens : 0
    try session.use(cell.adapter.map(adapter))
    try session.reset(preloading: randomTokens(cell.test.depth, salt: 0))
    defer { session.rewind() }
    if case .chat(let maximum) = cell.test {
      var options = LanguageModelSession.TurnOptions()
      options.reasoning = cell.reasoning
      options.reasoningBudget = configuration.reasoningBudgets[cell.reasoning]
      options.maximumResponseTokens = maximum
      return try configuration.conversation.prompts.enumerated().map { index, prompt in
        session.row = row(of: cell, turn: index + 1)
        let response = try session.respond(to: prompt, options: options)
        var request = response.request
        request.responseText = response.content
        request.reasoningText = response.reasoning
        return request
      }
    }
    return [try session.serve(request(cell))]
  }

  /// What the recording says of a cell's requests: what tells its rows apart.
  private func row(of cell: RunCell, turn: Int? = nil) -> MeasuredRow {
    MeasuredRow(test: cell.test.name, turn: turn, depth: cell.test.depth)
  }

  private func adapter(named name: String) -> any EngineAdapter {
    guard let adapter = adapters[name] else { preconditionFailure("\(name) was not handed over") }
    return adapter
  }

  /// A request of fixed length on several sessions, each with a prompt of its own.
  private func serve(
    _ cell: RunCell, on sessions: BatchedSessions, repetition: Int
  ) throws -> ServedRequest {
    sessions.repetition = repetition
    sessions.row = row(of: cell)
    try sessions.reset(preloading: randomTokens(cell.test.depth, salt: 0))
    defer { sessions.rewind() }
    let request = request(cell)
    let prompts = (0..<cell.sessionCount).map { index in
      randomTokens(request.prompt.count, salt: 1 + UInt64(index))
    }
    return try sessions.serve(prompts: prompts, responseTokens: request.maximumResponseTokens)
  }

  private mutating func openSessions(for cell: RunCell) throws -> OpenSessions {
    let isSeveral = cell.sessionCount > 1
    let key = SessionKey(
      tier: cell.tier, keyElement: cell.keyElement, valueElement: cell.valueElement,
      sessionCount: cell.sessionCount, adapter: isSeveral ? cell.adapter : nil)
    if let session = sessions[key] { return session }
    var options = LanguageModelSession.Options()
    options.instructions = configuration.conversation.instructions
    options.keyElement = cell.keyElement
    options.valueElement = cell.valueElement
    options.batchTokens = configuration.batchTokens
    options.runsAllLayers = configuration.runsAllLayers
    options.modelFile = modelFilename
    options.recorder = recorder
    options.isInterrupted = isInterrupted
    if let writer = writers[cell.tier] { options.writer = writer }
    // One session a track at a time: its span is the track's outermost.
    for (other, session) in sessions where other.tier == cell.tier {
      session.close()
      sessions[other] = nil
    }
    let open: OpenSessions =
      if isSeveral {
        .several(
          try BatchedSessions(
            engine: engine, tier: cell.tier, count: cell.sessionCount, contextLimit: longest(key),
            options: options, adapter: cell.adapter.map(adapter)))
      } else {
        .one(try LanguageModelSession(engine: engine, tier: cell.tier, options: options))
      }
    sessions[key] = open
    return open
  }

  /// The most positions that a cell of those sessions needs.
  private func longest(_ key: SessionKey) -> Int {
    configuration.cells.filter { $0.tier == key.tier && $0.sessionCount == key.sessionCount }
      .reduce(1) { longest, cell in
        guard case .fixed(let test) = cell.test else { return longest }
        return max(longest, test.depth + test.promptTokenCount + test.generatedTokenCount + 2)
      }
  }

  /// A request of fixed length; its prompt is seeded random tokens.
  private func request(_ cell: RunCell) -> TokenRequest {
    guard case .fixed(let test) = cell.test else {
      preconditionFailure("a chat has no fixed length")
    }
    // A decode test times the steps between tokens: prefill gives it the first one.
    let isDecode = test.phase == .decode
    let prompt = isDecode ? 1 : test.promptTokenCount
    let response = test.generatedTokenCount + (isDecode ? 1 : 0)
    return TokenRequest(
      prompt: randomTokens(prompt, salt: 1), reasoning: cell.reasoning,
      reasoningBudget: configuration.reasoningBudgets[cell.reasoning],
      maximumResponseTokens: response, ignoresStopTokens: true)
  }

  /// Seeded tokens of the vocabulary, and no stop token as long as others are not a rarity.
  private func randomTokens(_ count: Int, salt: UInt64) -> [Int32] {
    var generator = SplitMix64(seed: configuration.seed &* 0x9E37_79B9_7F4A_7C15 &+ salt)
    let vocabulary = UInt64(engine.facts.vocabularyCount)
    let stops = engine.facts.stopTokens
    return (0..<count).map { _ in
      // A vocabulary of hardly anything but stop tokens gives one of those.
      var token = Int32(generator.next() % vocabulary)
      for _ in 0..<64 where stops.contains(token) { token = Int32(generator.next() % vocabulary) }
      return token
    }
  }
}

extension Runner {
  /// Ends the sessions that are open, and their spans in the recording.
  mutating func closeSessions() {
    for session in sessions.values { session.close() }
    sessions = [:]
  }

  /// Trace events that have found no room so far.
  var droppedEvents: UInt64 { writers.values.reduce(0) { $0 + $1.droppedEvents } }
}

/// What was measured of one cell.
package struct CellMeasurement: Sendable {
  let cell: RunCell
  /// One request a repetition, in order.
  package private(set) var samples: [ServedRequest] = []
  /// When the first of them began.
  private(set) var began: String?
  /// How long the requests before the measured ones took.
  private(set) var warmupNanoseconds: UInt64 = 0
  /// Why the cell could not be measured.
  package var failure: String?

  init(cell: RunCell) { self.cell = cell }

  /// Other tiers and levels whose requests are token for token these: `private-cloud none`.
  package internal(set) var standsFor: [String] = []
  /// The lower level whose requests are token for token these, though both were measured.
  package internal(set) var sameAs: String?
  /// Trace events that found no room while its test was measured.
  package internal(set) var droppedEvents: UInt64 = 0

  /// Events that its measured requests recorded.
  package var eventCount: Int { samples.reduce(0) { $0 + $1.recordedEventCount } }

  /// An upper estimate: two span events and at most seven counters for each token, and some eighty
  /// events for the request.
  static func eventCount(tokens: Int) -> Int { 80 + 9 * tokens }

  mutating func add(_ sample: ServedRequest, isWarmup: Bool, began: String) {
    if isWarmup {
      warmupNanoseconds += sample.ended - sample.submitted
    } else {
      if samples.isEmpty { self.began = began }
      samples.append(sample)
    }
  }
}
