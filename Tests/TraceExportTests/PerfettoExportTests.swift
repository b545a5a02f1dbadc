import TestSupport
import Testing
import TraceCore
import TraceExport

/// Perfetto's trace processor as the oracle: what it reads back is what was recorded.
@Suite(.needs(TraceProcessor.oracle))
struct PerfettoExportTests {
  private struct Slice: Codable, Hashable {
    var track: String
    var ts: UInt64
    var dur: UInt64
    var depth: Int
    var name: String
    var parent: String?
  }

  private struct CounterRow: Codable, Hashable {
    var name: String
    var unit: String
    var ts: UInt64
    var value: Double
  }

  private let recording = SyntheticRecording.joined
  private var trace: [UInt8] { PerfettoExport(recording).bytes() }

  /// The slices of a recording by a plain walk, instants being slices without duration.
  private func expectedSlices() -> Set<Slice> {
    var slices: Set<Slice> = []
    for track in recording.tracks {
      var open: [(name: String, begin: UInt64)] = []
      for event in track.events {
        switch event.kind {
        case .begin:
          let kernel = event.value(of: .kernel).flatMap(recording.string)
          open.append((kernel ?? event.name?.label ?? "", event.timestamp))
        case .instant:
          slices.insert(
            Slice(
              track: track.name, ts: event.timestamp, dur: 0, depth: open.count,
              name: event.name?.label ?? "", parent: open.last?.name))
        case .end:
          let (name, begin) = open.removeLast()
          slices.insert(
            Slice(
              track: track.name, ts: begin, dur: event.timestamp - begin,
              depth: open.count, name: name, parent: open.last?.name))
        case .counter: break
        }
      }
    }
    return slices
  }

  @Test func importsWithoutErrors() throws {
    struct Fault: Codable, Equatable {
      var name: String
      var value: Int64
    }
    let faults: [Fault] = try TraceProcessor.rows(
      of: "select name, value from stats where severity in ('error', 'data_loss') and value > 0",
      over: trace)
    #expect(faults == [])
  }

  @Test func everySliceIsNamedNestedAndExactToTheNanosecond() throws {
    let slices: [Slice] = try TraceProcessor.rows(
      of: """
        select coalesce(thread.name, track.name) as track, s.ts, s.dur, s.depth, s.name,
          parent.name as parent
        from slice s join track on s.track_id = track.id
        left join thread_track on s.track_id = thread_track.id left join thread using (utid)
        left join slice parent on s.parent_id = parent.id
        where s.name != 'recording'
        """, over: trace)
    let expected = expectedSlices()
    #expect(slices.count == expected.count && expected.count > 100)
    #expect(Set(slices) == expected)
  }

  @Test func countersKeepValuesAndUnits() throws {
    let rows: [CounterRow] = try TraceProcessor.rows(
      of: """
        select track.name, track.unit, c.ts, c.value
        from counter c join counter_track track on c.track_id = track.id
        """, over: trace)
    var expected: Set<CounterRow> = []
    for event in recording.tracks.flatMap(\.events) {
      guard let counter = event.counter else { continue }
      expected.insert(
        CounterRow(
          name: counter.label, unit: counter.unit == .bytes ? "bytes" : counter.unit.rawValue,
          ts: event.timestamp, value: Double(event.counterValue)))
    }
    #expect(rows.count == expected.count && expected.count > 10)
    #expect(Set(rows) == expected)
  }

  @Test func argumentsAndFactsBecomeAnnotations() throws {
    struct Row: Codable, Equatable {
      var tier: String
      var model: String
      var limit: Int64
      var category: String
    }
    let sessions: [Row] = try TraceProcessor.rows(
      of: """
        select extract_arg(arg_set_id, 'debug.tier') as tier,
          extract_arg(arg_set_id, 'debug.model') as model,
          extract_arg(arg_set_id, 'debug.contextLimit') as 'limit', category
        from slice where name = 'session' order by ts
        """, over: trace)
    #expect(
      sessions == [
        Row(tier: "on-device", model: "smollm2", limit: 4096, category: "request"),
        Row(tier: "private-cloud", model: "smollm2", limit: 32_768, category: "request"),
      ])

    struct Facts: Codable, Equatable {
      var tool: String
      var isa: String
      var dropped: Int64
      var process: String
      var pid: Int64
    }
    let facts: [Facts] = try TraceProcessor.rows(
      of: """
        select extract_arg(s.arg_set_id, 'debug.tool') as tool,
          extract_arg(s.arg_set_id, 'debug.isa') as isa,
          extract_arg(s.arg_set_id, 'debug.dropped_events') as dropped,
          process.name as process, pid
        from slice s join process_track on s.track_id = process_track.id join process using (upid)
        where s.name = 'recording'
        """, over: trace)
    #expect(
      facts == [
        Facts(tool: "test", isa: "avx2 “é”", dropped: 3, process: "afm-bench", pid: 4242)
      ])
  }

  @Test func threadsAndClocksAreDescribed() throws {
    struct Thread: Codable, Equatable {
      var tid: Int64
      var name: String
    }
    let threads: [Thread] = try TraceProcessor.rows(
      of: "select tid, name from thread where tid != 0 order by tid", over: trace)
    // Tracks that are no thread's make none.
    #expect(threads == [Thread(tid: 4242, name: "session")])

    struct Clock: Codable, Equatable {
      var name: String
      var value: UInt64
    }
    let clocks: [Clock] = try TraceProcessor.rows(
      of: """
        select clock_name as name, clock_value as value from clock_snapshot
        order by clock_value
        """, over: trace)
    let ends = [recording.start, recording.end]
    let expected =
      ends.map { Clock(name: "MONOTONIC", value: $0.monotonicNanoseconds) }
      + ends.map { Clock(name: "BOOTTIME", value: $0.boottimeNanoseconds) }
      + ends.map { Clock(name: "REALTIME", value: $0.realtimeNanoseconds) }
    #expect(clocks.count == 6 && clocks.allSatisfy(expected.contains))
  }

  @Test func tracksAreTheProcesssAndCountersStandBelowTheirs() throws {
    struct Row: Codable, Hashable {
      var name: String
      var parent: String
    }
    let counters: [Row] = try TraceProcessor.rows(
      of: """
        select c.name, coalesce(thread.name, parent.name) as parent
        from track c left join track parent on c.parent_id = parent.id
        left join thread_counter_track t on t.id = c.id left join thread using (utid)
        where c.id in (select track_id from counter)
        """, over: trace)
    var expected: Set<Row> = []
    for track in recording.tracks {
      for counter in track.events.compactMap(\.counter) {
        expected.insert(Row(name: counter.label, parent: track.name))
      }
    }
    #expect(counters.count == expected.count && Set(counters) == expected)

    struct Name: Codable, Equatable { var name: String }
    let tracks: [Name] = try TraceProcessor.rows(
      of: """
        select distinct t.name from slice s join process_track t on s.track_id = t.id
        join process using (upid) where pid = 4242 and s.name != 'recording' order by t.name
        """, over: trace)
    #expect(tracks.map(\.name) == ["private-cloud · a b.afmw, 2 threads", "worker 1"])
  }

  @Test func aRequestsSliceSaysWhichRowItBelongsTo() throws {
    struct Row: Codable, Equatable {
      var test: String
      var turn: Int
      var depth: Int
      var modelFile: String
      var tier: String
      var reasoningLevel: String
      var repetition: String
    }
    let columns = ["test", "turn", "depth", "modelFile", "tier", "reasoningLevel"]
      .map { "extract_arg(arg_set_id, 'debug.\($0)') as \($0)" }.joined(separator: ", ")
    let rows: [Row] = try TraceProcessor.rows(
      of: """
        select \(columns), cast(extract_arg(arg_set_id, 'debug.repetition') as text) as repetition
        from slice where name = 'request' and extract_arg(arg_set_id, 'debug.test') is not null
        order by ts
        """, over: trace)
    let expected = [("warm-up", 1), ("0", 1), ("0", 2)].map { repetition, turn in
      Row(
        test: "chat", turn: turn, depth: 512, modelFile: "models/a b.afmw", tier: "private-cloud",
        reasoningLevel: "deep", repetition: repetition)
    }
    #expect(rows == expected)
  }

  @Test func countersInsideOfARequestAreItsOwn() throws {
    struct Row: Codable, Equatable {
      var request: Int64
      var value: Double
    }
    let rows: [Row] = try TraceProcessor.rows(
      of: """
        select extract_arg(s.arg_set_id, 'debug.request') as request, c.value
        from slice s join track t on t.parent_id = s.track_id
        join counter c on c.track_id = t.id and c.ts between s.ts and s.ts + s.dur
        where s.name = 'request' and t.name = 'context: history' order by s.ts
        """, over: trace)
    #expect(rows == [3, 4, 5].map { Row(request: $0, value: Double($0) * 100) })
  }

  /// Two runs in one file stay two processes with tracks of their own.
  @Test func tracesMayBeJoined() throws {
    struct Row: Codable, Equatable {
      var pid: Int64
      var slices: Int
    }
    var second = recording
    second.processID = 777
    second.tracks[0].threadID = 777
    second.start.realtimeNanoseconds += 1
    let rows: [Row] = try TraceProcessor.rows(
      of: """
        select pid, count(s.id) as slices from slice s
        left join thread_track on s.track_id = thread_track.id left join thread using (utid)
        left join process_track on s.track_id = process_track.id
        join process on process.upid = coalesce(thread.upid, process_track.upid)
        group by pid order by pid
        """, over: trace + PerfettoExport(second).bytes())
    // The instant with the facts is a slice too.
    let count = expectedSlices().count + 1
    #expect(rows == [Row(pid: 777, slices: count), Row(pid: 4242, slices: count)])
  }

  @Test func figuresBySQLEqualTheSummary() throws {
    struct Row: Codable, Equatable {
      var request: Int64
      var ttft: UInt64
      var ttfo: UInt64
      var endToEnd: UInt64
      var tokens: Int
    }
    let rows: [Row] = try TraceProcessor.rows(
      of: """
        select extract_arg(r.arg_set_id, 'debug.request') as request,
          (select min(t.ts + t.dur) from descendant_slice(r.id) t where t.name = 'token') - r.ts
            as ttft,
          (select min(t.ts + t.dur) from descendant_slice(r.id) t join slice p
            on t.parent_id = p.id where t.name = 'token' and p.name = 'response') - r.ts as ttfo,
          r.dur as endToEnd,
          (select count(*) from descendant_slice(r.id) t where t.name = 'token') as tokens
        from slice r where r.name = 'request' order by r.ts
        """, over: trace)
    let expected = try TraceSummary(recording).requests.map { summary in
      Row(
        request: try #require(summary.request), ttft: try #require(summary.ttftNanoseconds),
        ttfo: try #require(summary.ttfoNanoseconds), endToEnd: summary.endToEndNanoseconds,
        tokens: summary.outputTokens)
    }
    #expect(rows == expected && rows.count == 6)
  }
}

@Suite struct PerfettoExportShapeTests {
  @Test func chunksAreTheWholeInPieces() {
    let export = PerfettoExport(Self.long)
    var chunks: [[UInt8]] = []
    export.write { chunks.append($0) }
    #expect(chunks.count > 3)
    #expect(Array(chunks.joined()) == export.bytes())
  }

  @Test func whatTheSinkThrowsEndsTheExport() {
    struct DiskFull: Error {}
    var calls = 0
    #expect(throws: DiskFull.self) {
      try PerfettoExport(Self.long).write { _ throws(DiskFull) in
        calls += 1
        throw DiskFull()
      }
    }
    #expect(calls == 1)
  }

  private static var long: Recording {
    var track = TrackBuilder()
    for index in 0..<20_000 { track.counter(.tokens, at: UInt64(index), Int64(index)) }
    var recording = SyntheticRecording.recording
    recording.tracks = [.init(name: "", threadID: 1, events: track.events)]
    return recording
  }
}
