import BenchCore

/// A result row as columns of single values, for CSV and SQL: the parts of the context get a column
/// each, other arrays stand as JSON text, and nil is an empty field or NULL.
///
///     CREATE TABLE IF NOT EXISTS afm_bench (
///       build_commit TEXT,
///       …
///     );
///     INSERT INTO afm_bench (build_commit, …) VALUES ('1f41bfe', …);
enum FlatRow {
  /// A column's name and its type in SQL.
  struct Column: Hashable {
    var name: String
    var type: ColumnType
  }

  /// SQLite's storage classes.
  enum ColumnType: String {
    case text = "TEXT"
    case integer = "INTEGER"
    case real = "REAL"
  }

  /// The table's name in SQL.
  static let tableName = "afm_bench"

  /// The parts of the context, in the order they are encoded in.
  private static let contextParts = [
    "instructions", "tools", "history", "prompt", "reasoning", "response",
  ]

  /// All columns, in order.
  static let columns: [Column] = RunRow.CodingKeys.allCases.flatMap { key -> [Column] in
    guard key != .contextUsed else {
      return contextParts.map { Column(name: "\(key.rawValue)_\($0)", type: .integer) }
    }
    return [Column(name: key.rawValue, type: key.columnType)]
  }

  /// The row's values in the order of `columns`.
  static func values(_ row: RunRow) throws -> [JSONValue] {
    guard case .object(let members) = try JSONValue(row) else { return [] }
    let named = Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first }
    return RunRow.CodingKeys.allCases.flatMap { key -> [JSONValue] in
      let value = named[key.rawValue] ?? .null
      switch value {
      case .object(let parts):
        let counts = Dictionary(parts.map { ($0.name, $0.value) }) { first, _ in first }
        return contextParts.map { counts[$0] ?? .null }
      case .array: return [.string(value.text)]
      case .bool(let flag): return [.integer(flag ? 1 : 0)]
      default: return [value]
      }
    }
  }

  /// The first line of comma-separated values (RFC 4180, with line feeds).
  static var csvHeader: String { columns.map(\.name).joined(separator: ",") + "\n" }

  /// A row as a line of them; texts are always quoted, so that an empty text and no value differ.
  static func csvLine(_ row: RunRow) throws -> String {
    try values(row).map(csvField).joined(separator: ",") + "\n"
  }

  private static func csvField(_ value: JSONValue) -> String {
    switch value {
    case .null: ""
    case .string(let text): "\"" + doubled("\"", in: text) + "\""
    default: value.text
    }
  }

  /// Statements for SQLite that make the table where it is not there.
  static var sqlHeader: String {
    let definitions = MetricDefinition.all.map { "-- \($0.name): \($0.meaning)\n" }.joined()
    let table = columns.map { "  \($0.name) \($0.type.rawValue)" }.joined(separator: ",\n")
    return definitions + "CREATE TABLE IF NOT EXISTS \(tableName) (\n\(table)\n);\n\n"
  }

  /// A statement that adds the row; run twice it adds it twice.
  static func sqlInsertion(_ row: RunRow) throws -> String {
    let names = columns.map(\.name).joined(separator: ", ")
    let values = try values(row).map(sqlValue).joined(separator: ", ")
    return "INSERT INTO \(tableName) (\(names)) VALUES (\(values));\n"
  }

  private static func sqlValue(_ value: JSONValue) -> String {
    switch value {
    case .null: "NULL"
    case .string(let text): "'" + doubled("'", in: text) + "'"
    // A real that is no number has no literal.
    case .real(let number) where !number.isFinite: "NULL"
    default: value.text
    }
  }

  /// The text with every quote twice, and without U+0000, which ends a statement for SQLite.
  private static func doubled(_ quote: Unicode.Scalar, in text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      if scalar == quote { result.unicodeScalars.append(quote) }
      result.unicodeScalars.append(scalar == "\0" ? "\u{FFFD}" : scalar)
    }
    return result
  }
}

extension RunRow.CodingKeys {
  /// The column's type. Arrays are JSON text; a flag is 0 or 1.
  var columnType: FlatRow.ColumnType {
    switch self {
    case .buildCommit, .cpuInfo, .modelFilename, .modelType, .adapter, .prefillLayers, .keyElement,
      .valueElement, .testTime,
      .sampleNanoseconds, .sampleTokensPerSecond, .test, .tier, .reasoning, .finish, .ttftInterval,
      .ttfoInterval, .tpotInterval, .intervalRefusal, .ttftSamples, .ttfoSamples, .tpotSamples,
      .itlP50Interval, .itlRefusal, .itlSamples, .contextLimitSource, .contextUsed, .instructionSet,
      .kernels, .promptHash, .verdict, .verdictReasons, .verdictWords, .standsFor, .sameAs,
      .prefillRateInterval, .decodeRateInterval, .prefillRateSamples, .decodeRateSamples, .error:
      .text
    case .buildNumber, .modelByteCount, .modelParameterCount, .batchTokens, .microBatchTokens,
      .threadCount, .mapsWeights, .sessionCount, .promptTokenCount, .generatedTokenCount, .depth,
      .averageNanoseconds, .availableCoreCount, .fileByteCount,
      .deviationNanoseconds, .turn, .tierIsModelled, .reasoningBudget, .reasoningTokenCount,
      .outputTokenCount, .prefillContextFrontier, .decodeContextFrontier, .cacheBytesAllocated,
      .cacheBytesUsed, .cacheBytesIdeal, .cacheBytesShared, .cacheBytesWasted,
      .cacheBytesPredicted, .contextLimit, .weightByteCount,
      .peakResidentByteCount,
      .warmupCount, .warmupNanoseconds:
      .integer
    case .averageTokensPerSecond, .deviationTokensPerSecond, .ttftNanoseconds, .ttfoNanoseconds,
      .tpotNanoseconds, .itlP50Nanoseconds, .itlP90Nanoseconds, .itlP99Nanoseconds,
      .prefillTokensPerSecond, .decodeTokensPerSecond, .memoryBandwidthUtilisation,
      .memoryReadBytesPerSecond, .recordingOverhead:
      .real
    }
  }
}
