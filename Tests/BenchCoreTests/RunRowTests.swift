import BenchCore
import EngineInterface
import Foundation
import Testing
import Tiers

@Suite struct RunRowTests {
  /// Prefill of 10 tokens in 1 ms, 2 reasoning and 3 response tokens, `gap` apart.
  private func request(gap: UInt64) -> ServedRequest {
    var request = ServedRequest()
    request.submitted = 1_000
    request.prefillBegan = 501_000
    request.prefillEnded = 1_501_000
    request.tokenTimes = (0..<5).map { 2_001_000 + gap * $0 }
    request.ended = request.tokenTimes[4]
    request.reasoningTokens = [1, 2]
    request.responseTokens = [3, 4, 5]
    request.promptTokenCount = 10
    request.promptTokens = [0x6463_6261]
    // With the marks of the reasoning segment: 15 tokens in 1.25 ms.
    request.prefilledTokenCount = 15
    request.prefillNanoseconds = 1_250_000
    request.firstSamplingNanoseconds = 100_000
    request.samplingNanoseconds = 500_000
    request.cachedPositionCount = 20
    request.context.history = 20
    request.context.prompt = 10
    request.context.reasoning = 2
    request.context.response = 2
    request.cache = SessionCacheUsage(allocated: 4_096, used: 3_400, ideal: 3_060)
    return request
  }

  @Test func estimatesOfServedRequests() {
    var row = RunRow()
    row.record((1...7).map { request(gap: $0 * 1_000_000) }, phase: .decode)
    // Four steps less 0.4 ms of choosing tokens.
    let expected: [UInt64] = (1...7).map { $0 * 4_000_000 - 400_000 }
    #expect(row.sampleNanoseconds == expected)
    #expect(row.averageNanoseconds == 15_600_000)
    let rate: Double = 4 * 1e9 / 3_600_000
    #expect(row.sampleTokensPerSecond.first == rate)
    #expect(row.ttftNanoseconds == 2_000_000)
    #expect(row.ttftInterval == Interval(low: 2_000_000, high: 2_000_000))
    #expect(row.ttfoNanoseconds == 10_000_000)
    #expect(row.tpotNanoseconds == 4_000_000)
    #expect(row.tpotSamples.count == 7)
    #expect(row.itlSamples.count == 28)
    #expect(row.itlP50Nanoseconds == 4_000_000)
    #expect(row.itlP90Nanoseconds == nil)
    #expect(row.itlRefusal == "P90: needs 64 values, has 28; P99: needs 662 values, has 28")
    #expect(row.prefillTokensPerSecond == 12_000)
    #expect(row.promptHash == "fnv1a64:fc179f83ee0724dd")
    #expect(row.prefillContextFrontier == 20)
    #expect(row.decodeTokensPerSecond == 250)
    #expect(row.decodeContextFrontier == 30)
    #expect(row.reasoningTokenCount == 2)
    #expect(row.outputTokenCount == 5)
    #expect(row.contextUsed.total == 34)
    #expect(row.cacheBytesUsed == 3_400)
    #expect(row.intervalRefusal == nil)

    // 100 bytes a position, 32 positions on average, 250 times a second, with 6,800 of weights.
    row.recordBandwidth(decodeWeightByteCount: 6_800, memoryReadBytesPerSecond: 10_000_000)
    #expect(row.memoryBandwidthUtilisation == 0.25)
  }

  @Test(arguments: [
    (MeasuredPhase.prefill, 1_000_000, 10.0), (.decode, 7_600_000, 4), (.both, 9_000_000, 14),
    (.request, 10_000_000, 5),
  ])
  func phases(phase: MeasuredPhase, nanoseconds: UInt64, tokens: Double) throws {
    let measured = try #require(request(gap: 2_000_000).measured(phase))
    #expect(measured.nanoseconds == nanoseconds)
    #expect(measured.tokensPerSecond == tokens * 1e9 / Double(nanoseconds))
  }

  @Test func nothingServedIsNothingMeasured() {
    var row = RunRow()
    row.record([], phase: .request)
    #expect(row == RunRow())
    row.record([ServedRequest()], phase: .request)
    #expect(row.averageTokensPerSecond == nil)
    #expect(row.ttftNanoseconds == nil)
    #expect(row.itlRefusal == nil)
    row.recordBandwidth(decodeWeightByteCount: 1, memoryReadBytesPerSecond: 1)
    #expect(row.memoryBandwidthUtilisation == nil)
  }

  @Test func fewSamplesSayWhyThereIsNoInterval() {
    var row = RunRow()
    row.record([request(gap: 1)], phase: .request)
    #expect(row.ttftNanoseconds == 2_000_000)
    #expect(row.ttftInterval == nil)
    #expect(row.intervalRefusal == "a 95 % interval needs 6 samples, has 1")
  }

  @Test func everyColumnIsInTheJSONInOrder() throws {
    guard case .object(let members) = try JSONValue(RunRow()) else {
      Issue.record("a row is an object")
      return
    }
    #expect(members.map(\.name).sorted() == RunRow.CodingKeys.allCases.map(\.rawValue).sorted())
    #expect(members.first { $0.name == "mbu" }?.value == .null)
    #expect(members.first { $0.name == "ttft_ns_interval" }?.value == .null)
  }

  @Test func readsBackEqual() throws {
    var row = RunRow()
    row.record((1...7).map { request(gap: $0 * 333_333) }, phase: .request)
    row.modelFilename = "dir \"x\"\\\n\u{1}\u{7F}é漢😀.afmw"
    row.turn = 2
    row.setVerdict(
      Verdict(findings: [VerdictFinding(reason: .spread, words: "spread")]))
    let text = try JSONValue(row).text
    #expect(!text.contains("\n"))
    #expect(try JSONDecoder().decode(RunRow.self, from: Data(text.utf8)) == row)
    let indented = try JSONValue([row]).indentedText
    #expect(try JSONDecoder().decode([RunRow].self, from: Data(indented.utf8)) == [row])
  }

  @Test func numbersAsJSON() {
    let value = JSONValue.array([
      .real(0.1), .real(12), .real(1e300), .real(.nan), .real(-.infinity), .unsigned(.max),
      .integer(.min), .bool(true), .real(.leastNonzeroMagnitude),
    ])
    #expect(
      value.text
        == "[0.1,12,1e+300,null,null,18446744073709551615,-9223372036854775808,true,5e-324]")
  }

  /// The values are those of an independent computation; the last is FNV-1a's of "abcd".
  @Test func promptHashes() {
    #expect(PromptHash.text(of: []) == "fnv1a64:cbf29ce484222325")
    #expect(PromptHash.text(of: [1, -1, 49_151]) == "fnv1a64:d3dc0a4f0b7adba6")
    #expect(PromptHash.text(of: [0x6463_6261]) == "fnv1a64:fc179f83ee0724dd")
  }
}
