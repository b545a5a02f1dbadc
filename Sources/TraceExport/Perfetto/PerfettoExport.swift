import SwiftProtobuf
import TraceCore

/// Writes a recording as a Perfetto trace, a protobuf stream that `ui.perfetto.dev` and
/// `trace_processor` open.
///
/// What comes out, in Perfetto's words:
///
/// ```
/// process afm-bench (pid)
///   instant "recording"            every metadata fact and the dropped events as annotations
///   thread session                 one a writer, a packet sequence of its own
///     session > request > prefill > layer > gemv_f32_s8t_u4g32_...   nested slices
///     counter "KV bytes used"      unit bytes; one a counter that the writer set
/// ```
///
/// Slices are named by ``TraceName``, except kernel calls, which carry the kernel's own name;
/// arguments are debug annotations with the names of ``TraceKey``. Event times are those of
/// `CLOCK_MONOTONIC`, unchanged: it is the trace's primary clock, and two snapshots tie it to
/// `CLOCK_REALTIME` and `CLOCK_BOOTTIME`. Packets are not compressed.
public struct PerfettoExport {
  /// The number of bytes collected before they are handed on.
  private static let chunkByteCount = 1 << 16
  private static let processSequence: UInt32 = 1
  /// Perfetto's numbers for the clocks.
  private enum Clock {
    static let realtime: UInt32 = 1
    static let monotonic: UInt32 = 3
    static let boottime: UInt32 = 6
  }

  private let recording: Recording
  private let processName: String

  /// An export of `recording` under the name of a process.
  public init(_ recording: Recording, processName: String = "afm-bench") {
    self.recording = recording
    self.processName = processName
  }

  /// The whole trace. O(events): 401,000 events gave 9 MB in 3 s on two busy cores.
  public func bytes() -> [UInt8] {
    var all: [UInt8] = []
    write { all += $0 }
    return all
  }

  /// Hands the trace on in chunks of some 64 KiB; what `sink` throws ends the export.
  public func write<Failure: Error>(
    to sink: ([UInt8]) throws(Failure) -> Void
  ) throws(Failure) {
    var chunk: [UInt8] = []
    appendProcess(to: &chunk)
    let process = Self.processTrack
    var nextTrack = process + 1
    for (index, track) in recording.tracks.enumerated() {
      var sequence = PerfettoSequence(
        id: Self.processSequence + 1 + UInt32(index), processID: recording.processID,
        processTrack: process, firstTrack: nextTrack, track: track, strings: recording.strings)
      nextTrack += PerfettoSequence.tracksPerWriter
      for packet in sequence.descriptors() { Self.append(packet, to: &chunk) }
      for event in track.events {
        Self.append(sequence.packet(for: event), to: &chunk)
        if chunk.count >= Self.chunkByteCount {
          try sink(chunk)
          chunk.removeAll(keepingCapacity: true)
        }
      }
    }
    Self.append(snapshot(recording.end), to: &chunk)
    try sink(chunk)
  }

  private static let processTrack: UInt64 = 1

  /// The packets that belong to the process: clocks, descriptor, and the facts about the run.
  private func appendProcess(to chunk: inout [UInt8]) {
    Self.append(snapshot(recording.start), to: &chunk)

    var descriptor = processPacket()
    descriptor.sequenceFlags = UInt32(
      PerfettoSequenceFlags.incrementalStateCleared.rawValue)
    descriptor.tracePacketDefaults = .with {
      $0.timestampClockID = Clock.monotonic
      $0.trackEventDefaults = .with { $0.trackUuid = Self.processTrack }
    }
    descriptor.trackDescriptor = .with {
      $0.uuid = Self.processTrack
      $0.process = .with {
        $0.pid = recording.processID
        $0.processName = processName
      }
    }
    Self.append(descriptor, to: &chunk)

    var facts = processPacket()
    facts.sequenceFlags = UInt32(PerfettoSequenceFlags.needsIncrementalState.rawValue)
    facts.timestamp = recording.start.monotonicNanoseconds
    facts.internedData = [
      .with { data in
        data.eventNames = [
          .with {
            $0.iid = 1
            $0.name = "recording"
          }
        ]
      }
    ]
    facts.trackEvent = .with { event in
      event.type = .instant
      event.nameIid = 1
      event.debugAnnotations = recording.metadata.map { fact in
        .with {
          $0.name = fact.key
          $0.stringValue = fact.value
        }
      }
      event.debugAnnotations.append(
        .with {
          $0.name = "dropped_events"
          $0.intValue = Int64(clamping: recording.droppedEvents)
        })
    }
    Self.append(facts, to: &chunk)
  }

  private func processPacket() -> PerfettoTracePacket {
    .with { $0.trustedPacketSequenceID = Self.processSequence }
  }

  private func snapshot(_ snapshot: ClockSnapshot) -> PerfettoTracePacket {
    let values = [
      (Clock.monotonic, snapshot.monotonicNanoseconds),
      (Clock.realtime, snapshot.realtimeNanoseconds),
      (Clock.boottime, snapshot.boottimeNanoseconds),
    ]
    var packet = processPacket()
    packet.clockSnapshot = .with {
      $0.primaryTraceClock = Clock.monotonic
      $0.clocks = values.map { clock, time in
        .with {
          $0.clockID = clock
          $0.timestamp = time
        }
      }
    }
    return packet
  }

  /// Field 1 of the file: tag, byte count, packet.
  private static func append(_ packet: PerfettoTracePacket, to chunk: inout [UInt8]) {
    // Encoding fails for missing required fields and for messages above 2 GiB; there are neither.
    guard let bytes: [UInt8] = try? packet.serializedBytes() else {
      preconditionFailure("a packet that cannot be encoded")
    }
    chunk.append(1 << 3 | 2)
    var count = bytes.count
    while count >= 0x80 {
      chunk.append(UInt8(truncatingIfNeeded: count) | 0x80)
      count >>= 7
    }
    chunk.append(UInt8(truncatingIfNeeded: count))
    chunk += bytes
  }
}
