import EngineInterface
import Testing
import Tiers
import TraceCore
import TraceExport

/// What the recording says about a request is what the request says about itself.
@Suite struct RecordingTests {
  @Test(arguments: [true, false]) func summariesEqualTheRequestsOwnFigures(
    _ knowsMarks: Bool
  ) throws {
    let engine = ScriptedEngine(.init(knowsThinkMarks: knowsMarks))
    let recorder = TraceRecorder(eventCapacity: 1 << 16)
    var options = LanguageModelSession.Options()
    options.instructions = "Be brief."
    options.recorder = recorder
    options.writer = recorder.makeWriter(trackName: "session")
    let session = try LanguageModelSession(engine: engine, tier: .privateCloud, options: options)
    var served: [(request: ServedRequest, level: ReasoningLevel, positions: Int)] = []
    var prompts: [Int64] = []
    for (index, level) in (ReasoningLevel.allCases + ReasoningLevel.allCases).enumerated() {
      session.repetition = index - 2
      var turn = LanguageModelSession.TurnOptions()
      turn.reasoning = level
      turn.maximumResponseTokens = [1, 5, 40][index % 3]
      let response = try session.respond(to: "question \(index)", options: turn)
      served.append((response.request, level, session.positionCount))
      prompts.append(Int64(response.usage.inputTokens))
    }
    #expect(throws: TierError.self) {
      try session.serve(
        TokenRequest(prompt: [65], maximumResponseTokens: 40_000, ignoresStopTokens: true))
    }
    session.close()

    let summary = TraceSummary(recorder.finish())
    #expect(summary.droppedEvents == 0)
    try #require(summary.requests.count == served.count + 1)
    #expect(summary.requests.last?.stopReason == "error")
    for (index, (found, expected)) in zip(summary.requests, served).enumerated() {
      let request = expected.request
      #expect(found.request == Int64(index) && found.repetition == Int64(index - 2))
      #expect(found.tier == "private-cloud" && found.model == "scripted")
      #expect(found.reasoningLevel == expected.level.rawValue)
      #expect(found.stopReason == request.finish.rawValue)
      #expect(found.contextLimit == 32_768)
      #expect(found.submittedNanoseconds == request.submitted)
      #expect(found.endToEndNanoseconds == request.ended - request.submitted)
      #expect(found.ttftNanoseconds == request.ttftNanoseconds)
      #expect(found.ttfoNanoseconds == request.ttfoNanoseconds)
      #expect(found.itlNanosecondsSamples == request.itlNanoseconds)
      #expect(found.tpotNanoseconds == request.tpotNanoseconds)
      #expect(found.reasoningTokens == request.reasoningTokens.count)
      #expect(found.responseTokens == request.responseTokens.count)
      #expect(found.outputTokens == request.tokenTimes.count)
      #expect(found.promptTokens == prompts[index])
      #expect(found.cachedTokens == Int64(request.cachedPositionCount))
      #expect(found.prefill?.tokens == request.prefilledTokenCount)
      #expect(found.prefill?.nanoseconds == request.prefillNanoseconds)
      #expect(found.prefill?.tokensPerSecond == request.prefillTokensPerSecond)
      #expect(found.prefill?.contextFrontier == Int64(request.cachedPositionCount))
      #expect(found.decode?.tokensPerSecond == request.decodeTokensPerSecond)
      checkCounters(found.counters.mapValues(\.last), request, positions: expected.positions)
    }
  }

  private func checkCounters(
    _ counters: [TraceCounter: Int64], _ request: ServedRequest, positions: Int
  ) {
    let context = request.context
    let parts: [TraceCounter: Int] = [
      .contextInstructions: context.instructions, .contextTools: context.tools,
      .contextHistory: context.history, .contextPrompt: context.prompt,
      .contextReasoning: context.reasoning, .contextResponse: context.response,
    ]
    for (counter, value) in parts { #expect(counters[counter] == Int64(value), "\(counter)") }
    #expect(counters[.contextUsed] == Int64(positions))
    #expect(parts.values.reduce(0, +) == positions)
    #expect(counters[.tokens] == Int64(request.tokenTimes.count))
    #expect(counters[.keyValueBytesUsed] == Int64(request.cache.used))
    #expect(counters[.keyValueBytesAllocated] == Int64(request.cache.allocated))
  }
}
