import TraceCore

/// Builds a track event by event at given times, so that tests know every nanosecond.
struct TrackBuilder {
  private(set) var events: [TraceEvent] = []

  mutating func begin(
    _ name: TraceName, at time: UInt64, _ arguments: [(TraceKey, Int64)] = []
  ) {
    append(.begin, name.rawValue, time, arguments)
  }

  mutating func end(at time: UInt64, _ arguments: [(TraceKey, Int64)] = []) {
    append(.end, 0, time, arguments)
  }

  mutating func instant(
    _ name: TraceName, at time: UInt64, _ arguments: [(TraceKey, Int64)] = []
  ) {
    append(.instant, name.rawValue, time, arguments)
  }

  mutating func counter(_ counter: TraceCounter, at time: UInt64, _ value: Int64) {
    append(.counter, counter.rawValue, time, [])
    events[events.count - 1].value0 = value
  }

  private mutating func append(
    _ kind: TraceEvent.Kind, _ code: UInt8, _ time: UInt64, _ arguments: [(TraceKey, Int64)]
  ) {
    let all = arguments.map { ($0.rawValue, $1) } + Array(repeating: (0, 0), count: 3)
    events.append(
      TraceEvent(
        timestamp: time, kind: kind, code: code, argumentCount: UInt8(arguments.count),
        key0: all[0].0, key1: all[1].0, key2: all[2].0, value0: all[0].1, value1: all[1].1,
        value2: all[2].1))
  }
}

/// Recordings with made-up times.
enum SyntheticRecording {
  static let strings = [
    "on-device", "private-cloud", "none", "deep", "smollm2", "gemv_f32_s8t_u4g32_r4_avx2",
    "stop token",
  ]
  static let epoch: UInt64 = 1_000_000_000_007
  static let layerCount = 3

  /// Two tiers, three requests, layers, kernels, a worker and counters: all that version 1 has.
  static var recording: Recording {
    var main = TrackBuilder()
    var time = epoch
    main.begin(.load, at: time, [(.bytes, 123_456_789)])
    main.end(at: time + 1_000_003)
    time += 2_000_000
    session(on: &main, &time, tier: 0, limit: 4096, requests: [(0, 2, 0, 5)])
    session(
      on: &main, &time, tier: 1, limit: 32_768, requests: [(1, 3, 4, 3), (2, 2, 0, 1)])

    var worker = TrackBuilder()
    worker.begin(.inflate, at: epoch + 11, [(.bytes, 1 << 40)])
    worker.instant(.verify, at: epoch + 17)
    worker.end(at: epoch + 999_983)
    return Recording(
      processID: 4242,
      start: clocks(epoch - 1000), end: clocks(time + 1000),
      metadata: [.init(key: "tool", value: "test"), .init(key: "isa", value: "avx2 “é”")],
      strings: strings,
      tracks: [
        .init(name: "session", threadID: 4242, droppedEvents: 0, events: main.events),
        .init(name: "worker 1", droppedEvents: 3, events: worker.events),
      ])
  }

  /// The same, and requests that share arguments, a warm-up and one that waited: what version 2 adds.
  static var joined: Recording {
    var recording = recording
    let test = Int64(recording.strings.count)
    recording.strings += ["chat", "models/a b.afmw", "f16", "s8"]
    recording.argumentSets = [1, 2].map { turn in
      [
        TraceArgument(key: .test, value: test), TraceArgument(key: .turn, value: turn),
        TraceArgument(key: .depth, value: 512), TraceArgument(key: .tier, value: 1),
        TraceArgument(key: .reasoningLevel, value: 3),
        TraceArgument(key: .modelFile, value: test + 1),
        TraceArgument(key: .keyElement, value: test + 2),
        TraceArgument(key: .valueElement, value: test + 3),
        TraceArgument(key: .threads, value: 2), TraceArgument(key: .sessions, value: 1),
      ]
    }
    var track = TrackBuilder()
    var time = epoch + 500
    for (number, repetition, set) in [(3, -1, 0), (4, 0, 0), (5, 0, 1)] as [(Int64, Int64, Int64)] {
      time += 1_000
      track.begin(
        .request, at: time, [(.request, number), (.repetition, repetition), (.shared, set)])
      track.begin(.queued, at: time)
      track.end(at: time + 70)
      track.counter(.contextHistory, at: time + 71, 100 * number)
      track.begin(.response, at: time + 80)
      for index in 0..<3 {
        track.begin(.token, at: time + 80 + UInt64(index) * 30, [(.index, Int64(index))])
        track.end(at: time + 105 + UInt64(index) * 30)
      }
      track.end(at: time + 200)
      track.end(at: time + 210, [(.stopReason, 6), (.tokens, 3)])
      track.counter(.contextHistory, at: time + 211, 0)
    }
    recording.tracks.append(
      .init(name: "private-cloud · a b.afmw, 2 threads", events: track.events))
    return recording
  }

  private static func clocks(_ monotonic: UInt64) -> ClockSnapshot {
    ClockSnapshot(
      monotonicNanoseconds: monotonic, realtimeNanoseconds: monotonic + 1_700_000_000_000_000_000,
      boottimeNanoseconds: monotonic + 33)
  }

  /// Requests are (number, reasoning level, reasoning tokens, response tokens).
  private static func session(
    on track: inout TrackBuilder, _ time: inout UInt64, tier: Int64, limit: Int64,
    requests: [(Int64, Int64, Int, Int)]
  ) {
    track.begin(.session, at: time, [(.tier, tier), (.model, 4), (.contextLimit, limit)])
    var position: Int64 = 0
    for (number, level, reasoning, response) in requests {
      time += 100
      track.begin(.request, at: time, [(.request, number), (.reasoningLevel, level)])
      time += 7
      track.begin(.inference, at: time)
      track.begin(.tokenize, at: time)
      time += 20_001
      track.end(at: time, [(.tokens, 12)])
      track.begin(
        .prefill, at: time, [(.tokens, 10), (.position, position), (.cachedTokens, 2)])
      layers(on: &track, &time, nanoseconds: 40_000)
      track.end(at: time)
      position += 12
      count(on: &track, time, position)
      var index = 0
      for (phase, tokens) in [(TraceName.reasoning, reasoning), (.response, response)]
      where tokens > 0 {
        track.begin(phase, at: time, [(.position, position)])
        for _ in 0..<tokens {
          track.begin(.token, at: time, [(.index, Int64(index)), (.position, position)])
          if index > 0 {
            layers(on: &track, &time, nanoseconds: 3_000 + UInt64(index))
            position += 1
            count(on: &track, time, position)
          }
          time += 501
          track.end(at: time, [(.tokenID, Int64(100 + index))])
          index += 1
        }
        track.end(at: time)
      }
      time += 13
      track.end(at: time)
      time += 3
      track.end(at: time, [(.stopReason, 6), (.tokens, Int64(index))])
    }
    time += 50
    track.end(at: time)
  }

  private static func count(on track: inout TrackBuilder, _ time: UInt64, _ position: Int64) {
    track.counter(.contextUsed, at: time, position)
    track.counter(.keyValueBytesUsed, at: time, position * 23_040)
    track.counter(.keyValueBytesAllocated, at: time, (position + 15) / 16 * 16 * 23_040)
  }

  private static func layers(
    on track: inout TrackBuilder, _ time: inout UInt64, nanoseconds: UInt64
  ) {
    for layer in 0..<layerCount {
      track.begin(.layer, at: time, [(.index, Int64(layer))])
      for part in [TraceName.attention, .feedForward] {
        track.begin(part, at: time)
        time += 3
        track.begin(.kernel, at: time, [(.kernel, 5), (.rows, 576), (.columns, 1536)])
        time += nanoseconds
        track.end(at: time)
        track.end(at: time)
      }
      time += 1
      track.end(at: time)
    }
  }
}
