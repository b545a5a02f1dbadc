import TraceCore

/// The figures of one request, computed from its recorded events by the convention of `TraceCore`.
///
/// All times are integers of nanoseconds between recorded timestamps, so they equal what the run
/// computed from the same timestamps.
public struct RequestSummary: Hashable, Sendable {
  /// A number of tokens over the time they took.
  public struct Rate: Hashable, Sendable {
    /// The tokens that were processed in the time.
    public var tokens: Int
    /// The time; never 0.
    public var nanoseconds: UInt64
    /// Positions already in the cache when the measure starts; nil where it was not recorded.
    public var contextFrontier: Int64?

    package init(tokens: Int, nanoseconds: UInt64, contextFrontier: Int64?) {
      self.tokens = tokens
      self.nanoseconds = nanoseconds
      self.contextFrontier = contextFrontier
    }

    /// Tokens a second.
    public var tokensPerSecond: Double { Double(tokens) * 1e9 / Double(nanoseconds) }
  }

  /// What a counter showed during the request.
  public struct CounterValues: Hashable, Sendable {
    /// The value that held when the request ended.
    public var last: Int64
    /// The greatest value.
    public var maximum: Int64

    package init(last: Int64, maximum: Int64) {
      self.last = last
      self.maximum = maximum
    }
  }

  /// The number of the request in its run, as recorded.
  public var request: Int64?
  /// The number of the repetition, as recorded; negative while warming up.
  public var repetition: Int64?
  /// The test that the request belongs to, as the results name it.
  public var test: String?
  /// The turn of a conversation, from 1.
  public var turn: Int64?
  /// Positions in the cache before the test began.
  public var depth: Int64?
  /// The model's file as it was given.
  public var modelFile: String?
  /// How the cache stores keys and values.
  public var keyElement: String?
  public var valueElement: String?
  /// The low-rank adapter's file; nil without one.
  public var adapter: String?
  /// Threads of the engine.
  public var threads: Int64?
  /// The tier of the request or of its session.
  public var tier: String?
  /// The model of the request or of its session.
  public var model: String?
  /// The reasoning level.
  public var reasoningLevel: String?
  /// Sessions that were served together, a request each: rates count the tokens of all, everything
  /// else is of one.
  public var sessions: Int = 1
  /// Why generation stopped.
  public var stopReason: String?
  /// The limit of the session's context, in positions.
  public var contextLimit: Int64?
  /// The writer's track.
  public var trackName: String

  /// When the request was submitted, on the monotonic clock.
  public var submittedNanoseconds: UInt64
  /// Request submitted → answer complete.
  public var endToEndNanoseconds: UInt64
  /// Request submitted → first work on it; nil where waiting was not recorded.
  public var queuedNanoseconds: UInt64?
  /// Request submitted → first token of any kind; nil without tokens.
  public var ttftNanoseconds: UInt64?
  /// Request submitted → first visible token; nil without a visible one.
  public var ttfoNanoseconds: UInt64?
  /// The gaps between consecutive tokens, in order; one fewer than the tokens.
  public var itlNanosecondsSamples: [UInt64]

  /// Tokens of the whole prompt, cached ones included; nil where it was not recorded.
  public var promptTokens: Int64?
  /// Prompt tokens that were not computed but found in the cache.
  public var cachedTokens: Int64
  /// Tokens generated as reasoning.
  public var reasoningTokens: Int
  /// Tokens generated as response.
  public var responseTokens: Int
  /// All tokens generated, in a phase or outside of one.
  public var outputTokens: Int

  /// Prefilled tokens over the time of the prefill spans; nil without any.
  public var prefill: Rate?
  /// Tokens after the first over the time since the first, of all sessions; nil with fewer than two.
  public var decode: Rate?
  /// What the session's thread waited for other threads while the tokens after the first were made;
  /// nil where that was not recorded.
  public var decodeWaitNanoseconds: UInt64?
  /// The counters that were set during the request or hold from before it.
  public var counters: [TraceCounter: CounterValues]

  /// The share of the decode time that was lost to waiting for other threads; nil without a decode
  /// rate or a record of it.
  public var decodeWaitShare: Double? {
    guard let decode, let decodeWaitNanoseconds else { return nil }
    return Double(decodeWaitNanoseconds) / Double(decode.nanoseconds)
  }

  /// Whether it was served before the measured ones.
  public var isWarmup: Bool { repetition.map { $0 < 0 } ?? false }

  /// (end-to-end − TTFT) / (tokens − 1), in nanoseconds; nil with fewer than two tokens.
  public var tpotNanoseconds: Double? {
    guard let ttftNanoseconds, outputTokens > 1 else { return nil }
    return (Double(endToEndNanoseconds) - Double(ttftNanoseconds)) / Double(outputTokens - 1)
  }
}
