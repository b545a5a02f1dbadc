import TensorCore

/// hyperfine's `--export-json`: `{"results":[{"command":…,"times":[seconds,…]},…]}`.
enum HyperfineResults {
  static func measurements(_ results: [Any], path: String) throws(InputError) -> Measurements {
    var rows: [MeasuredRow] = []
    var parameters: Set<String> = []
    for (index, result) in results.enumerated() {
      let reader = try RowReader(result, path: path, index: index)
      guard let command = try reader.text("command") else {
        throw reader.error("command", "missing")
      }
      guard reader.has("times") else { throw reader.error("times", "missing") }
      var fields = try reader.texts("parameters")
      parameters.formUnion(fields.keys)
      fields["command"] = command
      let failed = try reader.numbers("exit_codes").first { $0 != 0 }
      rows.append(
        MeasuredRow(
          test: command, fields: fields,
          metrics: [.init(name: "time", unit: "s", samples: try reader.numbers("times"))],
          refusal: failed.map { "a run ended with exit code \(Int($0))" }))
    }
    guard !rows.isEmpty else { throw InputError(file: path, reason: "it holds no results") }
    return Measurements(
      path: path, rows: rows, workloadFields: parameters.sorted(), subjectFields: ["command"])
  }
}
