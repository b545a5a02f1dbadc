import Foundation
import TestSupport
import Testing
import TraceCore

/// Whether the events of a track nest: no end without a begin, nothing left open, time not going
/// back.
private func isWellFormed(_ track: Recording.Track) -> Bool {
  var depth = 0
  var last: UInt64 = 0
  for event in track.events {
    guard event.timestamp >= last else { return false }
    last = event.timestamp
    switch event.kind {
    case .begin: depth += 1
    case .end: depth -= 1
    case .instant, .counter: break
    }
    guard depth >= 0 else { return false }
  }
  return depth == 0
}

@Suite struct TraceWriterTests {
  @Test func keepsWhatItIsGivenInOrder() throws {
    let recorder = TraceRecorder(eventCapacity: 16)
    let tier = recorder.intern("on-device")
    let writer = recorder.makeWriter(trackName: "session", threadID: 7)
    let begun = writer.begin(.session, .tier, tier.value, .contextLimit, 4096, .index, 2)
    let counted = writer.counter(.keyValueBytesUsed, 12_288)
    let marked = writer.instant(.route, .tier, tier.value, .request, 3)
    let ended = writer.end(.tokens, 5, .bytes, 6, .position, 7)
    let recording = recorder.finish(metadata: [.init(key: "tool", value: "test")])

    #expect(recording.metadata == [.init(key: "tool", value: "test")])
    #expect(recording.strings == ["on-device"])
    let track = try #require(recording.tracks.first)
    #expect(track.name == "session" && track.threadID == 7 && track.droppedEvents == 0)
    #expect(track.events.map(\.timestamp) == [begun, counted, marked, ended])
    #expect(track.events.map(\.kind) == [.begin, .counter, .instant, .end])
    #expect(
      track.events[0].arguments == [
        .init(key: .tier, value: 0), .init(key: .contextLimit, value: 4096),
        .init(key: .index, value: 2),
      ])
    #expect(track.events[0].name == .session && track.events[0].counter == nil)
    #expect(track.events[1].counter == .keyValueBytesUsed && track.events[1].name == nil)
    #expect(track.events[1].counterValue == 12_288 && track.events[1].arguments.isEmpty)
    #expect(track.events[2].value(of: .request) == 3 && track.events[2].value(of: .index) == nil)
    #expect(track.events[3].name == nil && track.events[3].value(of: .position) == 7)
    #expect(recording.string(track.events[0].value(of: .tier) ?? -1) == "on-device")
    #expect(recording.string(1) == nil && recording.string(-1) == nil)
    #expect(recording.start.monotonicNanoseconds <= begun)
    #expect(recording.end.monotonicNanoseconds >= ended)
  }

  @Test func internsEqualStringsOnce() {
    let recorder = TraceRecorder(eventCapacity: 0)
    let first = recorder.intern("a")
    let second = recorder.intern("b")
    #expect(recorder.intern("a") == first && first != second)
    #expect(recorder.finish().strings == ["a", "b"])
  }

  @Test func argumentsThatManyShareAreStoredOnce() {
    let recorder = TraceRecorder(eventCapacity: 8)
    let test = recorder.intern("pp512")
    let arguments = [
      TraceArgument(key: .test, value: test.value), TraceArgument(key: .turn, value: 2),
    ]
    let first = recorder.intern(arguments)
    let second = recorder.intern([arguments[1]])
    #expect(recorder.intern(arguments) == first && first != second)
    let writer = recorder.makeWriter(trackName: "")
    writer.begin(.request, .request, 7, .turn, 9, .shared, first.value)
    writer.end(.shared, 2)
    let recording = recorder.finish()
    #expect(recording.argumentSets == [arguments, [arguments[1]]])
    let events = recording.tracks[0].events
    #expect(recording.sharedArguments(of: events[0]) == arguments)
    #expect(recording.value(of: .test, in: events[0]) == test.value)
    // Its own value comes before the shared one.
    #expect(recording.value(of: .turn, in: events[0]) == 9)
    #expect(recording.value(of: .depth, in: events[0]) == nil)
    #expect(recording.sharedArguments(of: events[1]).isEmpty)
  }

  @Test func countersAreRecordedWhenTheyChange() {
    let recorder = TraceRecorder(eventCapacity: 100)
    let writer = recorder.makeWriter(trackName: "")
    var counters = TraceCounterValues(of: writer)
    counters.update(.tokens, 0)
    counters.record(.contextPrompt, 0)
    counters.update(.tokens, 3)
    counters.update(.tokens, 3)
    counters.record(.tokens, 3)
    counters.update(.contextUsed, 7)
    counters.update(.contextUsed, 0)
    counters.reset()
    let events = recorder.finish().tracks[0].events
    #expect(
      events.map(\.counter)
        == [.contextPrompt, .tokens, .tokens, .contextUsed, .contextUsed, .tokens])
    #expect(events.map(\.counterValue) == [0, 3, 3, 7, 0, 0])
  }

  /// Random calls against every small capacity, compared with a model of the rule.
  @Test(arguments: 0..<40) func aFullBufferDropsWholeSpans(capacity: Int) {
    let seed = UInt64(capacity) + 1000
    var random = SeededGenerator(seed: seed)
    let recorder = TraceRecorder(eventCapacity: capacity)
    let writer = recorder.makeWriter(trackName: "")
    var depth = 0
    var made = 0
    for _ in 0..<200 {
      switch Int.random(in: 0..<6, using: &random) {
      case 0:
        writer.begin(.token)
        depth += 1
        made += 1
      case 1:
        writer.begin(.layer, .index, 1)
        depth += 1
        made += 1
      case 2, 3:
        guard depth > 0 else { continue }
        writer.end()
        depth -= 1
        made += 1
      case 4:
        writer.counter(.tokens, 1)
        made += 1
      default:
        writer.instant(.sample)
        made += 1
      }
    }
    // `finish` ends what is open; spans below the deepest level count their begin only.
    let open = min(depth, TraceWriter.maximumDepth)
    let track = recorder.finish().tracks[0]
    #expect(isWellFormed(track), "capacity \(capacity), seed \(seed)")
    #expect(track.events.count <= capacity)
    #expect(
      track.events.count + Int(track.droppedEvents) == made + open,
      "capacity \(capacity), seed \(seed)")
  }

  @Test func detailsLeaveTheLastQuarterToTokens() {
    let recorder = TraceRecorder(eventCapacity: 400)
    let writer = recorder.makeWriter(trackName: "")
    for _ in 0..<50 {
      writer.begin(.token)
      for _ in 0..<10 {
        writer.begin(.layer)
        writer.end()
      }
      writer.end()
    }
    let track = recorder.finish().tracks[0]
    #expect(isWellFormed(track))
    #expect(track.events.count { $0.name == .token } == 50)
    #expect(track.events.count { $0.name == .layer } > 100)
    #expect(track.droppedEvents > 0)
  }

  @Test func nestingBelowTheDeepestLevelIsDropped() {
    let recorder = TraceRecorder(eventCapacity: 1000)
    let writer = recorder.makeWriter(trackName: "")
    let depth = TraceWriter.maximumDepth + 6
    for _ in 0..<depth { writer.begin(.request) }
    for _ in 0..<depth { writer.end() }
    writer.begin(.session)
    writer.end()
    let track = recorder.finish().tracks[0]
    #expect(isWellFormed(track))
    #expect(track.events.count == 2 * TraceWriter.maximumDepth + 2)
    #expect(track.droppedEvents == 12)
  }

  @Test func finishEndsOpenSpansAndLaterCallsAreDropped() {
    let recorder = TraceRecorder(eventCapacity: 100)
    let writer = recorder.makeWriter(trackName: "")
    writer.begin(.session)
    writer.begin(.request)
    let recording = recorder.finish()
    #expect(recording.tracks[0].events.map(\.kind) == [.begin, .begin, .end, .end])
    writer.begin(.request)
    writer.end()
    #expect(writer.droppedEvents == 2)
    #expect(recorder.finish().tracks[0].events.isEmpty)
  }

  @Test func aDiscardingWriterStillTellsTheTime() {
    let writer = TraceWriter.discarding()
    let begun = writer.begin(.request)
    let ended = writer.end()
    #expect(begun > 0 && ended >= begun)
    #expect(writer.droppedEvents == 2)
  }

  @Test func writersOfSeveralThreadsKeepApart() async {
    let recorder = TraceRecorder(eventCapacity: 1000)
    let writers = (0..<4).map { recorder.makeWriter(trackName: "worker \($0)") }
    await withTaskGroup { group in
      for (index, writer) in writers.enumerated() {
        group.addTask {
          for call in 0..<100 { writer.counter(.tokens, Int64(index * 1000 + call)) }
        }
      }
    }
    let tracks = recorder.finish().tracks
    #expect(tracks.map(\.name) == (0..<4).map { "worker \($0)" })
    // None is said to be a thread's.
    #expect(tracks.allSatisfy { $0.threadID == nil })
    for (index, track) in tracks.enumerated() {
      #expect(track.events.map(\.counterValue) == (0..<100).map { Int64(index * 1000 + $0) })
    }
  }

  @Test func theOverheadIsPlausible() {
    let overhead = TraceRecorder.measureOverhead(batches: 9, eventsPerBatch: 512)
    #expect(overhead.minimumNanosecondsPerEvent > 0)
    #expect(overhead.medianNanosecondsPerEvent >= overhead.minimumNanosecondsPerEvent)
    #expect(overhead.share(ofEvents: 10, in: 0) == 0)
    print("recording: \(overhead)")
  }
}

@Suite struct TraceVocabularyTests {
  /// Raw values are in files: a change of one is a change of the format.
  @Test func rawValuesAreStable() {
    #expect(
      TraceName.allCases.map(\.rawValue)
        == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 17, 18, 19, 20, 21, 22, 23, 24]
        + [64, 65, 66, 67, 68, 69, 70, 71])
    #expect(TraceKey.allCases.map(\.rawValue) == Array(1...17) + Array(64...76))
    #expect(TraceCounter.allCases.map(\.rawValue) == Array(1...11))
    #expect(TraceEvent.Kind.allCases.map(\.rawValue) == [1, 2, 3, 4])
    #expect(MemoryLayout<TraceEvent>.stride == 40)
  }

  /// What is not reserved is recorded somewhere, and what is reserved nowhere.
  @Test func reservedWordsAreThoseThatNothingRecords() throws {
    let folder = Repository.file("Sources")
    let paths = try #require(FileManager.default.enumerator(atPath: folder.path))
    var source = ""
    var tracing = ""
    for case let path as String in paths where path.hasSuffix(".swift") {
      // The two that define and read the words.
      if path.hasPrefix("TraceCore/") || path.hasPrefix("TraceExport/") { continue }
      let text = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
      source += text
      if text.contains("import TraceCore") { tracing += text }
    }
    for name in TraceName.allCases {
      // Recorded by a call, as an event of its own, or by a stage of loading.
      let pattern = try Regex(
        "(?:begin\\(|instant\\(|begin, |case \\.\\w+: )\\s*\\.\(name.label)\\b")
      #expect(source.contains(pattern) == !name.isReserved, "\(name)")
    }
    for key in TraceKey.allCases {
      let pattern = try Regex("(?:[(,]|key:|= )\\s*\\.\(key.label),")
      #expect(tracing.contains(pattern) == !key.isReserved, "\(key)")
    }
  }

  @Test func labelsDiffer() {
    #expect(Set(TraceName.allCases.map(\.label)).count == TraceName.allCases.count)
    #expect(Set(TraceKey.allCases.map(\.label)).count == TraceKey.allCases.count)
    #expect(Set(TraceCounter.allCases.map(\.label)).count == TraceCounter.allCases.count)
    #expect(TraceName.feedForward.label == "feedForward" && TraceName.feedForward.isDetail)
  }
}
