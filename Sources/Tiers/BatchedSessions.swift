import EngineInterface
import TraceCore

/// Sessions of a tier that serve requests of one length together: what a server does whose requests
/// come at once. Every step gives each of them a token. For measurements; one thread uses them.
package final class BatchedSessions {
  package let tier: Tier
  package let context: EffectiveContext
  /// The number of the repetition that the next requests belong to; negative while warming up.
  package var repetition = 0
  /// The row of a run's table that the next requests belong to.
  package var row: MeasuredRow?

  private let group: any SessionGroup
  private var sessions: [any Session]
  private var frontier: ContextFrontier
  private let batchTokens: Int
  private let trace: TraceWriter
  private let labels: TraceLabels
  private let isInterrupted: @Sendable () -> Bool
  private var counters: TraceCounterValues
  private var threadWaitBefore: Int64 = 0
  private var requestCount = 0

  /// Opens `count` sessions of `contextLimit` positions, or the tier's or the model's where that is
  /// fewer. Throws where the cache does not fit.
  package init(
    engine: any Engine, tier: Tier, count: Int, contextLimit: Int,
    options: LanguageModelSession.Options, adapter: (any EngineAdapter)? = nil
  ) throws {
    precondition(count >= 1, "a batch of no sessions")
    self.tier = tier
    context = tier.effectiveContext(trainedContextLength: engine.facts.trainedContextLength)
    trace = options.writer
    isInterrupted = options.isInterrupted
    labels = options.labels(tier: tier, context: context, facts: engine.facts)
    counters = TraceCounterValues(of: options.writer)
    batchTokens = max(options.batchTokens, count)
    var sessionOptions = options.sessionOptions(
      tier: tier, contextLimit: min(contextLimit, context.limit))
    sessionOptions.batchTokens = batchTokens
    // Each session's context, and a frontier's.
    sessionOptions.sessionCount = count + 1
    let group = try engine.makeSessionGroup(sessionOptions)
    self.group = group
    do {
      frontier = try ContextFrontier(in: group, adapter: adapter)
      sessions = try (0..<count).map { _ in
        let session = try group.makeSession()
        try session.use(adapter)
        return session
      }
    } catch let error as EngineError {
      throw TierError.engine(error)
    }
    trace.begin(
      .session, .tier, labels.tier, .model, labels.model, .contextLimit, Int64(context.limit))
  }

  /// Ends the sessions' span in the recording, and their counters.
  package func close() {
    counters.reset()
    trace.end()
  }

  /// Empties the sessions' caches, so that they hold no request that is over.
  package func rewind() {
    for session in sessions { session.truncate(to: 0) }
    recordCounters(ContextAccount())
  }

  /// Has every session stand behind those tokens, which are run once.
  package func reset(preloading tokens: [Int32]) throws {
    do throws(EngineError) {
      for index in sessions.indices {
        if tokens.isEmpty {
          sessions[index].truncate(to: 0)
        } else {
          sessions[index] = try frontier.fork(behind: tokens)
        }
      }
    } catch {
      throw TierError.engine(error)
    }
  }

  /// Serves one prompt a session, each with so many response tokens. The times are those of all
  /// together: a token is known when every session has it.
  package func serve(prompts: [[Int32]], responseTokens: Int) throws -> ServedRequest {
    precondition(prompts.count == sessions.count, "as many prompts as sessions")
    var served = ServedRequest()
    served.sessionCount = sessions.count
    served.cachedPositionCount = sessions[0].positionCount
    served.promptTokens = prompts.flatMap(\.self)
    served.promptTokenCount = prompts[0].count
    served.tokenTimes.reserveCapacity(responseTokens)
    let length = served.cachedPositionCount + prompts[0].count + max(responseTokens - 1, 0)
    served.predictCache(of: group, positions: sessions.map { _ in length })
    let shared = labels.shared(
      .none, row: row, adapter: sessions[0].adapter?.name, sessions: sessions.count)
    let eventsBefore = trace.eventCount
    served.context.history = served.cachedPositionCount
    served.submitted = trace.begin(
      .request, .request, Int64(requestCount), .repetition, Int64(repetition), .shared, shared)
    requestCount += 1
    threadWaitBefore = sessions[0].threadWaitNanoseconds
    recordCounters(served.context)
    do throws(TierError) {
      for session in sessions { session.recordsDetail = false }
      try prefill(prompts, into: &served)
      if responseTokens > 0 {
        try answer(responseTokens, into: &served)
      } else {
        // Nobody chooses a token: a model that computes nonsense must fail here too.
        var sampler = Sampler(.greedy)
        do throws(EngineError) {
          for session in sessions { _ = try session.sample(using: &sampler) }
        } catch {
          throw TierError.engine(error)
        }
      }
    } catch {
      trace.end(.stopReason, labels.error, .tokens, Int64(served.tokenTimes.count))
      for session in sessions { session.truncate(to: served.cachedPositionCount) }
      var left = ContextAccount()
      left.history = served.cachedPositionCount
      recordCounters(left)
      throw error
    }
    served.cache = cacheUsage
    served.sharedCacheBytes = group.cacheUsage.held.sharedBytes
    served.ended = trace.end(
      .stopReason, labels.finish(.length), .tokens, Int64(served.tokenTimes.count))
    counters.update(.tokens, 0)
    counters.update(.threadWait, 0)
    served.recordedEventCount = trace.eventCount - eventsBefore
    return served
  }

  /// All prompts, in steps that are as full as they can be.
  private func prefill(
    _ prompts: [[Int32]], into served: inout ServedRequest
  ) throws(TierError) {
    let position = Int64(sessions[0].positionCount)
    served.prefillBegan = trace.begin(
      .prefill, .tokens, Int64(served.promptTokens.count), .position, position, .cachedTokens,
      position)
    defer {
      served.prefillEnded = trace.end()
      served.prefillNanoseconds = served.prefillEnded - served.prefillBegan
      served.prefilledTokenCount = served.promptTokens.count
      served.context.prompt = prompts[0].count
      updateCounters(served.context)
    }
    var step: [SessionInput] = []
    var room = batchTokens
    for (session, prompt) in zip(sessions, prompts) {
      var rest = prompt[...]
      while !rest.isEmpty {
        let part = rest.prefix(room)
        rest = rest.dropFirst(part.count)
        room -= part.count
        step.append(
          SessionInput(session: session, tokens: part, readsLogits: rest.isEmpty))
        if room == 0 {
          try run(step)
          step.removeAll(keepingCapacity: true)
          room = batchTokens
        }
      }
    }
    if !step.isEmpty { try run(step) }
  }

  private func run(_ step: [SessionInput]) throws(TierError) {
    if isInterrupted() { throw .interrupted }
    do { try group.run(step) } catch { throw .engine(error) }
  }

  /// Token by token, all sessions in each step.
  private func answer(_ count: Int, into served: inout ServedRequest) throws(TierError) {
    trace.begin(.response, .position, Int64(sessions[0].positionCount))
    defer { trace.end() }
    var sampler = Sampler(.greedy)
    var tokens = [Int32](repeating: 0, count: sessions.count)
    for index in 0..<count {
      if isInterrupted() { throw .interrupted }
      trace.begin(.token, .index, Int64(index), .position, Int64(sessions[0].positionCount))
      var isOpen = true
      defer { if isOpen { trace.end() } }
      let chosen: UInt64
      do throws(EngineError) {
        if index > 0 { try group.decode(tokens, in: sessions) }
        chosen = TraceClock.now()
        for place in sessions.indices {
          tokens[place] = try sessions[place].sample(using: &sampler)
        }
      } catch {
        throw .engine(error)
      }
      let known = trace.end(.tokens, Int64(sessions.count))
      isOpen = false
      served.samplingNanoseconds += known - chosen
      if index == 0 { served.firstSamplingNanoseconds = known - chosen }
      served.tokenTimes.append(known)
      served.responseTokens.append(tokens[0])
      served.context.response = index
      updateCounters(served.context, tokens: index + 1)
      counters.record(.threadWait, sessions[0].threadWaitNanoseconds - threadWaitBefore)
    }
  }

  /// Records every counter: cache bytes and tokens of all sessions, the context of one.
  private func recordCounters(_ context: ContextAccount) {
    let usage = cacheUsage
    counters.record(.keyValueBytesUsed, Int64(usage.used))
    counters.record(.keyValueBytesAllocated, Int64(usage.allocated))
    counters.record(.contextUsed, Int64(sessions[0].positionCount))
    counters.record(.tokens, 0)
    counters.record(.contextHistory, Int64(context.history))
    counters.record(.contextPrompt, Int64(context.prompt))
    counters.record(.contextResponse, Int64(context.response))
    counters.record(.threadWait, 0)
  }

  /// Records the counters that have changed.
  private func updateCounters(_ context: ContextAccount, tokens: Int = 0) {
    let usage = cacheUsage
    counters.update(.keyValueBytesUsed, Int64(usage.used))
    counters.update(.keyValueBytesAllocated, Int64(usage.allocated))
    counters.update(.contextUsed, Int64(sessions[0].positionCount))
    counters.update(.tokens, Int64(tokens * sessions.count))
    counters.update(.contextHistory, Int64(context.history))
    counters.update(.contextPrompt, Int64(context.prompt))
    counters.update(.contextResponse, Int64(context.response))
  }

  private var cacheUsage: SessionCacheUsage {
    sessions.reduce(into: SessionCacheUsage(allocated: 0, used: 0, ideal: 0)) {
      $0.add($1.cacheUsage)
    }
  }
}
