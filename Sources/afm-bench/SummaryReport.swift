import Foundation
import TraceCore
import TraceExport

/// A trace's summary as JSON and as a table; names and units are those of `run --json`.
struct SummaryReport: Encodable {
  var requests: [Row]
  var dropped_events: UInt64
  var metadata: [String: String]

  /// One request.
  struct Row: Encodable {
    var request: Int64?
    var repetition: Int64?
    var model: String?
    var tier: String?
    var reasoning: String?
    var sessions: Int
    var stop_reason: String?
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

  /// One line a request.
  var text: String {
    func milliseconds(_ value: Double?) -> String {
      value.map { String(format: "%.2f", $0 / 1e6) } ?? "–"
    }
    func rate(_ value: Double?) -> String { value.map { String(format: "%.1f", $0) } ?? "–" }
    let header = [
      "request", "rep", "tier", "reasoning", "sessions", "TTFT ms", "TTFO ms", "TPOT ms", "prompt",
      "cached",
      "reasoning", "response", "prefill t/s", "decode t/s", "waited", "KV used", "context",
    ]
    var lines = [header]
    for row in requests {
      lines.append([
        row.request.map(String.init) ?? "–", row.repetition.map(String.init) ?? "–",
        row.tier ?? "–", row.reasoning ?? "–", String(row.sessions),
        milliseconds(row.ttft_ns.map { Double($0) }),
        milliseconds(row.ttfo_ns.map { Double($0) }),
        milliseconds(row.tpot_ns), row.prompt_tokens.map(String.init) ?? "–",
        String(row.cached_tokens), String(row.reasoning_tokens), String(row.response_tokens),
        rate(row.prefill_ts), rate(row.decode_ts),
        row.decode_wait_share.map { String(format: "%.1f %%", 100 * $0) } ?? "–",
        row.kv_bytes_used.map { String(format: "%.2f MiB", Double($0) / 1_048_576) } ?? "–",
        row.context_used["total"].map(String.init) ?? "–",
      ])
    }
    let widths = header.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
    var text = lines.map { line in
      zip(line, widths).map { cell, width in
        String(repeating: " ", count: width - cell.count) + cell
      }.joined(separator: "  ")
    }.joined(separator: "\n")
    if dropped_events > 0 { text += "\n\(dropped_events) events were dropped: counts may be low" }
    return text
  }
}

extension SummaryReport.Row {
  init(_ summary: RequestSummary) {
    func last(_ counter: TraceCounter) -> Int64? { summary.counters[counter]?.last }
    request = summary.request
    repetition = summary.repetition
    model = summary.model
    tier = summary.tier
    reasoning = summary.reasoningLevel
    sessions = summary.sessions
    stop_reason = summary.stopReason
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
    for (name, counter) in parts { context_used[name] = last(counter) }
  }
}
