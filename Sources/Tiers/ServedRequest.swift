import EngineInterface
import TraceCore

/// One request in tokens, as the server loop runs it.
package struct TokenRequest: Sendable {
  /// Tokens to prefill, in order.
  package var prompt: [Int32]
  /// How many of them, from the front, are the instructions' (first turn only).
  package var instructionCount: Int
  /// How much it may think first.
  package var reasoning: ReasoningLevel
  /// The most reasoning tokens; the level's own budget unless set.
  package var reasoningBudget: Int
  /// The most response tokens.
  package var maximumResponseTokens: Int
  /// Generates exactly that many reasoning and response tokens: for measurements of a fixed length.
  package var ignoresStopTokens: Bool
  /// How tokens are chosen.
  package var sampling: Sampler.Options

  package init(
    prompt: [Int32], instructionCount: Int = 0, reasoning: ReasoningLevel = .none,
    reasoningBudget: Int? = nil, maximumResponseTokens: Int, ignoresStopTokens: Bool = false,
    sampling: Sampler.Options = .greedy
  ) {
    self.prompt = prompt
    self.instructionCount = instructionCount
    self.reasoning = reasoning
    self.reasoningBudget = reasoningBudget ?? reasoning.tokenBudget
    self.maximumResponseTokens = maximumResponseTokens
    self.ignoresStopTokens = ignoresStopTokens
    self.sampling = sampling
  }
}

/// What a request gave and when. Times are the recording's own monotonic nanoseconds.
package struct ServedRequest: Sendable {
  /// Generated reasoning tokens, a stop token that ended them included.
  package var reasoningTokens: [Int32] = []
  /// Generated response tokens, a stop token that ended them included.
  package var responseTokens: [Int32] = []
  /// The texts of both, where the request was a turn of a conversation.
  package var reasoningText: String?
  package var responseText: String?
  /// When the request was submitted.
  package var submitted: UInt64 = 0
  /// When the prompt's prefill began and ended.
  package var prefillBegan: UInt64 = 0
  package var prefillEnded: UInt64 = 0
  /// Tokens that went through prefill, marks of the reasoning segment included, and their time.
  package var prefilledTokenCount = 0
  package var prefillNanoseconds: UInt64 = 0
  /// Time spent choosing tokens from logits.
  package var samplingNanoseconds: UInt64 = 0
  /// The part of it that the first token took.
  package var firstSamplingNanoseconds: UInt64 = 0
  /// When each generated token was known, reasoning first.
  package var tokenTimes: [UInt64] = []
  /// When the answer was complete.
  package var ended: UInt64 = 0
  /// The prompt's tokens: what was asked to be prefilled.
  package var promptTokens: [Int32] = []
  /// Tokens that were prefilled for the prompt.
  package var promptTokenCount = 0
  /// Positions that were in the cache before the request.
  package var cachedPositionCount = 0
  /// Prompt tokens that another session of the tier had run, so that no prefill did.
  package var adoptedPositionCount = 0
  /// What the positions are for, at the end.
  package var context = ContextAccount()
  /// Sessions that were served together, a request each: every rate counts the tokens of all, and
  /// `tokenTimes` has the time of a step once.
  package var sessionCount = 1
  /// Cache bytes that were predicted before the request, for as many tokens as it may take.
  package var predictedCacheBytes = 0
  /// Cache bytes at the end: of each session by itself, whatever it shares with others.
  package var cache = SessionCacheUsage(allocated: 0, used: 0, ideal: 0)
  /// Cache bytes that sharing saves the tier at the end: of every page those of the holders after the
  /// first, among them the frontier that requests begin from.
  package var sharedCacheBytes = 0
  /// Events that were recorded of it, or dropped.
  package var recordedEventCount = 0
  /// Why generation stopped.
  package var finish = Finish.length

  /// Why generation stopped.
  package enum Finish: String, CaseIterable, Hashable, Sendable {
    /// A stop token.
    case stop
    /// The asked number of tokens.
    case length
  }

  package init() {}

  /// Says what sessions will take at those lengths at most, each by itself.
  mutating func predictCache(of group: any SessionGroup, positions: [Int]) {
    predictedCacheBytes =
      group.predictedUsage(positions: positions, sharedPositions: 0).allocatedBytes
  }
}

/// The figures of metrics.md that one request has, from its times.
extension ServedRequest {
  /// Request submitted → first token of any kind; nil where none was generated.
  package var ttftNanoseconds: UInt64? { tokenTimes.first.map { $0 - submitted } }

  /// Request submitted → first response token; nil where there is none.
  package var ttfoNanoseconds: UInt64? {
    guard !responseTokens.isEmpty else { return nil }
    return tokenTimes[reasoningTokens.count] - submitted
  }

  /// Gaps between consecutive tokens.
  package var itlNanoseconds: [UInt64] {
    zip(tokenTimes.dropFirst(), tokenTimes).map { $0 - $1 }
  }

  /// (end-to-end − TTFT) / (tokens − 1), end-to-end being request submitted → answer complete; nil
  /// below two tokens.
  package var tpotNanoseconds: Double? {
    guard tokenTimes.count > 1, let first = tokenTimes.first else { return nil }
    return Double(ended - first) / Double(tokenTimes.count - 1)
  }

  /// Prefilled tokens a second.
  package var prefillTokensPerSecond: Double? {
    guard prefillNanoseconds > 0 else { return nil }
    return Double(prefilledTokenCount) * 1e9 / Double(prefillNanoseconds)
  }

  /// Tokens after the first one a second.
  package var decodeTokensPerSecond: Double? {
    guard let first = tokenTimes.first, let last = tokenTimes.last, last > first else { return nil }
    return Double((tokenTimes.count - 1) * sessionCount) * 1e9 / Double(last - first)
  }
}
