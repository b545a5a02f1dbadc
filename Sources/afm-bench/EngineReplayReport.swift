import BenchCore
import EngineInterface
import Foundation
import Report
import Workloads

/// What `replay` prints.
struct EngineReplayReport: Encodable {
  struct Request: Encodable {
    var request: Int
    var input_tokens: Int
    var output_tokens: Int
    var cached_tokens: Int
    var prefill_tokens: Int
    var arrived_ns: Int64
    /// Arrived to begun.
    var waited_ns: Int64
    /// Arrived to first token; null without tokens.
    var ttft_ns: Int64?
    /// (Ended − first token) / (tokens − 1); null below two tokens.
    var tpot_ns: Double?
    var ended_ns: Int64
    var error: String?
  }

  var workload: String
  var model_type: String
  var n_threads: Int
  var time_scale = 1.0
  var shortened_by = 1
  var page_positions = 64
  var served: Int
  var refused: Int
  var seconds: Double
  var steps: Int
  /// Prompt positions and answer tokens of all steps over their number.
  var rows_per_step: Double
  var prompt_positions: Int
  /// Prompt positions that were in the cache, and those that were run.
  var hit_positions: Int
  var prefill_positions: Int
  var answer_tokens: Int
  var answer_tokens_per_second: Double
  var kv_budget_bytes: Int
  var kv_peak_bytes_allocated: Int
  var kv_peak_bytes_held: Int
  var kv_peak_bytes_shared: Int
  var ttft_ns_p50: Double?
  var ttft_ns_p90: Double?
  var tpot_ns_p50: Double?
  /// Why a percentile is missing.
  var percentile_refusal: String?
  /// Events that the recording had no room for.
  var dropped_events = 0
  var requests: [Request]

  init(_ outcome: EngineReplay.Outcome, workload: Workload, facts: EngineFacts) {
    let served = outcome.requests.filter { $0.refusal == nil }
    requests = outcome.requests.map(Request.init)
    self.workload = workload.name
    model_type = facts.modelType
    n_threads = facts.threadCount
    self.served = served.count
    refused = outcome.requests.count - served.count
    seconds = Double(outcome.nanoseconds) / 1e9
    steps = outcome.stepCount
    rows_per_step =
      outcome.stepCount > 0 ? Double(outcome.rowCount) / Double(outcome.stepCount) : 0
    prompt_positions = served.reduce(0) { $0 + $1.inputCount }
    hit_positions = served.reduce(0) { $0 + $1.hitPositions }
    prefill_positions = served.reduce(0) { $0 + $1.prefillPositions }
    answer_tokens = served.reduce(0) { $0 + $1.outputCount }
    answer_tokens_per_second = seconds > 0 ? Double(answer_tokens) / seconds : 0
    dropped_events = outcome.droppedEvents
    kv_budget_bytes = outcome.budgetBytes
    kv_peak_bytes_allocated = outcome.peakAllocatedBytes
    kv_peak_bytes_held = outcome.peakHeldBytes
    kv_peak_bytes_shared = outcome.peakSharedBytes
    let ttft = requests.compactMap { $0.ttft_ns.map { Double($0) } }
    ttft_ns_p50 = Statistics.median(ttft)
    let p90 = Statistics.percentile(0.9, ofClusters: ttft.map { [$0] })
    ttft_ns_p90 = p90.value
    percentile_refusal = p90.refusal.map { "TTFT P90: \($0)" }
    tpot_ns_p50 = Statistics.median(requests.compactMap(\.tpot_ns))
  }

  /// Throws where an account is wrong, or nothing was served.
  func check() throws {
    guard hit_positions + prefill_positions == prompt_positions else {
      throw CommandFailure(
        .checkFailed,
        "\(hit_positions) cached and \(prefill_positions) computed positions are not "
          + "\(prompt_positions) of prompts")
    }
    guard kv_peak_bytes_allocated <= kv_budget_bytes else {
      throw CommandFailure(
        .checkFailed, "\(kv_peak_bytes_allocated) bytes under a budget of \(kv_budget_bytes)")
    }
    if served == 0, let error = requests.first?.error { throw CommandFailure(.badInput, error) }
  }

  /// Which requests were refused and why, in the order of the trace; the first few of many.
  private var refusalLines: [String] {
    let refused = requests.filter { $0.error != nil }.sorted { $0.request < $1.request }
    let shown = 10
    var lines = refused.prefix(shown).map {
      "request \($0.request) is refused: \($0.error ?? "") "
        + "(\($0.input_tokens) + \($0.output_tokens) tokens)"
    }
    if refused.count > shown {
      lines.append("\(refused.count - shown) more refused: --json names them")
    }
    return lines
  }

  var text: String {
    func milliseconds(_ value: Double?) -> String {
      value.map { String(format: "%.1f", $0 / 1e6) } ?? "–"
    }
    func mebibytes(_ bytes: Int) -> String { String(format: "%.1f", Double(bytes) / 0x1p20) }
    let waits = requests.filter { $0.error == nil }.map { Double($0.waited_ns) }
    var table = TextTable([.init("figure", .left), .init("value")])
    let hits = 100 * Double(hit_positions) / Double(max(prompt_positions, 1))
    for (figure, value) in [
      ("requests served", served.grouped), ("requests refused", refused.grouped),
      ("prompt positions", prompt_positions.grouped),
      ("in the cache", String(format: "%.1f %%", hits)),
      ("computed", prefill_positions.grouped), ("answer tokens", answer_tokens.grouped),
      ("answer tokens/s", String(format: "%.1f", answer_tokens_per_second)),
      ("rows/step", String(format: "%.1f", rows_per_step)),
      ("waited P50 ms", milliseconds(Statistics.median(waits))),
      ("TTFT P50 ms", milliseconds(ttft_ns_p50)), ("TTFT P90 ms", milliseconds(ttft_ns_p90)),
      ("TPOT P50 ms", milliseconds(tpot_ns_p50)),
      ("KV MiB held at most", mebibytes(kv_peak_bytes_held)),
      ("KV MiB shared at most", mebibytes(kv_peak_bytes_shared)),
      ("KV MiB allocated at most", mebibytes(kv_peak_bytes_allocated)),
      ("KV MiB of the budget", mebibytes(kv_budget_bytes)),
    ] {
      table.append([figure, value])
    }
    var refusal = percentile_refusal.map { "\n\($0)" } ?? ""
    if dropped_events > 0 {
      refusal += "\n\(dropped_events) events are missing from the recording: it had no room"
    }
    let refusals = refusalLines.map { "\n\($0)" }.joined()
    return """
      \(workload) on \(model_type), \(n_threads) threads: \(String(format: "%.1f", seconds)) s, \
      \(steps) steps

      \(table.text)\(refusal)\(refusals)
      """
  }
}

extension EngineReplayReport.Request {
  init(_ served: EngineReplay.Served) {
    request = served.number
    input_tokens = served.inputCount
    output_tokens = served.outputCount
    cached_tokens = served.hitPositions
    prefill_tokens = served.prefillPositions
    arrived_ns = served.arrivedNanoseconds
    waited_ns = served.begunNanoseconds - served.arrivedNanoseconds
    ended_ns = served.endedNanoseconds
    error = served.refusal
    guard let first = served.firstTokenNanoseconds else { return }
    ttft_ns = first - served.arrivedNanoseconds
    guard served.outputCount > 1 else { return }
    tpot_ns = Double(served.endedNanoseconds - first) / Double(served.outputCount - 1)
  }
}
