import Foundation
import TraceCore
import TraceExport

/// A trace's summary as JSON and as a table; names and units are those of `run --json`, so that a
/// request is found in its row by test, turn, depth, tier, reasoning, model file, cache formats,
/// threads, sessions and adapter, and in the row's samples by its repetition.
struct SummaryReport: Encodable {
  var requests: [Row]
  var dropped_events: UInt64
  var metadata: [String: String]

  /// One request.
  struct Row: Encodable {
    var request: Int64?
    var test: String?
    var turn: Int64?
    var n_depth: Int64?
    var tier: String?
    var reasoning: String?
    /// From 0, in the order of the row's samples; missing where the request belongs to no row's.
    var repetition: Int64?
    /// Whether it was served before the measured ones.
    var warmup: Bool
    var model_filename: String?
    var model: String?
    var type_k: String?
    var type_v: String?
    var n_threads: Int64?
    var n_sessions: Int
    var adapter: String?
    var stop_reason: String?
    /// When it was submitted, on the recording's clock.
    var submitted_ns: UInt64
    /// Submitted to begun, where it had to wait.
    var queued_ns: UInt64?
    var ttft_ns: UInt64?
    var ttfo_ns: UInt64?
    var tpot_ns: Double?
    var itl_ns_samples: [UInt64]
    var prompt_tokens: Int64?
    var cached_tokens: Int64
    var reasoning_tokens: Int
    var response_tokens: Int
    var output_tokens: Int
    var prefill_ts: Double?
    var decode_ts: Double?
    /// The share of the decode time in which the session waited for other threads, 0…1.
    var decode_wait_share: Double?
    var kv_bytes_used: Int64?
    var kv_bytes_allocated: Int64?
    var context_limit: Int64?
    var context_used: [String: Int64]
  }

  init(_ summary: TraceSummary) {
    requests = summary.requests.map(Row.init)
    dropped_events = summary.droppedEvents
    metadata = Dictionary(
      summary.metadata.map { ($0.key, $0.value) }, uniquingKeysWith: { _, last in last })
  }
}

extension SummaryReport.Row {
  init(_ summary: RequestSummary) {
    func last(_ counter: TraceCounter) -> Int64? { summary.counters[counter]?.last }
    request = summary.request
    test = summary.test
    turn = summary.turn
    n_depth = summary.depth
    tier = summary.tier
    reasoning = summary.reasoningLevel
    warmup = summary.isWarmup
    repetition = summary.isWarmup ? nil : summary.repetition
    model_filename = summary.modelFile
    model = summary.model
    type_k = summary.keyElement
    type_v = summary.valueElement
    n_threads = summary.threads
    n_sessions = summary.sessions
    adapter = summary.adapter
    stop_reason = summary.stopReason
    submitted_ns = summary.submittedNanoseconds
    queued_ns = summary.queuedNanoseconds
    ttft_ns = summary.ttftNanoseconds
    ttfo_ns = summary.ttfoNanoseconds
    tpot_ns = summary.tpotNanoseconds
    itl_ns_samples = summary.itlNanosecondsSamples
    prompt_tokens = summary.promptTokens
    cached_tokens = summary.cachedTokens
    reasoning_tokens = summary.reasoningTokens
    response_tokens = summary.responseTokens
    output_tokens = summary.outputTokens
    prefill_ts = summary.prefill?.tokensPerSecond
    decode_ts = summary.decode?.tokensPerSecond
    decode_wait_share = summary.decodeWaitShare
    kv_bytes_used = last(.keyValueBytesUsed)
    kv_bytes_allocated = last(.keyValueBytesAllocated)
    context_limit = summary.contextLimit
    let parts: [(String, TraceCounter)] = [
      ("instructions", .contextInstructions), ("tools", .contextTools),
      ("history", .contextHistory), ("prompt", .contextPrompt),
      ("reasoning", .contextReasoning), ("response", .contextResponse), ("total", .contextUsed),
    ]
    context_used = [:]
    // A part that never was anything is not in the recording.
    let none: Int64? = last(.contextHistory) == nil ? nil : 0
    for (name, counter) in parts { context_used[name] = last(counter) ?? none }
  }
}
