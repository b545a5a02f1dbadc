import TraceCore

/// Writes the payload of a recording's file; ``RecordingFile`` has the layout.
struct RecordingEncoder {
  private(set) var bytes: [UInt8] = []

  mutating func append(_ recording: Recording) {
    append(signed: Int64(recording.processID))
    append(recording.start)
    append(recording.end)
    append(UInt64(recording.metadata.count))
    for fact in recording.metadata {
      append(fact.key)
      append(fact.value)
    }
    append(UInt64(recording.strings.count))
    for string in recording.strings { append(string) }
    append(UInt64(recording.argumentSets.count))
    for set in recording.argumentSets {
      append(UInt64(set.count))
      for argument in set { append(argument.key.rawValue, argument.value) }
    }
    append(UInt64(recording.tracks.count))
    for track in recording.tracks { append(track) }
  }

  private mutating func append(_ track: Recording.Track) {
    append(track.name)
    append(track.threadID.map { Self.zigzag(Int64($0)) + 1 } ?? 0)
    append(track.droppedEvents)
    append(UInt64(track.events.count))
    var previous: UInt64 = 0
    for event in track.events {
      bytes.append(event.kind.rawValue | event.argumentCount << 3)
      if event.kind != .end { bytes.append(event.code) }
      append(event.timestamp &- previous)
      previous = event.timestamp
      if event.kind == .counter { append(signed: event.value0) }
      if event.argumentCount > 0 { append(event.key0, event.value0) }
      if event.argumentCount > 1 { append(event.key1, event.value1) }
      if event.argumentCount > 2 { append(event.key2, event.value2) }
    }
  }

  private mutating func append(_ key: UInt8, _ value: Int64) {
    bytes.append(key)
    append(signed: value)
  }

  private mutating func append(_ snapshot: ClockSnapshot) {
    append(snapshot.monotonicNanoseconds)
    append(snapshot.realtimeNanoseconds)
    append(snapshot.boottimeNanoseconds)
  }

  private mutating func append(_ string: String) {
    append(UInt64(string.utf8.count))
    bytes.append(contentsOf: string.utf8)
  }

  private mutating func append(signed value: Int64) {
    append(Self.zigzag(value))
  }

  private static func zigzag(_ value: Int64) -> UInt64 {
    UInt64(bitPattern: value << 1 ^ value >> 63)
  }

  private mutating func append(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }
}
