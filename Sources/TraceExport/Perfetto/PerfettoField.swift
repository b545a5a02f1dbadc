/// The numbers of the fields and values that are written, by message, from Perfetto's
/// `protos/perfetto/trace`. They never change there.
enum PerfettoField {
  enum Trace {
    static let packet: UInt32 = 1
  }

  enum TracePacket {
    static let clockSnapshot: UInt32 = 6
    static let timestamp: UInt32 = 8
    static let sequenceID: UInt32 = 10
    static let trackEvent: UInt32 = 11
    static let internedData: UInt32 = 12
    static let sequenceFlags: UInt32 = 13
    static let defaults: UInt32 = 59
    static let trackDescriptor: UInt32 = 60
  }

  /// Bits of `TracePacket.sequence_flags`.
  enum SequenceFlags {
    /// Interned names and defaults of the sequence start anew with this packet.
    static let incrementalStateCleared: UInt64 = 1
    /// The packet refers to interned names or defaults.
    static let needsIncrementalState: UInt64 = 2
  }

  enum TracePacketDefaults {
    static let trackEventDefaults: UInt32 = 11
    static let timestampClockID: UInt32 = 58
  }

  enum TrackEventDefaults {
    static let trackUUID: UInt32 = 11
  }

  enum ClockSnapshot {
    static let clocks: UInt32 = 1
    static let primaryTraceClock: UInt32 = 2
  }

  enum Clock {
    static let id: UInt32 = 1
    static let timestamp: UInt32 = 2
  }

  /// Values of `Clock.clock_id`.
  enum ClockID {
    static let realtime: UInt64 = 1
    static let monotonic: UInt64 = 3
    static let boottime: UInt64 = 6
  }

  enum TrackDescriptor {
    static let uuid: UInt32 = 1
    static let name: UInt32 = 2
    static let process: UInt32 = 3
    static let thread: UInt32 = 4
    static let parentUUID: UInt32 = 5
    static let counter: UInt32 = 8
    static let childOrdering: UInt32 = 11
    static let siblingOrderRank: UInt32 = 12
    static let siblingMergeBehavior: UInt32 = 15
  }

  /// Values of `TrackDescriptor.child_ordering`.
  enum ChildOrdering {
    /// By the children's `sibling_order_rank`.
    static let explicit: UInt64 = 3
  }

  /// Values of `TrackDescriptor.sibling_merge_behavior`.
  enum SiblingMergeBehavior {
    /// Tracks of one name stay apart.
    static let none: UInt64 = 2
  }

  enum ProcessDescriptor {
    static let pid: UInt32 = 1
    static let name: UInt32 = 6
  }

  enum ThreadDescriptor {
    static let pid: UInt32 = 1
    static let tid: UInt32 = 2
    static let name: UInt32 = 5
  }

  enum CounterDescriptor {
    static let unit: UInt32 = 3
    static let unitName: UInt32 = 6
  }

  /// Values of `CounterDescriptor.unit`.
  enum CounterUnit {
    static let nanoseconds: UInt64 = 1
    static let bytes: UInt64 = 3
  }

  enum TrackEvent {
    static let categoryIIDs: UInt32 = 3
    static let debugAnnotations: UInt32 = 4
    static let type: UInt32 = 9
    static let nameIID: UInt32 = 10
    static let trackUUID: UInt32 = 11
    static let counterValue: UInt32 = 30
  }

  /// Values of `TrackEvent.type`.
  enum TrackEventType {
    static let sliceBegin: UInt64 = 1
    static let sliceEnd: UInt64 = 2
    static let instant: UInt64 = 3
    static let counter: UInt64 = 4
  }

  enum DebugAnnotation {
    static let nameIID: UInt32 = 1
    static let intValue: UInt32 = 4
    static let stringValue: UInt32 = 6
    static let name: UInt32 = 10
    static let stringValueIID: UInt32 = 17
  }

  enum InternedData {
    static let eventCategories: UInt32 = 1
    static let eventNames: UInt32 = 2
    static let debugAnnotationNames: UInt32 = 3
    static let debugAnnotationStringValues: UInt32 = 29
  }

  /// An entry of any list of `InternedData`.
  enum InternedEntry {
    static let iid: UInt32 = 1
    static let text: UInt32 = 2
  }
}
