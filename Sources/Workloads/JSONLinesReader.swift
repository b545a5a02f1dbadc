import TensorCore

/// Reads and writes the format of the Mooncake traces, an object a line:
///
///     {"timestamp": 27000, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47, 48]}
///
/// Timestamps are milliseconds; a hash stands for 512 positions of the prompt and all before them.
struct JSONLinesReader {
  private let lines: [LineScanner]

  init(_ bytes: [UInt8], file: String) {
    lines = LineScanner.lines(bytes, file: file)
  }

  func requests() throws(InputError) -> [WorkloadRequest] {
    var requests: [WorkloadRequest] = []
    requests.reserveCapacity(lines.count)
    var first: Int64?
    for line in lines {
      var request = try Self.request(line)
      let begin = first ?? request.arrivalNanoseconds
      first = begin
      request.arrivalNanoseconds -= begin
      guard request.arrivalNanoseconds >= requests.last?.arrivalNanoseconds ?? 0 else {
        throw line.failure("arrives before the request of the line before")
      }
      guard request.arrivalNanoseconds <= WorkloadRequest.arrivalLimit else {
        throw line.failure("timestamp: it arrives \(WorkloadRequest.arrivalRule)")
      }
      requests.append(request)
    }
    return requests
  }

  private struct Fields {
    var timestamp: Int?
    var input_length: Int?
    var output_length: Int?
    var hash_ids: [UInt64]?
  }

  private static func request(_ line: LineScanner) throws(InputError) -> WorkloadRequest {
    var line = line
    let fields = try fields(&line)
    guard let time = fields.timestamp else { throw line.failure("no timestamp") }
    guard let inputs = fields.input_length else { throw line.failure("no input_length") }
    guard let outputs = fields.output_length else { throw line.failure("no output_length") }
    guard let hashes = fields.hash_ids else { throw line.failure("no hash_ids") }
    guard inputs > 0 else { throw line.failure("input_length is 0") }
    let unit = Workload.publishedHashPositions
    let needed = (inputs + unit - 1) / unit
    guard hashes.count == needed else {
      throw line.failure("\(hashes.count) hash_ids for \(inputs) positions, \(needed) expected")
    }
    return WorkloadRequest(
      arrivalNanoseconds: Int64(time) * 1_000_000, inputCount: inputs, outputCount: outputs,
      prefixHashes: hashes)
  }

  private static func fields(_ line: inout LineScanner) throws(InputError) -> Fields {
    var fields = Fields()
    let limit = WorkloadRequest.positionLimit
    line.skipSpaces()
    try line.expect("{")
    repeat {
      line.skipSpaces()
      let name = try line.quotedName()
      line.skipSpaces()
      try line.expect(":")
      line.skipSpaces()
      switch name {
      case "timestamp" where fields.timestamp == nil:
        // Nanoseconds of it fit 63 bits.
        fields.timestamp = try line.integer(name, upTo: 1 << 42)
      case "input_length" where fields.input_length == nil:
        fields.input_length = try line.integer(name, upTo: limit)
      case "output_length" where fields.output_length == nil:
        fields.output_length = try line.integer(name, upTo: limit)
      case "hash_ids" where fields.hash_ids == nil:
        fields.hash_ids = try hashes(&line)
      default: throw line.failure("the field “\(name)” is unknown or stands there twice")
      }
      line.skipSpaces()
    } while line.take(",")
    try line.expect("}")
    line.skipSpaces()
    try line.expectEnd()
    return fields
  }

  private static func hashes(_ line: inout LineScanner) throws(InputError) -> [UInt64] {
    var hashes: [UInt64] = []
    try line.expect("[")
    line.skipSpaces()
    if line.take("]") { return [] }
    repeat {
      line.skipSpaces()
      hashes.append(UInt64(try line.integer("hash_ids", upTo: 1 << 60)))
      line.skipSpaces()
    } while line.take(",")
    try line.expect("]")
    return hashes
  }
}

extension Workload {
  /// The workload as lines of JSON. It has hashes of 512 positions.
  package var jsonLines: String {
    precondition(hashPositions == Self.publishedHashPositions, "the format's hashes are of 512")
    var text = ""
    for request in requests {
      let hashes = request.prefixHashes.map(String.init).joined(separator: ", ")
      text +=
        "{\"timestamp\": \(request.arrivalNanoseconds / 1_000_000), "
        + "\"input_length\": \(request.inputCount), \"output_length\": \(request.outputCount), "
        + "\"hash_ids\": [\(hashes)]}\n"
    }
    return text
  }

  /// The workload as the comma-separated values of the Azure traces; hashes are left out.
  package var commaSeparatedValues: String {
    var text = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
    for request in requests {
      let ticks = request.arrivalNanoseconds / 100
      func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : String(value) }
      let seconds = ticks / 10_000_000
      let days = seconds / 86_400
      precondition(days < 31, "a workload of a month and more has no date here")
      let fraction = String(ticks % 10_000_000)
      text +=
        "2000-01-\(two(days + 1)) \(two(seconds / 3600 % 24)):\(two(seconds / 60 % 60))"
        + ":\(two(seconds % 60)).\(String(repeating: "0", count: 7 - fraction.count))\(fraction)"
        + ",\(request.inputCount),\(request.outputCount)\n"
    }
    return text
  }
}
