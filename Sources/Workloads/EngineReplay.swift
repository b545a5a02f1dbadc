import EngineInterface
import Foundation
import KVCache
import TraceCore

/// A workload against an engine: requests come at their times, wait for room, and run together,
/// continuously batched: every step has the next token of each answer, and parts of prompts in the rows
/// that are left. Prompts skip the pages that are in the cache.
///
/// Served first come, first served; a request is begun only where the budget holds all that the running
/// ones and it may come to need, so that none is ever given up for another.
package final class EngineReplay {
  /// How a workload is replayed.
  package struct Options {
    /// Requests that run together at most.
    package var sessionLimit = 8
    package var session: SessionOptions
    /// What all requests run with.
    package var adapter: (any EngineAdapter)?
    /// Where the spans of the requests are recorded, from their arrivals on: on as many tracks as there
    /// are at the same time, waiting ones included.
    package var recorder: TraceRecorder?
    /// Events that are recorded at most; the requests that have no room are dropped and counted.
    package var recordedEventLimit = 1 << 22
    /// The model's file as it was given, for the recording.
    package var modelFile: String?

    /// `session` says the context limit, the cache with its budget, and the rows of a step.
    package init(session: SessionOptions) { self.session = session }
  }

  /// One request, as it was served. Times count from the beginning of the replay.
  package struct Served: Hashable, Sendable {
    package var number: Int
    package var inputCount: Int
    package var outputCount: Int
    /// Positions that were in the cache, and those that were run; both 0 where it was refused.
    package var hitPositions = 0
    package var prefillPositions = 0
    package var arrivedNanoseconds: Int64
    /// When it was begun; the time before is waiting.
    package var begunNanoseconds: Int64 = 0
    /// When its first token was known; nil without tokens.
    package var firstTokenNanoseconds: Int64?
    package var endedNanoseconds: Int64 = 0
    /// Why it was not served.
    package var refusal: String?
  }

  /// What came out.
  package struct Outcome: Sendable {
    /// In the order in which they ended.
    package var requests: [Served] = []
    package var nanoseconds: Int64 = 0
    package var stepCount = 0
    /// Rows of all steps: prompt positions and answer tokens.
    package var rowCount = 0
    /// The most bytes that were taken from the budget, that requests held, and that several held.
    package var peakAllocatedBytes = 0
    package var peakHeldBytes = 0
    package var peakSharedBytes = 0
    package var budgetBytes = 0
    /// Events that the recording had no room for.
    package var droppedEvents = 0
  }

  private struct Running {
    var served: Served
    let session: any Session
    let prompt: [Int32]
    /// Prompt positions that are in the cache.
    var position: Int
    /// Tokens that are known, and the last of them.
    var outputCount = 0
    var token: Int32 = 0
    /// What it may come to hold.
    let needBytes: Int
    /// The place among those that run together.
    let slot: Int
    let trace: TraceWriter
    var counters: TraceCounterValues

    var isPrefilling: Bool { position < prompt.count }
  }

  private let engine: any Engine
  private let workload: Workload
  private let options: Options
  private let group: any SessionGroup
  private let budget: Int
  private let labels: ReplayLabels
  private var lanes: RequestLanes
  private var running: [Running] = []
  private var next = 0
  private var sampler = Sampler(.greedy)
  private var outcome = Outcome()
  private let start = TraceClock.now()

  private init(_ workload: Workload, on engine: any Engine, _ options: Options) throws {
    self.engine = engine
    self.workload = workload
    var options = options
    options.session.sharesPrefixes = true
    options.session.sessionCount = options.sessionLimit
    options.session.batchTokens = max(options.session.batchTokens, options.sessionLimit)
    self.options = options
    group = try engine.makeSessionGroup(options.session)
    budget = group.cacheUsage.budgetBytes
    labels = ReplayLabels(options, facts: engine.facts)
    lanes = RequestLanes(eventLimit: options.recorder == nil ? 0 : options.recordedEventLimit)
  }

  /// Serves all requests; throws where a cache cannot be made, or the engine fails.
  package static func run(
    _ workload: Workload, on engine: any Engine, _ options: Options,
    progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) throws -> Outcome {
    let replay = try EngineReplay(workload, on: engine, options)
    let total = workload.requests.count
    var done = 0
    while replay.next < total || !replay.running.isEmpty {
      try replay.admit()
      if replay.running.isEmpty {
        replay.waitForArrival()
      } else {
        try replay.step()
      }
      if replay.outcome.requests.count > done {
        done = replay.outcome.requests.count
        progress(done, total)
      }
    }
    replay.outcome.nanoseconds = replay.now
    replay.outcome.budgetBytes = replay.budget
    replay.record()
    return replay.outcome
  }

  private var now: Int64 { sinceStart(TraceClock.now()) }

  private func sinceStart(_ time: UInt64) -> Int64 { Int64(time - start) }

  /// Hands the requests' tracks to the recorder.
  private func record() {
    guard let recorder = options.recorder else { return }
    outcome.droppedEvents = lanes.droppedEvents
    for track in lanes.tracks(named: labels.trackName) { recorder.add(track) }
  }

  // MARK: - Arrivals

  private func waitForArrival() {
    guard next < workload.requests.count else { return }
    let wait = workload.requests[next].arrivalNanoseconds - now
    if wait > 0 { Thread.sleep(forTimeInterval: Double(wait) / 1e9) }
  }

  /// Begins what has arrived, in order, as far as there is room.
  private func admit() throws {
    while next < workload.requests.count, running.count < options.sessionLimit {
      let request = workload.requests[next]
      guard request.arrivalNanoseconds <= now else { return }
      var served = Served(
        number: next, inputCount: request.inputCount, outputCount: request.outputCount,
        arrivedNanoseconds: request.arrivalNanoseconds)
      // The last token of an answer is not put in the cache.
      let positions = request.inputCount + max(request.outputCount - 1, 0)
      let need = group.predictedUsage(positions: [positions], sharedPositions: 0).allocatedBytes
      if let refusal = refusal(positions: positions, need: need) {
        served.refusal = refusal
        refuse(&served)
        outcome.requests.append(served)
        next += 1
        continue
      }
      guard running.reduce(need, { $0 + $1.needBytes }) <= budget else { return }
      try begin(request, served, need: need)
      next += 1
    }
  }

  private func refusal(positions: Int, need: Int) -> String? {
    if positions > options.session.contextLimit {
      return EngineError.contextExceeded(limit: options.session.contextLimit, need: positions)
        .description
    }
    return need > budget ? "the cache's budget is \(budget) bytes, \(need) needed" : nil
  }

  /// Records a request that is not served.
  private func refuse(_ served: inout Served) {
    let trace = lanes.makeWriter(eventCapacity: 2)
    trace.begin(.request, .request, Int64(served.number), .shared, labels.shared)
    let ended = sinceStart(trace.end(.stopReason, labels.refused, .tokens, 0))
    (served.begunNanoseconds, served.endedNanoseconds) = (ended, ended)
    lanes.add(refused: trace, arrival: start + UInt64(served.arrivedNanoseconds))
  }

  private func begin(_ request: WorkloadRequest, _ served: Served, need: Int) throws {
    var served = served
    let prompt = request.prompt(
      number: served.number, hashPositions: workload.hashPositions,
      vocabularyCount: engine.facts.vocabularyCount)
    let session = try group.makeSession()
    session.recordsDetail = false
    if let adapter = options.adapter { try session.use(adapter) }
    let taken = Set(running.map(\.slot))
    guard let slot = (0..<options.sessionLimit).first(where: { !taken.contains($0) }) else {
      preconditionFailure("a slot for each session")
    }
    // The request's and two phases' spans, counters when it begins and ends, and for each token a
    // span and four counters; for each step of its prefill, which has the rows that answers leave, three.
    let prefillRows = max(1, options.session.batchTokens - options.sessionLimit + 1)
    let trace = lanes.makeWriter(
      eventCapacity: 24 + 6 * request.outputCount
        + 3 * (prompt.count / prefillRows + options.sessionLimit + 1))
    served.begunNanoseconds = sinceStart(
      trace.begin(
        .request, .request, Int64(served.number), .session, Int64(slot), .shared, labels.shared))
    served.hitPositions = session.adoptPrefix(of: prompt[...])
    served.prefillPositions = prompt.count - served.hitPositions
    trace.begin(
      .prefill, .tokens, Int64(served.prefillPositions), .position, Int64(served.hitPositions),
      .cachedTokens, Int64(served.hitPositions))
    running.append(
      Running(
        served: served, session: session, prompt: prompt, position: served.hitPositions,
        needBytes: need, slot: slot, trace: trace, counters: TraceCounterValues(of: trace)))
    recordCounters(running.count - 1)
    account()
  }

  // MARK: - Steps

  private func step() throws(EngineError) {
    var inputs: [SessionInput] = []
    var places: [Int] = []
    var room = options.session.batchTokens
    func add(_ place: Int, _ tokens: ArraySlice<Int32>, readsLogits: Bool) {
      inputs.append(
        SessionInput(session: running[place].session, tokens: tokens, readsLogits: readsLogits))
      places.append(place)
      room -= tokens.count
    }
    for place in running.indices where !running[place].isPrefilling {
      add(place, [running[place].token], readsLogits: true)
      running[place].trace.begin(
        .token, .index, Int64(running[place].outputCount), .position,
        Int64(running[place].session.positionCount))
    }
    for place in running.indices where running[place].isPrefilling && room > 0 {
      let part = running[place].prompt[running[place].position...].prefix(room)
      running[place].position = part.endIndex
      add(place, part, readsLogits: !running[place].isPrefilling)
    }
    try group.run(inputs)
    outcome.stepCount += 1
    outcome.rowCount += inputs.reduce(0) { $0 + $1.tokens.count }
    for (place, input) in zip(places, inputs) where input.readsLogits { try advance(place) }
    for place in places { recordCounters(place) }
    finish()
  }

  /// Takes the token of a request whose logits are there.
  private func advance(_ place: Int) throws(EngineError) {
    let trace = running[place].trace
    let isFirst = running[place].outputCount == 0
    if isFirst {
      trace.end()
      guard running[place].served.outputCount > 0 else { return }
      trace.begin(.response, .position, Int64(running[place].session.positionCount))
      trace.begin(.token, .index, 0, .position, Int64(running[place].session.positionCount))
    }
    running[place].token = try running[place].session.sample(using: &sampler)
    running[place].outputCount += 1
    let known = trace.end(.tokenID, Int64(running[place].token))
    if isFirst { running[place].served.firstTokenNanoseconds = sinceStart(known) }
  }

  /// Ends the requests that have all their tokens.
  private func finish() {
    func isDone(_ request: Running) -> Bool {
      !request.isPrefilling && request.outputCount >= request.served.outputCount
    }
    guard running.contains(where: isDone) else { return }
    account()
    for var request in running where isDone(request) {
      if request.served.outputCount > 0 { request.trace.end() }
      request.served.endedNanoseconds = sinceStart(
        request.trace.end(.stopReason, labels.length, .tokens, Int64(request.outputCount)))
      request.counters.reset()
      lanes.add(request.trace, arrival: start + UInt64(request.served.arrivedNanoseconds))
      outcome.requests.append(request.served)
    }
    running.removeAll(where: isDone)
  }

  /// What a request holds and has said, where it has changed.
  private func recordCounters(_ place: Int) {
    let usage = running[place].session.cacheUsage
    let positions = running[place].session.positionCount
    let tokens = running[place].outputCount
    running[place].counters.update(.keyValueBytesUsed, Int64(usage.used))
    running[place].counters.update(.keyValueBytesAllocated, Int64(usage.allocated))
    running[place].counters.update(.contextUsed, Int64(positions))
    running[place].counters.update(.tokens, Int64(tokens))
  }

  private func account() {
    let usage = group.cacheUsage
    outcome.peakAllocatedBytes = max(outcome.peakAllocatedBytes, usage.allocatedBytes)
    outcome.peakHeldBytes = max(outcome.peakHeldBytes, usage.held.allocatedBytes)
    outcome.peakSharedBytes = max(outcome.peakSharedBytes, usage.held.sharedBytes)
  }
}
