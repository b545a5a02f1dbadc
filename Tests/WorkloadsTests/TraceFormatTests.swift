import TensorCore
import TestSupport
import Testing
import Workloads

/// The two published formats of request traces, well and badly written.
@Suite struct TraceFormatTests {
  private func read(_ text: String) throws(InputError) -> Workload {
    try Workload(Array(text.utf8), file: "trace")
  }

  @Test func commaSeparatedValuesAreRead() throws {
    let text = """
      TIMESTAMP,ContextTokens,GeneratedTokens\r
      2023-12-31 23:59:59.9799600,4808,10\r
      2024-01-01 00:00:00.0319600,3180,8\r
      2024-02-29 00:00:00,1,0\r
      2024-03-01 00:00:00.5,16777216,0\r

      """
    let workload = try read(text)
    #expect(workload.hashPositions == nil)
    let day: Int64 = 86_400_000_000_000
    #expect(
      workload.requests == [
        WorkloadRequest(arrivalNanoseconds: 0, inputCount: 4808, outputCount: 10),
        WorkloadRequest(arrivalNanoseconds: 52_000_000, inputCount: 3180, outputCount: 8),
        WorkloadRequest(
          arrivalNanoseconds: 59 * day + 20_040_000, inputCount: 1, outputCount: 0),
        WorkloadRequest(
          arrivalNanoseconds: 60 * day + 520_040_000, inputCount: 1 << 24, outputCount: 0),
      ])
  }

  /// 230 years fit 63 bits of nanoseconds, twice as many do not: nothing is clamped.
  @Test func arrivalsThatAreTooFarApartAreRefused() throws {
    let title = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
    let error = #expect(throws: InputError.self) {
      try read(title + "1970-01-01 00:00:00,1,1\n2199-12-31 00:00:00,1,1\n")
    }
    #expect(error?.place == "line 3")
    #expect(error?.reason.contains("TIMESTAMP: it arrives more than 146 years") == true)
    let century = try read(title + "1970-01-01 00:00:00,1,1\n2070-01-01 00:00:00,1,1\n")
    #expect(century.requests[1].arrivalNanoseconds == 3_155_760_000 * 1_000_000_000)
    #expect(try century.scaled(byTime: 1) == century)
    #expect(
      try century.scaled(byTime: 1.25).requests[1].arrivalNanoseconds == 3_944_700_000_000_000_000)
    let scaled = #expect(throws: InputError.self) { try century.scaled(byTime: 2) }
    #expect(scaled?.file == "trace" && scaled?.place == "request 2")
  }

  @Test func linesOfJSONAreRead() throws {
    let text = """
      {"timestamp": 3000, "input_length": 513, "output_length": 7, "hash_ids": [0, 46]}
      { "hash_ids" : [ 5 ] , "output_length":0,"input_length":512,"timestamp":4500 }
      """
    let workload = try read(text)
    #expect(workload.hashPositions == 512)
    #expect(
      workload.requests == [
        WorkloadRequest(
          arrivalNanoseconds: 0, inputCount: 513, outputCount: 7, prefixHashes: [0, 46]),
        WorkloadRequest(
          arrivalNanoseconds: 1_500_000_000, inputCount: 512, outputCount: 0, prefixHashes: [5]),
      ])
  }

  @Test func whatIsWrittenIsReadAgain() throws {
    for profile in WorkloadProfile.allCases {
      var generator = WorkloadGenerator(profile: profile, seed: 11)
      let workload = generator.workload(count: 500)
      let text =
        workload.hashPositions == nil ? workload.commaSeparatedValues : workload.jsonLines
      #expect(try read(text).requests == workload.requests)
    }
  }

  static let title = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
  static let second = "2023-11-16 18:17:03.9799600,48,10\n"
  static let object = #"{"timestamp": 3, "input_length": 5, "output_length": 7, "hash_ids": [0]}"#

  /// Text, line, and what the reason says.
  static let malformed: [(String, Int?, String)] = [
    ("", 1, "neither"), ("{", 1, "“\"” expected at column 2"), ("[]", 1, "neither"),
    ("TIMESTAMP,ContextTokens\n", 1, "neither"), (title, nil, "no request"),
    (title + "\n" + second, 2, "year: 4 digits expected at column 1"),
    (title + "2023-11-16T18:17:03,1,1\n", 2, "“ ” expected at column 11"),
    (title + "2023-13-16 18:17:03,1,1\n", 2, "no such date"),
    (title + "2023-11-16 24:17:03,1,1\n", 2, "no such date"),
    (title + second + "2023-11-16 18:17:02,1,1\n", 3, "arrives before"),
    (title + second + "2023-11-16 18:17:04,,1\n", 3, "ContextTokens: no number at column 21"),
    (title + second + "2023-11-16 18:17:04,-5,1\n", 3, "ContextTokens: no number"),
    (title + second + "2023-11-16 18:17:04,0,1\n", 3, "ContextTokens is 0"),
    (title + second + "2023-11-16 18:17:04,1,99999999999999999999\n", 3, "above 16777216"),
    (title + second + "2023-11-16 18:17:04,1,1,1\n", 3, "nothing expected after column 23"),
    (title + second + "2023-11-16 18:17:04,1", 3, "“,” expected"),
    (object + "\n\n" + object, 2, "“{” expected at column 1"),
    (object + "\nx", 2, "“{” expected"), (object + " x", 1, "nothing expected"),
    (object.replacing("3", with: "3.5"), 1, "“}” expected"),
    (object.replacing("[0]", with: "[0, 1]"), 1, "2 hash_ids for 5 positions, 1 expected"),
    (object.replacing("[0]", with: "[]"), 1, "0 hash_ids for 5 positions"),
    (object.replacing("[0]", with: "[0"), 1, "“]” expected"),
    (object.replacing("[0]", with: "[99999999999999999999]"), 1, "hash_ids above"),
    (object.replacing("\"timestamp\": 3, ", with: ""), 1, "no timestamp"),
    (object.replacing("input_length", with: "output_length"), 1, "twice"),
    (object.replacing("input_length", with: "depth"), 1, "“depth” is unknown"),
    (object.replacing("\": 5", with: "\": 0"), 1, "input_length is 0"),
    (object.replacing("\": 3", with: "\": 9223372036854775807"), 1, "timestamp above"),
    (object + "\n" + object.replacing("\": 3", with: "\": 2"), 2, "arrives before"),
    (object + "\n{\"timestamp\": 3, \"input_length", 2, "“\"” expected"),
  ]

  @Test(arguments: malformed.indices) func aBadLineIsNamed(_ index: Int) throws {
    let (text, line, reason) = Self.malformed[index]
    let error = try #require(throws: InputError.self) { try read(text) }
    #expect(error.file == "trace")
    #expect(error.place == line.map { "line \($0)" } ?? "")
    #expect(error.reason.contains(reason), "\(error)")
  }

  /// No damage traps: every prefix of good files, and 20,000 of them with a changed byte.
  @Test func damageIsAnErrorOrAnotherWorkload() throws {
    var generator = SeededGenerator(seed: 5)
    for text in [Self.title + Self.second + Self.second, Self.object + "\n" + Self.object + "\n"] {
      let bytes = Array(text.utf8)
      for end in bytes.indices { _ = try? Workload(Array(bytes[..<end]), file: "trace") }
      for _ in 0..<10_000 {
        var changed = bytes
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
          changed[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(
            in: 0...255, using: &generator)
        }
        if let workload = try? Workload(changed, file: "trace") {
          #expect(workload.requests.allSatisfy { $0.inputCount > 0 && $0.outputCount >= 0 })
        }
      }
    }
  }
}
