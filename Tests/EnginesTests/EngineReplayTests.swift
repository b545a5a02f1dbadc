import EngineInterface
import Engines
import KVCache
import ModelFile
import PackedFormats
import TestSupport
import Testing
import TraceCore
import Workloads

/// Request traces against an engine: what the cache alone would hit is not run, and the budget holds.
@Suite struct EngineReplayTests {
  private static let page = 32

  private func engine() throws -> any Engine {
    try packing(PresetSource(.onDeviceTiny, seed: 3), .u2c) {
      try EngineLoader.load($0, options: EngineOptions(threads: 2))
    }
  }

  private func options(_ sessions: Int, budget: Int? = nil) -> EngineReplay.Options {
    var session = SessionOptions(
      contextLimit: 700, keyElement: "s8", valueElement: "s8", batchTokens: 128,
      cacheBudget: budget)
    session.pagePositions = Self.page
    var options = EngineReplay.Options(session: session)
    options.sessionLimit = sessions
    return options
  }

  /// Requests whose prompts begin like one of a few; shortened from pages of 512 to pages of 32.
  private func workload(_ count: Int) throws -> Workload {
    var generator = SeededGenerator(seed: 5)
    let requests = (0..<count).map { index in
      let input = Int.random(in: 1...9_000, using: &generator)
      let family = UInt64.random(in: 0..<3, using: &generator)
      let common = Int.random(in: 0...20, using: &generator)
      let hashes = (0..<(input + 511) / 512).map { place in
        place < common ? family * 1_000 + UInt64(place) : UInt64(10_000 + index * 100 + place)
      }
      return WorkloadRequest(
        arrivalNanoseconds: Int64(index) * 1_000_000, inputCount: input,
        outputCount: Int.random(in: 0...90, using: &generator), prefixHashes: hashes)
    }
    let whole = Workload(name: "test", requests: requests, hashPositions: 512)
    #expect(whole.shortened(by: 7) == nil)
    return try #require(whole.shortened(by: 16))
  }

  @Test func oneByOneItHitsWhatTheCacheAloneWould() throws {
    let workload = try workload(40)
    let outcome = try EngineReplay.run(workload, on: try engine(), options(1, budget: 1 << 30))
    let alone = try CacheReplay.run(
      workload,
      CacheReplay.Options(layout: ReplayLayout.onDevice2025.layout(pagePositions: Self.page)))
    #expect(outcome.requests.map(\.number) == Array(0..<40))
    #expect(alone.hitPositions > 1_000)
    #expect(outcome.requests.reduce(0) { $0 + $1.hitPositions } == alone.hitPositions)
    #expect(outcome.requests.reduce(0) { $0 + $1.prefillPositions } == alone.prefillPositions)
    // Nothing else is run: a row for each position computed, and for each token but the first, which
    // the prompt gives.
    let answers = workload.requests.reduce(0) { $0 + max($1.outputCount - 1, 0) }
    #expect(outcome.rowCount == alone.prefillPositions + answers)
  }

  @Test(arguments: [2, 5]) func togetherTheBudgetHolds(_ sessions: Int) throws {
    let engine = try engine()
    let workload = try workload(30)
    let need = { (positions: Int) throws in
      try engine.makeSessionGroup(options(1).session).predictedUsage(
        positions: [positions], sharedPositions: 0
      ).allocatedBytes
    }
    // Not enough for the longest prompts.
    let budget = try need(500)
    let outcome = try EngineReplay.run(workload, on: engine, options(sessions, budget: budget))
    #expect(outcome.requests.map(\.number).sorted() == Array(0..<30))
    #expect(outcome.peakAllocatedBytes <= budget && outcome.budgetBytes == budget)
    #expect(outcome.peakHeldBytes <= outcome.peakAllocatedBytes && outcome.peakHeldBytes > 0)
    for served in outcome.requests {
      let request = workload.requests[served.number]
      let isTooLong = try need(request.inputCount + max(request.outputCount - 1, 0)) > budget
      #expect((served.refusal != nil) == isTooLong)
      #expect(served.begunNanoseconds >= request.arrivalNanoseconds)
      guard !isTooLong else {
        #expect(served.prefillPositions == 0 && served.firstTokenNanoseconds == nil)
        continue
      }
      #expect(served.hitPositions + served.prefillPositions == request.inputCount)
      #expect(served.hitPositions % Self.page == 0)
      #expect((served.firstTokenNanoseconds == nil) == (request.outputCount == 0))
      #expect(served.endedNanoseconds >= served.firstTokenNanoseconds ?? 0)
    }
    #expect(outcome.requests.contains { $0.refusal != nil })
  }

  @Test func aContextThatIsTooSmallRefusesAndGoesOn() throws {
    let requests = [50, 701, 60].map {
      WorkloadRequest(arrivalNanoseconds: 0, inputCount: $0, outputCount: 1)
    }
    let workload = Workload(name: "test", requests: requests, hashPositions: nil)
    let outcome = try EngineReplay.run(workload, on: try engine(), options(3, budget: 1 << 28))
    let refusals = outcome.requests.sorted { $0.number < $1.number }.map(\.refusal)
    #expect(refusals[0] == nil && refusals[2] == nil)
    #expect(refusals[1] == EngineError.contextExceeded(limit: 700, need: 701).description)
    // Prompts without hashes share nothing.
    #expect(outcome.requests.allSatisfy { $0.hitPositions == 0 })
  }

  @Test func recordsASpanForEveryRequestAndToken() throws {
    let workload = try workload(6)
    let recorder = TraceRecorder(eventCapacity: 0)
    var options = options(3, budget: 1 << 28)
    options.recorder = recorder
    let outcome = try EngineReplay.run(workload, on: try engine(), options)
    let recording = recorder.finish()
    let events = recording.tracks.flatMap(\.events)
    func count(_ name: TraceName) -> Int {
      events.filter { $0.kind == .begin && $0.name == name }.count
    }
    #expect(recording.tracks.count <= 6)
    #expect(count(.request) == 6 && count(.queued) == 6 && count(.prefill) == 6)
    for track in recording.tracks {
      #expect(
        zip(track.events, track.events.dropFirst()).allSatisfy { $0.timestamp <= $1.timestamp })
      var depth = 0
      for event in track.events where event.kind == .begin || event.kind == .end {
        // One request at a time, and nothing outside of one.
        if depth == 0 { #expect(event.name == .request) }
        depth += event.kind == .begin ? 1 : -1
      }
      #expect(depth == 0)
    }
    // No more tracks than needed; one more where a request comes while another sets its counters back.
    let spans = outcome.requests.map { ($0.arrivedNanoseconds, $0.endedNanoseconds) }
    let most =
      spans.map { moment in spans.count { $0.0 <= moment.0 && moment.0 <= $0.1 } }.max() ?? 0
    #expect((most...most + 1).contains(recording.tracks.count))
    #expect(count(.token) == workload.requests.reduce(0) { $0 + $1.outputCount })
    #expect(
      events.filter { $0.kind == .begin }.count == events.filter { $0.kind == .end }.count)
    #expect(outcome.stepCount > 0 && outcome.droppedEvents == 0)
  }

  @Test func whatHasNoRoomIsDroppedWholeAndCounted() throws {
    let workload = try workload(6)
    let recorder = TraceRecorder(eventCapacity: 0)
    var options = options(3, budget: 1 << 28)
    options.recorder = recorder
    options.recordedEventLimit = 150
    let outcome = try EngineReplay.run(workload, on: try engine(), options)
    let recording = recorder.finish()
    let events = recording.tracks.flatMap(\.events)
    let recorded = events.filter { $0.kind == .begin && $0.name == .request }.count
    #expect(recorded < 6 && events.count <= 150 + 2 * recorded)
    #expect(outcome.droppedEvents > 0)
    #expect(recording.droppedEvents == UInt64(outcome.droppedEvents))
    #expect(outcome.requests.count == 6)
  }
}
