import Testing
import TraceCore
import TraceExport

@Suite struct TraceSummaryTests {
  @Test func aReasoningRequestByHand() throws {
    var track = TrackBuilder()
    track.begin(.session, at: 0, [(.tier, 0), (.model, 1), (.contextLimit, 4096)])
    track.counter(.contextUsed, at: 1, 40)
    track.begin(.request, at: 1_000, [(.request, 7), (.reasoningLevel, 2), (.repetition, -1)])
    track.begin(.inference, at: 1_100)
    track.begin(.tokenize, at: 1_100)
    track.end(at: 1_300, [(.tokens, 20)])
    track.begin(.prefill, at: 1_300, [(.tokens, 15), (.position, 5), (.cachedTokens, 5)])
    track.end(at: 2_300)
    track.counter(.contextUsed, at: 2_301, 60)
    track.counter(.threadWait, at: 2_302, 400)
    track.begin(.reasoning, at: 2_310)
    track.begin(.token, at: 2_310, [(.index, 0), (.position, 20)])
    track.end(at: 2_500, [(.tokenID, 1)])
    track.counter(.threadWait, at: 2_500, 430)
    track.begin(.token, at: 2_500, [(.index, 1), (.position, 21)])
    track.begin(.layer, at: 2_600)
    track.end(at: 2_700)
    track.end(at: 3_000)
    track.end(at: 3_001)
    track.begin(.response, at: 3_001)
    track.begin(.token, at: 3_001)
    track.end(at: 3_900)
    track.begin(.token, at: 3_900)
    track.end(at: 4_500)
    track.end(at: 4_510)
    track.counter(.threadWait, at: 4_515, 630)
    track.counter(.contextUsed, at: 4_520, 58)
    track.end(at: 4_600)
    track.end(at: 5_000, [(.stopReason, 3)])
    track.end(at: 6_000)

    let summary = TraceSummary(
      recording([track], strings: ["private-cloud", "m", "light", "stop token"]))
    let request = try #require(summary.requests.first)
    #expect(summary.requests.count == 1)
    #expect(request.tier == "private-cloud" && request.model == "m")
    #expect(request.reasoningLevel == "light" && request.stopReason == "stop token")
    #expect(request.request == 7 && request.repetition == -1 && request.contextLimit == 4096)
    #expect(request.submittedNanoseconds == 1_000 && request.endToEndNanoseconds == 4_000)
    #expect(request.ttftNanoseconds == 1_500 && request.ttfoNanoseconds == 2_900)
    #expect(request.itlNanosecondsSamples == [500, 900, 600])
    #expect(request.tpotNanoseconds == Double(4_000 - 1_500) / 3)
    #expect(request.promptTokens == 20 && request.cachedTokens == 5)
    #expect(
      request.reasoningTokens == 2 && request.responseTokens == 2 && request.outputTokens == 4)
    #expect(
      request.prefill == .init(tokens: 15, nanoseconds: 1_000, contextFrontier: 5))
    #expect(request.prefill?.tokensPerSecond == 15_000_000)
    #expect(
      request.decode == .init(tokens: 3, nanoseconds: 2_000, contextFrontier: 21))
    #expect(request.decodeWaitNanoseconds == 200 && request.decodeWaitShare == 0.1)
    #expect(
      request.counters == [
        .contextUsed: .init(last: 58, maximum: 60), .threadWait: .init(last: 630, maximum: 630),
      ])
  }

  @Test func sharedArgumentsAndWaitingAreTheRequests() throws {
    let requests = TraceSummary(SyntheticRecording.joined).requests.filter { $0.test != nil }
    #expect(requests.map(\.request) == [3, 4, 5])
    #expect(requests.map(\.turn) == [1, 1, 2] && requests.allSatisfy { $0.test == "chat" })
    #expect(requests.map(\.isWarmup) == [true, false, false])
    for request in requests {
      #expect(request.modelFile == "models/a b.afmw" && request.tier == "private-cloud")
      #expect(request.reasoningLevel == "deep" && request.depth == 512 && request.threads == 2)
      #expect(request.keyElement == "f16" && request.valueElement == "s8" && request.sessions == 1)
      #expect(request.queuedNanoseconds == 70 && request.ttftNanoseconds == 105)
      // Its own value, not the one before.
      #expect(request.counters[.contextHistory]?.maximum == (request.request ?? 0) * 100)
    }
  }

  @Test func aRequestWithoutTokensHasNoTokenFigures() throws {
    var track = TrackBuilder()
    track.begin(.request, at: 10)
    track.begin(.prefill, at: 11, [(.tokens, 4)])
    track.end(at: 15)
    track.end(at: 20)
    let request = try #require(TraceSummary(recording([track])).requests.first)
    #expect(request.endToEndNanoseconds == 10 && request.promptTokens == 4)
    #expect(request.ttftNanoseconds == nil && request.ttfoNanoseconds == nil)
    #expect(request.tpotNanoseconds == nil && request.decode == nil)
    #expect(request.itlNanosecondsSamples == [] && request.tier == nil)
  }

  @Test func oneTokenHasNoGapAndOnlyReasoningNoVisibleToken() throws {
    var track = TrackBuilder()
    track.begin(.request, at: 10)
    track.begin(.reasoning, at: 11)
    track.begin(.token, at: 12)
    track.end(at: 15)
    track.end(at: 16)
    track.end(at: 20)
    let request = try #require(TraceSummary(recording([track])).requests.first)
    #expect(request.ttftNanoseconds == 5 && request.ttfoNanoseconds == nil)
    #expect(request.tpotNanoseconds == nil && request.decode == nil && request.prefill == nil)
  }

  @Test func requestsOfSeveralTracksComeInTheOrderOfTheirSubmission() {
    let tracks = (0..<3).map { index -> TrackBuilder in
      var track = TrackBuilder()
      for turn in 0..<2 {
        let time = UInt64(turn * 100 + (2 - index) * 10)
        track.begin(.request, at: time, [(.request, Int64(time))])
        track.end(at: time + 5)
      }
      return track
    }
    let summary = TraceSummary(recording(tracks))
    #expect(summary.requests.map(\.request) == [0, 10, 20, 100, 110, 120])
    #expect(summary.requests.map(\.trackName) == ["2", "1", "0", "2", "1", "0"])
  }

  /// What the caller gets from the writer and what the summary reads are the same numbers.
  @Test func figuresEqualThoseOfTheCaller() throws {
    let recorder = TraceRecorder(eventCapacity: 1000)
    let writer = recorder.makeWriter(trackName: "session")
    let submitted = writer.begin(.request)
    writer.begin(.response)
    var ends: [UInt64] = []
    for index in 0..<20 {
      writer.begin(.token, .index, Int64(index))
      ends.append(writer.end())
    }
    writer.end()
    let answered = writer.end()
    let request = try #require(TraceSummary(recorder.finish()).requests.first)
    #expect(request.ttftNanoseconds == ends[0] - submitted)
    #expect(request.endToEndNanoseconds == answered - submitted)
    #expect(request.itlNanosecondsSamples == zip(ends, ends.dropFirst()).map { $1 - $0 })
  }

  private func recording(_ tracks: [TrackBuilder], strings: [String] = []) -> Recording {
    let clock = ClockSnapshot(
      monotonicNanoseconds: 0, realtimeNanoseconds: 0, boottimeNanoseconds: 0)
    return Recording(
      processID: 1, start: clock, end: clock, metadata: [], strings: strings,
      tracks: tracks.enumerated().map { index, track in
        .init(
          name: String(index), events: track.events)
      })
  }
}
