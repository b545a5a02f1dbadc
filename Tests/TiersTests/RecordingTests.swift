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
    options.modelFile = "scripted.afmw"
    options.valueElement = "s8"
    let session = try LanguageModelSession(engine: engine, tier: .privateCloud, options: options)
    var served: [(request: ServedRequest, level: ReasoningLevel, positions: Int)] = []
    var prompts: [Int64] = []
    for (index, level) in (ReasoningLevel.allCases + ReasoningLevel.allCases).enumerated() {
      session.repetition = index - 2
      session.row = MeasuredRow(test: "talk", turn: index + 1, depth: 3)
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
      #expect(found.test == "talk" && found.turn == Int64(index + 1) && found.depth == 3)
      #expect(found.modelFile == "scripted.afmw" && found.isWarmup == (index < 2))
      #expect(found.keyElement == "f16" && found.valueElement == "s8" && found.sessions == 1)
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
    for (counter, value) in parts where counter != .contextTools {
      #expect(counters[counter] == Int64(value), "\(counter)")
    }
    // No tier has tools, and what is never anything is not recorded.
    #expect(counters[.contextTools] == nil && context.tools == 0)
    #expect(counters[.contextUsed] == Int64(positions))
    #expect(parts.values.reduce(0, +) == positions)
    #expect(counters[.tokens] == Int64(request.tokenTimes.count))
    #expect(counters[.keyValueBytesUsed] == Int64(request.cache.used))
    #expect(counters[.keyValueBytesAllocated] == Int64(request.cache.allocated))
  }

  /// What the counters of a track stand at after each of its events.
  private struct Standing {
    var event: TraceEvent
    var values: [TraceCounter: Int64]
  }

  private func standings(_ recording: Recording) throws -> [Standing] {
    var values: [TraceCounter: Int64] = [:]
    return try #require(recording.tracks.first).events.map { event in
      if let counter = event.counter { values[counter] = event.counterValue }
      return Standing(event: event, values: values)
    }
  }

  @Test func aCounterIsNeverTheRequestBefore() throws {
    let recorder = TraceRecorder(eventCapacity: 1 << 14)
    var options = LanguageModelSession.Options()
    options.instructions = "Be brief."
    options.recorder = recorder
    options.writer = recorder.makeWriter(trackName: "session")
    let session = try LanguageModelSession(
      engine: ScriptedEngine(.init()), tier: .privateCloud, options: options)
    // What the context holds when each request begins.
    var histories: [Int64] = []
    for round in 0..<2 {
      try session.reset()
      for index in 0..<2 {
        histories.append(Int64(session.positionCount))
        var turn = LanguageModelSession.TurnOptions()
        turn.reasoning = index == 0 ? .light : .none
        turn.maximumResponseTokens = 9
        _ = try session.respond(to: "question \(round) \(index)", options: turn)
      }
      session.rewind()
      try session.reset(preloading: [65, 66, 67])
      histories.append(3)
      _ = try session.serve(
        TokenRequest(prompt: [70, 71], maximumResponseTokens: 4, ignoresStopTokens: true))
      session.rewind()
    }
    session.close()

    let all = try standings(recorder.finish())
    var begun = 0
    for (place, standing) in all.enumerated() where standing.event.kind == .begin {
      if standing.event.name == .request {
        // Behind the begin come its own counters, before anything else.
        let rest = all[(place + 1)...]
        let first = try #require(rest.first { $0.event.kind != .counter })
        let values = first.values
        let parts: [TraceCounter] = [
          .contextInstructions, .contextHistory, .contextPrompt, .contextReasoning,
          .contextResponse,
        ]
        #expect(parts.reduce(0) { $0 + (values[$1] ?? 0) } == histories[begun], "\(begun)")
        #expect(values[.contextUsed] == histories[begun])
        #expect(values[.contextPrompt] == 0 && values[.contextReasoning] == 0)
        #expect(values[.contextResponse] == 0 && values[.tokens] == 0)
        #expect(values[.keyValueBytesUsed] == histories[begun] * 10)
        #expect(values[.threadWait] == 0)
        #expect(rest.prefix { $0.event.kind == .counter }.count >= 9)
        begun += 1
      }
      if standing.event.name == .prefill {
        let used = standing.values[.contextUsed]
        #expect(used == standing.event.value(of: .position), "\(begun)")
      }
    }
    #expect(begun == histories.count)
    // Between requests no token is on its way, and in the end nothing is held.
    var depth = 0
    for (place, standing) in all.enumerated() {
      if standing.event.kind == .begin { depth += 1 }
      if standing.event.kind == .end { depth -= 1 }
      if depth == 1, standing.event.kind == .end {
        let later = all[place...].prefix { $0.event.kind != .begin }
        #expect(later.last?.values[.tokens] == 0 && later.last?.values[.threadWait] == 0)
      }
    }
    let last = try #require(all.last)
    #expect(last.event.kind == .end && last.values.values.allSatisfy { $0 == 0 })
  }

  @Test func sessionsThatRunTogetherHaveCountersOfTheirOwn() throws {
    let recorder = TraceRecorder(eventCapacity: 1 << 12)
    var options = LanguageModelSession.Options()
    options.recorder = recorder
    options.writer = recorder.makeWriter(trackName: "sessions")
    let sessions = try BatchedSessions(
      engine: ScriptedEngine(.init()), tier: .onDevice, count: 3, contextLimit: 100,
      options: options)
    for depth in [5, 0] {
      sessions.row = MeasuredRow(test: "tg4", depth: depth)
      try sessions.reset(preloading: Array(repeating: 65, count: depth))
      _ = try sessions.serve(prompts: [[66], [67], [68]], responseTokens: 4)
      sessions.rewind()
    }
    sessions.close()
    let recording = recorder.finish()
    let requests = TraceSummary(recording).requests
    #expect(requests.map(\.depth) == [5, 0] && requests.allSatisfy { $0.sessions == 3 })
    #expect(requests.map { $0.counters[.contextHistory]?.maximum } == [5, 0])
    #expect(requests.map { $0.counters[.contextUsed]?.last } == [9, 4])
    #expect(requests.map { $0.counters[.keyValueBytesUsed]?.maximum } == [270, 120])
    #expect(requests.allSatisfy { $0.counters[.contextResponse]?.last == 3 })
    #expect(try standings(recording).last?.values.values.allSatisfy { $0 == 0 } == true)
  }
}
