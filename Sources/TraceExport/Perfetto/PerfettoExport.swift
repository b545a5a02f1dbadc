import TraceCore

/// Writes a recording as a Perfetto trace, a protobuf stream that `ui.perfetto.dev` and
/// `trace_processor` open.
///
/// What comes out, in Perfetto's words:
///
/// ```
/// process afm-bench (pid)
///   instant "recording"                       every metadata fact and the dropped events
///   on-device · model.s8c.afmw, 2 threads     a track for each writer
///     session > request > prefill > layer > attention     nested slices
///     KV bytes used                           below it a track for each counter that it set
/// ```
///
/// A writer's track is a thread's where the recording names one. Slices are named by ``TraceName``;
/// a `kernel` slice, which no part of this project records yet, carries the kernel's own name.
/// Arguments, shared ones too, are debug annotations with the names of ``TraceKey``; a repetition
/// before the first is `warm-up`.
///
/// Track ids follow from the process and the time of its start, so that the traces of several runs
/// may be joined into one file. Event times are those of
/// `CLOCK_MONOTONIC`, unchanged: it is the trace's primary clock, and two snapshots tie it to
/// `CLOCK_REALTIME` and `CLOCK_BOOTTIME`. Packets are not compressed.
public struct PerfettoExport {
  private typealias Field = PerfettoField

  /// The number of bytes collected before they are handed on.
  private static let chunkByteCount = 1 << 16
  private static let processSequence: UInt64 = 1
  private let recording: Recording
  private let processName: String

  /// An export of `recording` under the name of a process.
  public init(_ recording: Recording, processName: String = "afm-bench") {
    self.recording = recording
    self.processName = processName
  }

  /// The whole trace. O(events).
  public func bytes() -> [UInt8] {
    var all: [UInt8] = []
    write { all += $0 }
    return all
  }

  /// Hands the trace on in chunks of some 64 KiB; what `sink` throws ends the export.
  public func write<Failure: Error>(
    to sink: ([UInt8]) throws(Failure) -> Void
  ) throws(Failure) {
    var encoder = ProtobufEncoder()
    appendProcess(to: &encoder)
    for (index, track) in recording.tracks.enumerated() {
      var sequence = PerfettoSequence(index: index, of: recording, processTrack: processTrack)
      sequence.appendDescriptors(to: &encoder)
      for event in track.events {
        sequence.append(event, to: &encoder)
        if encoder.bytes.count >= Self.chunkByteCount { try sink(encoder.takeBytes()) }
      }
    }
    append(recording.end, to: &encoder)
    try sink(encoder.takeBytes())
  }

  /// The id of the process's track; those of the others follow it. 2²⁴ ids are the recording's own:
  /// the bits above tell one process and start from others, and the sum stays below 2⁵⁶, which takes
  /// eight bytes.
  private var processTrack: UInt64 {
    var hash = UInt64(UInt32(bitPattern: recording.processID))
    for time in [recording.start.monotonicNanoseconds, recording.start.realtimeNanoseconds] {
      // FNV-1a's steps over words, then the high bits.
      hash = (hash ^ time) &* 0x0000_0100_0000_01B3
      hash ^= hash >> 29
    }
    return (hash & 0xFFFF_FFFF) << 24 | 1
  }

  /// The packets that belong to the process: clocks, descriptor, and the facts about the run.
  private func appendProcess(to encoder: inout ProtobufEncoder) {
    append(recording.start, to: &encoder)
    encoder.append(message: Field.Trace.packet) { packet in
      packet.append(Field.TracePacket.sequenceID, Self.processSequence)
      packet.append(
        Field.TracePacket.sequenceFlags, Field.SequenceFlags.incrementalStateCleared)
      packet.appendDefaults(track: processTrack)
      packet.append(message: Field.TracePacket.trackDescriptor) { descriptor in
        descriptor.append(Field.TrackDescriptor.uuid, processTrack)
        descriptor.append(message: Field.TrackDescriptor.process) { process in
          process.append(Field.ProcessDescriptor.pid, signed: Int64(recording.processID))
          process.append(Field.ProcessDescriptor.name, processName)
        }
        descriptor.append(Field.TrackDescriptor.childOrdering, Field.ChildOrdering.explicit)
      }
    }
    encoder.append(message: Field.Trace.packet) { packet in
      packet.append(Field.TracePacket.timestamp, recording.start.monotonicNanoseconds)
      packet.append(Field.TracePacket.sequenceID, Self.processSequence)
      packet.append(message: Field.TracePacket.trackEvent) { appendFacts(to: &$0) }
      packet.append(message: Field.TracePacket.internedData) { data in
        data.append(message: Field.InternedData.eventNames) { entry in
          entry.append(Field.InternedEntry.iid, 1)
          entry.append(Field.InternedEntry.text, "recording")
        }
      }
      packet.append(Field.TracePacket.sequenceFlags, Field.SequenceFlags.needsIncrementalState)
    }
  }

  /// The instant "recording" with an annotation for each fact.
  private func appendFacts(to event: inout ProtobufEncoder) {
    for fact in recording.metadata {
      event.append(message: Field.TrackEvent.debugAnnotations) { annotation in
        annotation.append(Field.DebugAnnotation.stringValue, fact.value)
        annotation.append(Field.DebugAnnotation.name, fact.key)
      }
    }
    event.append(message: Field.TrackEvent.debugAnnotations) { annotation in
      annotation.append(
        Field.DebugAnnotation.intValue, signed: Int64(clamping: recording.droppedEvents))
      annotation.append(Field.DebugAnnotation.name, "dropped_events")
    }
    event.append(Field.TrackEvent.type, Field.TrackEventType.instant)
    event.append(Field.TrackEvent.nameIID, 1)
  }

  private func append(_ snapshot: ClockSnapshot, to encoder: inout ProtobufEncoder) {
    let values = [
      (Field.ClockID.monotonic, snapshot.monotonicNanoseconds),
      (Field.ClockID.realtime, snapshot.realtimeNanoseconds),
      (Field.ClockID.boottime, snapshot.boottimeNanoseconds),
    ]
    encoder.append(message: Field.Trace.packet) { packet in
      packet.append(message: Field.TracePacket.clockSnapshot) { snapshot in
        for (id, time) in values {
          snapshot.append(message: Field.ClockSnapshot.clocks) { clock in
            clock.append(Field.Clock.id, id)
            clock.append(Field.Clock.timestamp, time)
          }
        }
        snapshot.append(Field.ClockSnapshot.primaryTraceClock, Field.ClockID.monotonic)
      }
      packet.append(Field.TracePacket.sequenceID, Self.processSequence)
    }
  }
}
