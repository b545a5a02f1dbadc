import TraceCore

/// Recorded requests laid out on tracks: each from its arrival on, and no two of a track at the same
/// time.
struct RequestLanes {
  private var requests: [[TraceEvent]] = []
  /// Events of requests that were not recorded.
  private(set) var droppedEvents = 0
  /// Events that may still be taken.
  private var room: Int

  /// Takes at most so many events, of 40 bytes each.
  init(eventLimit: Int) { room = eventLimit }

  /// A buffer for a request that records so many events at most; one that keeps nothing where there
  /// is no more room.
  mutating func makeWriter(eventCapacity: Int) -> TraceWriter {
    guard eventCapacity <= room else { return .discarding() }
    room -= eventCapacity
    return TraceWriter(trackName: "", eventCapacity: eventCapacity)
  }

  /// Takes a request that is over. Its span begins when it was begun: from here on it begins at its
  /// arrival, with the time in between as a span of its own.
  mutating func add(_ writer: TraceWriter, arrival: UInt64) {
    let track = writer.takeTrack()
    droppedEvents += Int(clamping: track.droppedEvents)
    guard var begin = track.events.first else { return }
    let begun = begin.timestamp
    begin.timestamp = arrival
    let queued = [
      TraceEvent(.begin, .queued, at: arrival), TraceEvent(.end, nil, at: begun),
    ]
    requests.append([begin] + queued + track.events.dropFirst())
  }

  /// Takes a request that was never begun: its span alone.
  mutating func add(refused writer: TraceWriter, arrival: UInt64) {
    let track = writer.takeTrack()
    droppedEvents += Int(clamping: track.droppedEvents)
    guard var begin = track.events.first else { return }
    begin.timestamp = arrival
    requests.append([begin] + track.events.dropFirst())
  }

  /// The tracks, as few as there can be. O(requests · log requests + events).
  func tracks(named name: (_ index: Int) -> String) -> [Recording.Track] {
    let byBegin = requests.indices.sorted { begin(of: $0) < begin(of: $1) }
    let byEnd = requests.indices.sorted { end(of: $0) < end(of: $1) }
    var lanes: [[TraceEvent]] = []
    var laneOfRequest = [Int](repeating: 0, count: requests.count)
    var free: [Int] = []
    var ended = 0
    for request in byBegin {
      // A request that has ended by now began before, so that it has a lane.
      while ended < byEnd.count, end(of: byEnd[ended]) < begin(of: request) {
        free.append(laneOfRequest[byEnd[ended]])
        ended += 1
      }
      let lane = free.popLast() ?? lanes.count
      if lane == lanes.count { lanes.append([]) }
      laneOfRequest[request] = lane
      lanes[lane] += requests[request]
    }
    if lanes.isEmpty, droppedEvents > 0 { lanes.append([]) }
    return lanes.enumerated().map { index, events in
      Recording.Track(
        name: name(index), droppedEvents: index == 0 ? UInt64(droppedEvents) : 0, events: events)
    }
  }

  private func begin(of request: Int) -> UInt64 { requests[request][0].timestamp }

  /// Its last event: counters are set back behind the end of its span.
  private func end(of request: Int) -> UInt64 {
    requests[request][requests[request].count - 1].timestamp
  }
}

extension TraceEvent {
  /// An event without arguments; an end has no name.
  fileprivate init(_ kind: Kind, _ name: TraceName?, at time: UInt64) {
    self.init(
      timestamp: time, kind: kind, code: name?.rawValue ?? 0, argumentCount: 0, key0: 0, key1: 0,
      key2: 0, value0: 0, value1: 0, value2: 0)
  }
}
