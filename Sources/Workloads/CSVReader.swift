import TensorCore

/// Reads the format of the Azure LLM inference traces of 2023:
///
///     TIMESTAMP,ContextTokens,GeneratedTokens
///     2023-11-16 18:17:03.9799600,4808,10
///
/// Times are dates in the Gregorian calendar; only their differences count.
struct CSVReader {
  private let lines: [LineScanner]
  private let file: String
  private static let title = Array("TIMESTAMP,ContextTokens,GeneratedTokens".utf8)

  init(_ bytes: [UInt8], file: String) throws(InputError) {
    var content = bytes[...]
    // A byte order mark.
    if content.starts(with: [0xEF, 0xBB, 0xBF]) { content = content.dropFirst(3) }
    let end = content.firstIndex { $0 == 0x0A || $0 == 0x0D } ?? content.endIndex
    guard content[..<end].elementsEqual(Self.title) else {
      throw InputError(
        file: file, place: "line 1",
        reason: "neither “{” nor “\(String(decoding: Self.title, as: UTF8.self))”")
    }
    lines = Array(LineScanner.lines(Array(content), file: file).dropFirst())
    self.file = file
  }

  func requests() throws(InputError) -> [WorkloadRequest] {
    var requests: [WorkloadRequest] = []
    requests.reserveCapacity(lines.count)
    var first: Int64?
    for line in lines {
      var line = line
      let time = try Self.nanoseconds(&line)
      let begin = first ?? time
      first = begin
      guard time - begin >= requests.last?.arrivalNanoseconds ?? 0 else {
        throw line.failure("arrives before the request of the line before")
      }
      guard time - begin <= WorkloadRequest.arrivalLimit else {
        throw line.failure("TIMESTAMP: it arrives \(WorkloadRequest.arrivalRule)")
      }
      try line.expect(",")
      let inputs = try line.integer("ContextTokens", upTo: WorkloadRequest.positionLimit)
      guard inputs > 0 else { throw line.failure("ContextTokens is 0") }
      try line.expect(",")
      let outputs = try line.integer("GeneratedTokens", upTo: WorkloadRequest.positionLimit)
      try line.expectEnd()
      requests.append(
        WorkloadRequest(
          arrivalNanoseconds: time - begin, inputCount: inputs, outputCount: outputs))
    }
    return requests
  }

  /// The time of `2023-11-16 18:17:03.9799600`, from a fixed day on.
  private static func nanoseconds(_ line: inout LineScanner) throws(InputError) -> Int64 {
    let year = try line.digits(4, "year")
    try line.expect("-")
    let month = try line.digits(2, "month")
    try line.expect("-")
    let day = try line.digits(2, "day")
    try line.expect(" ")
    let hour = try line.digits(2, "hour")
    try line.expect(":")
    let minute = try line.digits(2, "minute")
    try line.expect(":")
    let second = try line.digits(2, "second")
    guard (1970...2199).contains(year), (1...12).contains(month), (1...31).contains(day),
      hour < 24, minute < 60, second < 61
    else { throw line.failure("no such date or time") }
    let fraction = line.take(".") ? line.billionths() : 0
    // Days from years that begin in March, so that the leap day is a year's last.
    let shifted = month <= 2 ? year - 1 : year
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    let days =
      365 * (shifted - 1600) + (shifted - 1600) / 4 - (shifted - 1600) / 100
      + (shifted - 1600) / 400 + dayOfYear
    // Counted from about 1970, so that nanoseconds fit 63 bits.
    let seconds = (((days - 135_000) * 24 + hour) * 60 + minute) * 60 + second
    return Int64(seconds) * 1_000_000_000 + Int64(fraction)
  }
}
