import EngineInterface
import TraceCore

/// The loop that serves a request in tokens: prefill, reasoning, response.
extension LanguageModelSession {
  func serve(_ request: TokenRequest, into served: inout ServedRequest) throws {
    guard !request.prompt.isEmpty else { throw TierError.emptyPrompt }
    served.cachedPositionCount = session.positionCount
    served.promptTokenCount = request.prompt.count
    served.promptTokens = request.prompt
    served.tokenTimes.reserveCapacity(request.reasoningBudget + request.maximumResponseTokens)
    let marks = try reasoningMarks(request)
    // A fixed length is known in advance; otherwise at least the prompt has to fit.
    let certain = request.prompt.count + (request.ignoresStopTokens ? request.certainTokens : 0)
    try requireRoom(session.positionCount + certain + marks.opening.count + marks.closing.count)

    served.predictCache(
      of: group,
      positions: [
        session.positionCount + request.tokenLimit + marks.opening.count
          + marks.closing.count
      ])
    session.recordsDetail = detailTokenLimit > 0
    let prompt = request.prompt + marks.opening
    if session.positionCount == 0 {
      served.adoptedPositionCount = session.adoptPrefix(of: prompt[...])
    }
    try prefill(prompt[served.adoptedPositionCount...], into: &served)
    account.instructions += request.instructionCount
    account.prompt += request.prompt.count - request.instructionCount
    account.reasoning += marks.opening.count
    updateCounters()

    var sampler = Sampler(request.sampling)
    if request.reasoning != .none && request.reasoningBudget > 0 {
      try reason(request, marks: marks, sampler: &sampler, into: &served)
    }
    if request.maximumResponseTokens > 0 {
      try answer(request, sampler: &sampler, into: &served)
    } else {
      // Nobody chooses a token: a model that computes nonsense must fail here too.
      _ = try engineCall { () throws(EngineError) in try session.sample(using: &sampler) }
    }
    served.context = account
    served.cache = session.cacheUsage
    served.sharedCacheBytes = group.cacheUsage.held.sharedBytes
  }

  /// Runs tokens through the model in one prefill span.
  private func prefill(_ tokens: ArraySlice<Int32>, into served: inout ServedRequest) throws {
    if isInterrupted() { throw TierError.interrupted }
    let position = session.positionCount
    let began = trace.begin(
      .prefill, .tokens, Int64(tokens.count), .position, Int64(position), .cachedTokens,
      Int64(served.prefilledTokenCount == 0 ? position : 0))
    defer {
      let ended = trace.end()
      if served.prefilledTokenCount == 0 {
        served.prefillBegan = began
        served.prefillEnded = ended
      }
      served.prefillNanoseconds += ended - began
      served.prefilledTokenCount += tokens.count
    }
    try engineCall { () throws(EngineError) in try session.prefill(tokens) }
  }

  /// Generates the reasoning segment and feeds its closing marks.
  private func reason(
    _ request: TokenRequest, marks: ReasoningMarks, sampler: inout Sampler,
    into served: inout ServedRequest
  ) throws {
    trace.begin(.reasoning, .position, Int64(session.positionCount))
    defer { trace.end() }
    let stops = request.ignoresStopTokens ? [] : engine.facts.stopTokens.union(marks.stops)
    var previous: Int32?
    while served.reasoningTokens.count < request.reasoningBudget {
      let token = try step(previous, sampler: &sampler, segment: \.reasoning, into: &served)
      served.reasoningTokens.append(token)
      if stops.contains(token) { break }
      previous = token
    }
    // The last token, unless it ended the segment, goes in together with the closing marks.
    var rest = marks.closing
    if let last = served.reasoningTokens.last, !stops.contains(last) { rest.insert(last, at: 0) }
    guard !rest.isEmpty else { return }
    try requireRoom(session.positionCount + rest.count)
    try prefill(rest[...], into: &served)
    account.reasoning += rest.count
    updateCounters(tokens: served.tokenTimes.count)
  }

  /// Generates the visible answer.
  private func answer(
    _ request: TokenRequest, sampler: inout Sampler, into served: inout ServedRequest
  ) throws {
    trace.begin(.response, .position, Int64(session.positionCount))
    defer { trace.end() }
    var previous: Int32?
    while served.responseTokens.count < request.maximumResponseTokens {
      let token = try step(previous, sampler: &sampler, segment: \.response, into: &served)
      served.responseTokens.append(token)
      if !request.ignoresStopTokens && engine.facts.stopTokens.contains(token) {
        served.finish = .stop
        return
      }
      previous = token
    }
    served.finish = .length
  }

  /// One token: feeds the previous one, if any, and samples. Its span ends when the id is known.
  private func step(
    _ previous: Int32?, sampler: inout Sampler, segment: WritableKeyPath<ContextAccount, Int>,
    into served: inout ServedRequest
  ) throws -> Int32 {
    if isInterrupted() { throw TierError.interrupted }
    trace.begin(
      .token, .index, Int64(served.tokenTimes.count), .position, Int64(session.positionCount))
    session.recordsDetail = served.tokenTimes.count < detailTokenLimit
    do {
      if let previous {
        try requireRoom(session.positionCount + 1)
        try engineCall { () throws(EngineError) in try session.decode(previous) }
        account[keyPath: segment] += 1
      }
      let chosen = TraceClock.now()
      let token = try engineCall { () throws(EngineError) in try session.sample(using: &sampler) }
      let known = trace.end(.tokenID, Int64(token))
      served.samplingNanoseconds += known - chosen
      if served.tokenTimes.isEmpty { served.firstSamplingNanoseconds = known - chosen }
      served.tokenTimes.append(known)
      updateCounters(tokens: served.tokenTimes.count)
      counters.record(.threadWait, session.threadWaitNanoseconds - threadWaitBefore)
      return token
    } catch {
      trace.end()
      throw error
    }
  }

  func requireRoom(_ need: Int) throws {
    guard need <= context.limit else {
      throw TierError.contextExceeded(
        tier: tier, limit: context.limit, source: context.source, need: need)
    }
  }

  func engineCall<Result>(_ body: () throws(EngineError) -> Result) throws -> Result {
    do { return try body() } catch { throw TierError.engine(error) }
  }

  func asText<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let error as TierError { throw error } catch {
      throw TierError.text(String(describing: error))
    }
  }

  func reasoningMarks(_ request: TokenRequest) throws -> ReasoningMarks {
    guard request.reasoning != .none && request.reasoningBudget > 0 else { return ReasoningMarks() }
    return try asText { try ReasoningMarks(engine) }
  }
}

extension TokenRequest {
  /// Generated tokens that will stand in the cache at the end, if no stop token ends it early: all
  /// but the last response token.
  fileprivate var certainTokens: Int {
    (reasoning == .none ? 0 : reasoningBudget) + max(maximumResponseTokens - 1, 0)
  }

  /// The most positions that it adds to the cache, marks of the reasoning segment apart.
  fileprivate var tokenLimit: Int { prompt.count + certainTokens }
}
