import EngineInterface
import TraceCore

/// What the recording's counters show of a session.
extension LanguageModelSession {
  /// Records every counter as a request begins, so that none is the request before. Tools are
  /// recorded when there are any.
  func recordCounters() {
    let usage = session.cacheUsage
    counters.record(.keyValueBytesUsed, Int64(usage.used))
    counters.record(.keyValueBytesAllocated, Int64(usage.allocated))
    counters.record(.contextUsed, Int64(session.positionCount))
    counters.record(.tokens, 0)
    counters.record(.contextInstructions, Int64(account.instructions))
    counters.update(.contextTools, Int64(account.tools))
    counters.record(.contextHistory, Int64(account.history))
    counters.record(.contextPrompt, Int64(account.prompt))
    counters.record(.contextReasoning, Int64(account.reasoning))
    counters.record(.contextResponse, Int64(account.response))
    counters.record(.threadWait, 0)
  }

  /// Records the counters that have changed.
  func updateCounters(tokens: Int = 0) {
    let usage = session.cacheUsage
    counters.update(.keyValueBytesUsed, Int64(usage.used))
    counters.update(.keyValueBytesAllocated, Int64(usage.allocated))
    counters.update(.contextUsed, Int64(session.positionCount))
    counters.update(.tokens, Int64(tokens))
    counters.update(.contextInstructions, Int64(account.instructions))
    counters.update(.contextTools, Int64(account.tools))
    counters.update(.contextHistory, Int64(account.history))
    counters.update(.contextPrompt, Int64(account.prompt))
    counters.update(.contextReasoning, Int64(account.reasoning))
    counters.update(.contextResponse, Int64(account.response))
  }

  /// Sets back what is the request's alone once it is over; its positions stay in the cache.
  func endCounters() {
    updateCounters()
    counters.update(.threadWait, 0)
  }
}
