import Foundation

extension SummaryReport {
  /// A block for each tier of each model with what all of its requests have in common, and in it one
  /// line a request:
  ///
  ///     private-cloud · model.s8c.afmw, 2 threads, KV f16/f16
  ///       test  reasoning      rep  TTFT ms  TTFO ms  TPOT ms  in  out  prefill/s  decode/s  waited  KV MiB
  ///     chat 1       deep  warm-up    36.90  1999.12    10.31  41  145      706.6      96.9   2.1 %   12.70
  var text: String {
    var order: [String] = []
    var groups: [String: [Row]] = [:]
    for row in requests {
      if groups[row.heading] == nil { order.append(row.heading) }
      groups[row.heading, default: []].append(row)
    }
    var blocks = order.map { heading in
      ([heading] + Self.lines(groups[heading] ?? [])).filter { !$0.isEmpty }
        .joined(separator: "\n")
    }
    if requests.isEmpty { blocks.append("no requests") }
    if dropped_events > 0 {
      blocks.append("\(dropped_events) events were dropped: counts may be low")
    }
    return blocks.joined(separator: "\n\n")
  }

  private static let titles = [
    "test", "reasoning", "rep", "TTFT ms", "TTFO ms", "TPOT ms", "in", "out", "prefill/s",
    "decode/s", "waited", "KV MiB",
  ]

  private static func lines(_ rows: [Row]) -> [String] {
    let cells = [titles] + rows.map(\.cells)
    let widths = titles.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
    return cells.map { line in
      zip(line, widths).map { cell, width in
        String(repeating: " ", count: width - cell.count) + cell
      }.joined(separator: "  ")
    }
  }
}

extension SummaryReport.Row {
  /// What the requests of a block have in common; empty where the recording says none of it.
  fileprivate var heading: String {
    var parts: [String] = []
    if let file = model_filename ?? model { parts.append(file) }
    if let n_threads { parts.append("\(n_threads) \(n_threads == 1 ? "thread" : "threads")") }
    if let type_k, let type_v { parts.append("KV \(type_k)/\(type_v)") }
    if let adapter { parts.append("adapter \(adapter)") }
    return [tier, parts.isEmpty ? nil : parts.joined(separator: ", ")].compactMap(\.self)
      .joined(separator: " · ").oneLine
  }

  fileprivate var cells: [String] {
    func decimals(_ value: Double?, _ count: Int) -> String {
      value.map { String(format: "%.\(count)f", $0) } ?? "–"
    }
    func milliseconds(_ value: Double?) -> String { decimals(value.map { $0 / 1e6 }, 2) }
    return [
      name, reasoning?.oneLine ?? "–",
      warmup ? "warm-up" : repetition.map { "\($0)" } ?? request.map { "#\($0)" } ?? "–",
      milliseconds(ttft_ns.map { Double($0) }), milliseconds(ttfo_ns.map { Double($0) }),
      milliseconds(tpot_ns), prompt_tokens.map { "\($0)" } ?? "–", "\(output_tokens)",
      decimals(prefill_ts, 1), decimals(decode_ts, 1),
      decode_wait_share.map { String(format: "%.1f %%", 100 * $0) } ?? "–",
      decimals(kv_bytes_used.map { Double($0) / 1_048_576 }, 2),
    ]
  }

  /// The test with its turn, its depth and the sessions that ran together, where there are any.
  private var name: String {
    guard let test else { return "–" }
    var name = test.oneLine
    if let turn { name += " \(turn)" }
    if let n_depth, n_depth > 0 { name += " @\(n_depth)" }
    if n_sessions > 1 { name += " ×\(n_sessions)" }
    return name
  }
}

extension String {
  /// The text with spaces for control characters: a recording may come from anywhere.
  fileprivate var oneLine: String {
    var result = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}": result += " "
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
