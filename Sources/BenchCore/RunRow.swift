/// One result row of `afm-bench run`: one test, on one tier, at one reasoning level.
///
/// The JSON names are llama-bench's where it has one (`CodingKeys` holds them, in the order of the
/// columns); times are nanoseconds, rates tokens a second, sizes bytes. What was not measured or
/// was refused is nil and written as null, so that every row has every column.
package struct RunRow: Codable, Hashable, Sendable {
  // The build and the machine.
  package var buildCommit = ""
  package var buildNumber = 0
  package var cpuInfo = ""
  /// CPUs that the process could run on; more threads than that took turns.
  package var availableCoreCount: Int?
  /// The instruction sets of the kernels that the linear layers ran.
  package var instructionSet = ""
  /// The names of the kernels that ran.
  package var kernels: [String] = []

  // The model.
  package var modelFilename = ""
  /// The graph and the stored formats, such as `llama s8c`.
  package var modelType = ""
  /// Bytes of the weights in memory, as llama-bench counts a model's size.
  package var modelByteCount = 0
  package var modelParameterCount = 0
  /// Bytes of the model's file.
  package var fileByteCount: Int?
  /// Bytes of the weights at run time, scales and layout padding included.
  package var weightByteCount = 0

  // The settings.
  /// Tokens that a prefill runs together: llama-bench's `n_batch`, and `n_ubatch` as well.
  package var batchTokens = 0
  package var microBatchTokens = 0
  package var threadCount = 0
  /// Whether weights stored as the kernels read them were used in the page cache, not copied.
  package var mapsWeights = false
  /// The low-rank adapter's file; nil for the model alone.
  package var adapter: String?
  /// The layers that a prefill runs for each position: `needed` for those whose results are read,
  /// `all` for every one.
  package var prefillLayers = "needed"
  /// How keys and values are stored: the name of a cache element, such as `s8`.
  package var keyElement = ""
  package var valueElement = ""
  package var promptTokenCount = 0
  package var generatedTokenCount = 0
  /// Positions put in the cache before the measurement.
  package var depth = 0
  /// Sessions that ran together, each with the row's tokens: rates are those of all, latencies those
  /// of each.
  package var sessionCount = 1

  // What was run.
  /// `pp512`, `tg128`, `pp64+tg32`, `chat`.
  package var test = ""
  /// The turn of a conversation, from 1; nil outside of one.
  package var turn: Int?
  /// The tier's name, such as `private-cloud`.
  package var tier = ""
  /// Whether the tier is a model of a remote service.
  package var tierIsModelled = false
  /// The reasoning level.
  package var reasoning = "none"
  /// Other tiers and levels whose requests are token for token these, and were not run again:
  /// `private-cloud none`.
  package var standsFor: [String] = []
  /// The tier and lower level whose requests are token for token these, and were measured too.
  package var sameAs: String?
  /// The most reasoning tokens of a request.
  package var reasoningBudget = 0
  /// Hash of the prompt's tokens, so that two results are known to be of the same work.
  package var promptHash: String?
  /// When the measurement began: ISO 8601, UTC.
  package var testTime = ""
  /// Requests served before the measured ones, and how long they took.
  package var warmupCount: Int?
  package var warmupNanoseconds: UInt64?

  // The measured phase: prefill for `pp`, decode for `tg`, both for `pp+tg`, the request for `chat`.
  package var averageNanoseconds: UInt64?
  package var deviationNanoseconds: UInt64?
  package var averageTokensPerSecond: Double?
  package var deviationTokensPerSecond: Double?
  package var sampleNanoseconds: [UInt64] = []
  package var sampleTokensPerSecond: [Double] = []

  // The two phases apart: medians over the samples, at the context frontier where each begins.
  package var prefillTokensPerSecond: Double?
  package var prefillContextFrontier: Int?
  package var decodeTokensPerSecond: Double?
  package var decodeContextFrontier: Int?
  /// 95 % order-statistic intervals of those medians, and the samples.
  package var prefillRateInterval: Interval?
  package var decodeRateInterval: Interval?
  package var prefillRateSamples: [Double] = []
  package var decodeRateSamples: [Double] = []

  // Latency of a request (metrics.md): medians over the samples, their 95 % intervals, the samples.
  package var ttftNanoseconds: Double?
  package var ttftInterval: Interval?
  package var ttftSamples: [UInt64] = []
  package var ttfoNanoseconds: Double?
  package var ttfoInterval: Interval?
  package var ttfoSamples: [UInt64] = []
  package var tpotNanoseconds: Double?
  package var tpotInterval: Interval?
  package var tpotSamples: [Double] = []
  /// Why the intervals are missing, where they are.
  package var intervalRefusal: String?

  // Gaps between consecutive tokens, all requests one after another.
  package var itlSamples: [UInt64] = []
  package var itlP50Nanoseconds: Double?
  package var itlP90Nanoseconds: Double?
  package var itlP99Nanoseconds: Double?
  /// The 95 % interval of the median gap, resampled by request.
  package var itlP50Interval: Interval?
  /// Which percentiles were refused, and why.
  package var itlRefusal: String?

  // What the last request of the row gave and held.
  package var reasoningTokenCount = 0
  /// Reasoning and response tokens together.
  package var outputTokenCount = 0
  /// `stop` or `length`.
  package var finish: String?
  package var contextLimit = 0
  /// Who sets the limit: `tier` or `model`.
  package var contextLimitSource = ""
  package var contextUsed = ContextUse()
  package var cacheBytesAllocated = 0
  package var cacheBytesUsed = 0
  package var cacheBytesIdeal = 0
  /// Of the tier, by pages that have more than one holder: those of the holders after the first.
  package var cacheBytesShared = 0
  /// Allocated and not used.
  package var cacheBytesWasted = 0
  /// Bytes that were predicted before the request, for as many tokens as it might take.
  package var cacheBytesPredicted = 0

  // Memory.
  package var peakResidentByteCount: Int?
  /// Bytes that must move per token ÷ time ÷ measured memory read bandwidth.
  package var memoryBandwidthUtilisation: Double?
  /// The roof of that: measured in the same run.
  package var memoryReadBytesPerSecond: Double?

  // Whether to believe it.
  package var verdict = Verdict.Level.trusted
  package var verdictReasons: [VerdictReason] = []
  /// The reasons in words, with their figures, in the same order.
  package var verdictWords: [String] = []
  /// The share of the measured time that recording took.
  package var recordingOverhead: Double?
  /// What went wrong, where nothing could be measured.
  package var error: String?

  package init() {}
}

/// Two ends of an interval; `[low, high]` in JSON.
package struct Interval: Codable, Hashable, Sendable {
  package var low: Double
  package var high: Double

  package init(low: Double, high: Double) {
    self.low = low
    self.high = high
  }

  package init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    low = try container.decode(Double.self)
    high = try container.decode(Double.self)
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    try container.encode(low)
    try container.encode(high)
  }
}

/// The parts of the context that was used, in positions. They add up to the positions in the cache.
package struct ContextUse: Codable, Hashable, Sendable {
  package var instructions = 0
  package var tools = 0
  package var history = 0
  package var prompt = 0
  package var reasoning = 0
  package var response = 0

  package init() {}

  /// All parts together.
  package var total: Int { instructions + tools + history + prompt + reasoning + response }
}
