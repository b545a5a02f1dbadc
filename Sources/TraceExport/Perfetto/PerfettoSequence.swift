import TraceCore

/// The packets of one writer: a sequence id of its own, names interned at their first use.
struct PerfettoSequence {
  private typealias Field = PerfettoField

  /// Track ids a writer may use: its thread's, and one for each counter.
  static let tracksPerWriter = UInt64(UInt8.max) + 1

  private let id: UInt64
  private let processID: Int32
  private let processTrack: UInt64
  private let firstTrack: UInt64
  private let rank: Int64
  private let track: Recording.Track
  private let argumentSets: [[TraceArgument]]
  private var interning: PerfettoInterning

  /// The sequence of the `index`-th track of a recording, under the process's track.
  init(index: Int, of recording: Recording, processTrack: UInt64) {
    // The first one is the process's own.
    id = UInt64(index) + 2
    rank = Int64(index)
    processID = recording.processID
    self.processTrack = processTrack
    firstTrack = processTrack + 1 + UInt64(index) * Self.tracksPerWriter
    track = recording.tracks[index]
    argumentSets = recording.argumentSets
    interning = PerfettoInterning(strings: recording.strings)
  }

  // MARK: Tracks

  /// Writes the writer's track, with the packet that starts the sequence, and below it the counters'
  /// tracks. The track is a thread's where the recording names one; any other is a track of its own
  /// name.
  func appendDescriptors(to encoder: inout ProtobufEncoder) {
    encoder.append(message: Field.Trace.packet) { packet in
      packet.append(Field.TracePacket.sequenceID, id)
      packet.append(
        Field.TracePacket.sequenceFlags, Field.SequenceFlags.incrementalStateCleared)
      packet.appendDefaults(track: firstTrack)
      packet.append(message: Field.TracePacket.trackDescriptor) { descriptor in
        descriptor.append(Field.TrackDescriptor.uuid, firstTrack)
        if let threadID = track.threadID {
          descriptor.append(message: Field.TrackDescriptor.thread) { thread in
            thread.append(Field.ThreadDescriptor.pid, signed: Int64(processID))
            thread.append(Field.ThreadDescriptor.tid, signed: Int64(threadID))
            thread.append(Field.ThreadDescriptor.name, track.name)
          }
        } else {
          descriptor.append(Field.TrackDescriptor.name, track.name)
        }
        descriptor.append(Field.TrackDescriptor.parentUUID, processTrack)
        descriptor.append(Field.TrackDescriptor.childOrdering, Field.ChildOrdering.explicit)
        descriptor.append(Field.TrackDescriptor.siblingOrderRank, signed: rank)
        descriptor.append(
          Field.TrackDescriptor.siblingMergeBehavior, Field.SiblingMergeBehavior.none)
      }
    }
    let used = Set(track.events.compactMap(\.counter))
    for counter in TraceCounter.allCases where used.contains(counter) {
      appendDescriptor(of: counter, to: &encoder)
    }
  }

  private func appendDescriptor(of counter: TraceCounter, to encoder: inout ProtobufEncoder) {
    encoder.append(message: Field.Trace.packet) { packet in
      packet.append(Field.TracePacket.sequenceID, id)
      packet.append(message: Field.TracePacket.trackDescriptor) { descriptor in
        descriptor.append(Field.TrackDescriptor.uuid, trackID(of: counter.rawValue))
        descriptor.append(Field.TrackDescriptor.name, counter.label)
        descriptor.append(Field.TrackDescriptor.parentUUID, firstTrack)
        descriptor.append(message: Field.TrackDescriptor.counter) { description in
          switch counter.unit {
          case .bytes:
            description.append(Field.CounterDescriptor.unit, Field.CounterUnit.bytes)
          case .nanoseconds:
            description.append(Field.CounterDescriptor.unit, Field.CounterUnit.nanoseconds)
          // The unit's name is shown where there is no unit of the enumeration.
          case .positions, .tokens:
            description.append(Field.CounterDescriptor.unitName, counter.unit.rawValue)
          }
        }
        descriptor.append(
          Field.TrackDescriptor.siblingOrderRank, signed: Int64(counter.rawValue))
      }
    }
  }

  private func trackID(of counter: UInt8) -> UInt64 { firstTrack + UInt64(counter) }

  // MARK: Events

  /// Writes the packet of an event of the track.
  mutating func append(_ event: TraceEvent, to encoder: inout ProtobufEncoder) {
    encoder.append(message: Field.Trace.packet) { packet in
      packet.append(Field.TracePacket.timestamp, event.timestamp)
      packet.append(Field.TracePacket.sequenceID, id)
      packet.append(message: Field.TracePacket.trackEvent) { appendTrackEvent(event, to: &$0) }
      if interning.hasDefinitions {
        packet.append(message: Field.TracePacket.internedData) {
          interning.appendDefinitions(to: &$0)
        }
      }
      packet.append(Field.TracePacket.sequenceFlags, Field.SequenceFlags.needsIncrementalState)
    }
  }

  private mutating func appendTrackEvent(
    _ event: TraceEvent, to encoder: inout ProtobufEncoder
  ) {
    let name = event.name
    if let name {
      encoder.append(Field.TrackEvent.categoryIIDs, interning.category(TraceCategory(name)))
    }
    if event.argumentCount > 0 { annotate(event.key0, event.value0, &encoder) }
    if event.argumentCount > 1 { annotate(event.key1, event.value1, &encoder) }
    if event.argumentCount > 2 { annotate(event.key2, event.value2, &encoder) }
    encoder.append(Field.TrackEvent.type, Self.type(of: event.kind))
    if let name {
      let kernel = name == .kernel ? event.value(of: .kernel) : nil
      let iid = kernel.flatMap { interning.kernel($0) }
      encoder.append(Field.TrackEvent.nameIID, iid ?? interning.name(name))
    }
    if event.kind == .counter {
      encoder.append(Field.TrackEvent.trackUUID, trackID(of: event.code))
      encoder.append(Field.TrackEvent.counterValue, signed: event.counterValue)
    }
  }

  private static func type(of kind: TraceEvent.Kind) -> UInt64 {
    switch kind {
    case .begin: Field.TrackEventType.sliceBegin
    case .end: Field.TrackEventType.sliceEnd
    case .instant: Field.TrackEventType.instant
    case .counter: Field.TrackEventType.counter
    }
  }

  private mutating func annotate(
    _ rawKey: UInt8, _ value: Int64, _ encoder: inout ProtobufEncoder
  ) {
    guard let key = TraceKey(rawValue: rawKey) else { return }
    if key == .shared {
      guard let index = Int(exactly: value), argumentSets.indices.contains(index) else { return }
      for argument in argumentSets[index] {
        annotate(argument.key.rawValue, argument.value, &encoder)
      }
      return
    }
    encoder.append(message: Field.TrackEvent.debugAnnotations) { annotation in
      annotation.append(Field.DebugAnnotation.nameIID, interning.key(key))
      if key == .repetition, value < 0 {
        annotation.append(Field.DebugAnnotation.stringValue, "warm-up")
      } else if key.isString, let string = interning.value(value) {
        annotation.append(Field.DebugAnnotation.stringValueIID, string)
      } else {
        annotation.append(Field.DebugAnnotation.intValue, signed: value)
      }
    }
  }
}

extension ProtobufEncoder {
  /// What holds for every packet of a sequence: the clock of its times, and the track of events that
  /// name none.
  mutating func appendDefaults(track: UInt64) {
    append(message: PerfettoField.TracePacket.defaults) { defaults in
      defaults.append(message: PerfettoField.TracePacketDefaults.trackEventDefaults) {
        $0.append(PerfettoField.TrackEventDefaults.trackUUID, track)
      }
      defaults.append(
        PerfettoField.TracePacketDefaults.timestampClockID, PerfettoField.ClockID.monotonic)
    }
  }
}
