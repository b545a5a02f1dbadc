import TensorCore
import TraceCore

/// Reads the payload of a recording's file and checks all that ``RecordingFile`` demands.
struct RecordingDecoder: ~Escapable {
  private let bytes: Span<UInt8>
  private var offset: Int
  private let version: UInt32
  /// The numbers of strings and of argument sets, for the range of what refers to them.
  private var stringCount = 0
  private var setCount = 0

  @_lifetime(copy bytes)
  init(bytes: Span<UInt8>, offset: Int, version: UInt32) {
    self.bytes = bytes
    self.offset = offset
    self.version = version
  }

  mutating func recording() throws(InputError) -> Recording {
    let processID = try int32(in: "process id")
    let start = try clockSnapshot()
    let end = try clockSnapshot()
    var metadata: [Recording.Metadata] = []
    for _ in 0..<(try count(of: "metadata", bytesEach: 2)) {
      let key = try string(in: "metadata")
      metadata.append(.init(key: key, value: try string(in: "metadata")))
    }
    var strings: [String] = []
    for _ in 0..<(try count(of: "strings", bytesEach: 1)) {
      strings.append(try string(in: "strings"))
    }
    stringCount = strings.count
    var argumentSets: [[TraceArgument]] = []
    if version > 1 { argumentSets = try self.argumentSets() }
    setCount = argumentSets.count
    var tracks: [Recording.Track] = []
    var threadIDs: Set<Int32> = []
    for index in 0..<(try count(of: "tracks", bytesEach: 4)) {
      let place = "track \(index)"
      let at = offset
      var track = try self.track(in: place)
      if let thread = track.threadID, !threadIDs.insert(thread).inserted {
        throw InputError(
          place: place, offset: at, reason: "thread id \(thread) has a track already")
      }
      if version == 1, track.threadID != processID { track.threadID = nil }
      tracks.append(track)
    }
    guard offset == bytes.count else {
      throw InputError(
        place: "payload", offset: offset, reason: "\(bytes.count - offset) bytes are left over")
    }
    return Recording(
      processID: processID, start: start, end: end, metadata: metadata, strings: strings,
      argumentSets: argumentSets, tracks: tracks)
  }

  private mutating func argumentSets() throws(InputError) -> [[TraceArgument]] {
    let place = "argument sets"
    var sets: [[TraceArgument]] = []
    for _ in 0..<(try count(of: place, bytesEach: 1)) {
      var set: [TraceArgument] = []
      for _ in 0..<(try count(of: place, bytesEach: 2)) {
        let at = offset
        let (raw, value) = try argument(in: place)
        guard let key = TraceKey(rawValue: raw), key != .shared else {
          throw InputError(place: place, offset: at, reason: "a set within a set")
        }
        set.append(TraceArgument(key: key, value: value))
      }
      sets.append(set)
    }
    return sets
  }

  // MARK: Tracks and events

  private mutating func track(in place: String) throws(InputError) -> Recording.Track {
    let name = try string(in: place)
    let threadID = try threadID(in: place)
    let droppedEvents = try varint(in: place)
    let eventCount = try count(of: place, bytesEach: 2)
    var events: [TraceEvent] = []
    events.reserveCapacity(eventCount)
    var time: UInt64 = 0
    var depth = 0
    for _ in 0..<eventCount {
      let at = offset
      let event = try self.event(in: place, after: time)
      time = event.timestamp
      if event.kind == .begin { depth += 1 }
      if event.kind == .end { depth -= 1 }
      guard depth >= 0 else {
        throw InputError(place: place, offset: at, reason: "an end without a begin")
      }
      events.append(event)
    }
    guard depth == 0 else {
      throw InputError(place: place, offset: offset, reason: "\(depth) spans have no end")
    }
    return Recording.Track(
      name: name, threadID: threadID, droppedEvents: droppedEvents, events: events)
  }

  /// The thread of a track: version 1 has an id for each.
  private mutating func threadID(in place: String) throws(InputError) -> Int32? {
    guard version > 1 else { return try int32(in: place) }
    let at = offset
    let value = try varint(in: place)
    guard value > 0 else { return nil }
    let zigzag = value - 1
    guard let id = Int32(exactly: Int64(bitPattern: zigzag >> 1) ^ -Int64(bitPattern: zigzag & 1))
    else { throw InputError(place: place, offset: at, reason: "an id does not fit 32 bits") }
    return id
  }

  private mutating func event(
    in place: String, after previous: UInt64
  ) throws(InputError) -> TraceEvent {
    let at = offset
    let head = try byte(in: place)
    let argumentCount = head >> 3
    guard let kind = TraceEvent.Kind(rawValue: head & 7), argumentCount <= 3,
      kind != .counter || argumentCount == 0
    else { throw InputError(place: place, offset: at, reason: "\(head) heads no event") }
    let code = kind == .end ? 0 : try byte(in: place)
    let isKnown =
      switch kind {
      case .begin, .instant: TraceName(rawValue: code) != nil
      case .counter: TraceCounter(rawValue: code) != nil
      case .end: true
      }
    guard isKnown else {
      throw InputError(place: place, offset: at + 1, reason: "\(code) names no \(kind)")
    }
    let (time, overflow) = previous.addingReportingOverflow(try varint(in: place))
    guard !overflow else {
      throw InputError(place: place, offset: at, reason: "time does not fit 64 bits")
    }
    var event = TraceEvent(
      timestamp: time, kind: kind, code: code, argumentCount: argumentCount, key0: 0, key1: 0,
      key2: 0, value0: 0, value1: 0, value2: 0)
    if kind == .counter { event.value0 = try signed(in: place) }
    if argumentCount > 0 { (event.key0, event.value0) = try argument(in: place) }
    if argumentCount > 1 { (event.key1, event.value1) = try argument(in: place) }
    if argumentCount > 2 { (event.key2, event.value2) = try argument(in: place) }
    return event
  }

  private mutating func argument(in place: String) throws(InputError) -> (UInt8, Int64) {
    let at = offset
    let raw = try byte(in: place)
    guard let key = TraceKey(rawValue: raw) else {
      throw InputError(place: place, offset: at, reason: "\(raw) names no argument")
    }
    let value = try signed(in: place)
    guard !key.isString || (0..<Int64(stringCount)).contains(value) else {
      throw InputError(
        place: place, offset: at, reason: "string \(value) of \(stringCount) for \(key.label)")
    }
    guard key != .shared || (0..<Int64(setCount)).contains(value) else {
      throw InputError(
        place: place, offset: at, reason: "argument set \(value) of \(setCount)")
    }
    return (raw, value)
  }

  // MARK: Values

  private mutating func byte(in place: String) throws(InputError) -> UInt8 {
    guard offset < bytes.count else {
      throw InputError(place: place, offset: offset, reason: "the payload ends too early")
    }
    defer { offset += 1 }
    return bytes[offset]
  }

  private mutating func varint(in place: String) throws(InputError) -> UInt64 {
    let at = offset
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 7) {
      let next = try byte(in: place)
      // The tenth byte has room for one bit.
      guard shift < 63 || next <= 1 else { break }
      value |= UInt64(next & 0x7F) << shift
      if next < 0x80 { return value }
    }
    throw InputError(place: place, offset: at, reason: "a varint does not fit 64 bits")
  }

  private mutating func signed(in place: String) throws(InputError) -> Int64 {
    let value = try varint(in: place)
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  private mutating func int32(in place: String) throws(InputError) -> Int32 {
    let at = offset
    guard let value = Int32(exactly: try signed(in: place)) else {
      throw InputError(place: place, offset: at, reason: "an id does not fit 32 bits")
    }
    return value
  }

  /// A number of things that take `bytesEach` bytes or more each: an absurd one reserves nothing.
  private mutating func count(of place: String, bytesEach: Int) throws(InputError) -> Int {
    let at = offset
    let value = try varint(in: place)
    guard value <= (bytes.count - offset) / bytesEach else {
      throw InputError(
        place: place, offset: at, reason: "a count of \(value) does not fit the bytes that follow")
    }
    return Int(value)
  }

  private mutating func string(in place: String) throws(InputError) -> String {
    let at = offset
    let byteCount = try count(of: place, bytesEach: 1)
    var copy: [UInt8] = []
    copy.reserveCapacity(byteCount)
    for index in offset..<offset + byteCount { copy.append(bytes[index]) }
    guard let string = String(validating: copy, as: UTF8.self) else {
      throw InputError(place: place, offset: at, reason: "a string is not UTF-8")
    }
    offset += byteCount
    return string
  }

  private mutating func clockSnapshot() throws(InputError) -> ClockSnapshot {
    ClockSnapshot(
      monotonicNanoseconds: try varint(in: "clocks"),
      realtimeNanoseconds: try varint(in: "clocks"),
      boottimeNanoseconds: try varint(in: "clocks"))
  }
}
