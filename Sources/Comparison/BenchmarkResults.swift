import BenchCore
import TensorCore

/// Rows of `afm-bench run` and of llama-bench, which share their names.
enum BenchmarkResults {
  /// What was asked for, in both programs' rows.
  private static let sharedWorkload = ["n_prompt", "n_gen", "n_depth", "test", "embeddings"]
  /// What was asked for besides, in rows of `afm-bench`.
  private static let ownWorkload = [
    "turn", "tier", "reasoning", "reasoning_budget", "n_sessions", "prefill_layers",
  ]
  /// What did it.
  private static let subjects = [
    "build_commit", "model_filename", "model_type", "n_threads", "type_k", "type_v", "isa", "adapter",
    "n_batch", "n_ubatch", "use_mmap", "backends", "n_gpu_layers", "flash_attn", "cpu_mask", "poll",
    "split_mode", "main_gpu", "no_kv_offload", "tensor_split", "cpu_strict",
  ]
  /// Without these in common, two times say nothing of each other.
  private static let settings = ["cpu_info", "gpu_info", "prompt_hash"]

  static func measurements(_ values: [Any], path: String) throws(InputError) -> Measurements {
    var rows: [MeasuredRow] = []
    var isOwn = true
    for (index, value) in values.enumerated() {
      let reader = try RowReader(value, path: path, index: index)
      let own = reader.has("tier")
      isOwn = isOwn && own
      rows.append(try row(reader, isOwn: own))
    }
    return Measurements(
      path: path, rows: rows, workloadFields: sharedWorkload + (isOwn ? ownWorkload : []),
      subjectFields: subjects, settingFields: settings)
  }

  private static func row(_ reader: RowReader, isOwn: Bool) throws(InputError) -> MeasuredRow {
    var fields: [String: String] = [:]
    for name in sharedWorkload + ownWorkload + subjects + settings {
      if let text = try reader.text(name) { fields[name] = text }
    }
    guard isOwn || reader.has("samples_ns") else {
      throw reader.error("samples_ns", "missing: neither a row of afm-bench run nor of llama-bench")
    }
    fields["test"] = fields["test"] ?? name(fields)
    var metrics: [MeasuredRow.Metric] = [
      .init(name: "time", unit: "ns", samples: try reader.numbers("samples_ns"))
    ]
    for (name, field) in [
      ("ttft", "ttft_ns_samples"), ("ttfo", "ttfo_ns_samples"), ("tpot", "tpot_ns_samples"),
    ] {
      metrics.append(.init(name: name, unit: "ns", samples: try reader.numbers(field)))
    }
    let error = try reader.text("error").map { "it was not measured: \($0)" }
    let invalid =
      try reader.text("verdict") == Verdict.Level.invalid.rawValue ? "its verdict is invalid" : nil
    return MeasuredRow(
      test: label(fields), fields: fields, metrics: metrics.filter { !$0.samples.isEmpty },
      refusal: error ?? invalid)
  }

  /// llama-bench's name of a test: `pp512`, `tg128`, `pp512+tg128`; the depth stands apart.
  private static func name(_ fields: [String: String]) -> String {
    let parts = [("pp", "n_prompt"), ("tg", "n_gen")].compactMap { prefix, field in
      fields[field].flatMap { $0 == "0" ? nil : prefix + $0 }
    }
    return parts.joined(separator: "+")
  }

  /// The test as a person tells it from others.
  private static func label(_ fields: [String: String]) -> String {
    var words = [fields["test"] ?? ""]
    if let turn = fields["turn"] { words.append("turn \(turn)") }
    if let depth = fields["n_depth"], depth != "0" { words.append("@ d\(depth)") }
    if let sessions = fields["n_sessions"], sessions != "1" { words.append("× \(sessions)") }
    if let tier = fields["tier"] { words.append(tier) }
    if let level = fields["reasoning"], level != "none" { words.append(level) }
    return words.joined(separator: " ")
  }
}
