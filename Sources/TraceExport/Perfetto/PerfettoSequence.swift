import TraceCore

/// The packets of one writer: a sequence id of its own, names interned at their first use.
struct PerfettoSequence {
  /// Track ids a writer may use: its thread's, and one for each counter.
  static let tracksPerWriter = UInt64(UInt8.max) + 1

  private let id: UInt32
  private let processID: Int32
  private let processTrack: UInt64
  private let firstTrack: UInt64
  private let track: Recording.Track
  private let strings: [String]

  private var eventNames = PerfettoInterning<String>()
  private var categories = PerfettoInterning<String>()
  private var keys = PerfettoInterning<TraceKey>()
  private var values = PerfettoInterning<Int64>()

  init(
    id: UInt32, processID: Int32, processTrack: UInt64, firstTrack: UInt64,
    track: Recording.Track, strings: [String]
  ) {
    self.id = id
    self.processID = processID
    self.processTrack = processTrack
    self.firstTrack = firstTrack
    self.track = track
    self.strings = strings
  }

  // MARK: Tracks

  /// The thread's track, with the packet that starts the sequence, and the counters' tracks.
  func descriptors() -> [PerfettoTracePacket] {
    var thread = packet()
    thread.sequenceFlags = UInt32(
      PerfettoSequenceFlags.incrementalStateCleared.rawValue)
    thread.tracePacketDefaults = .with {
      $0.timestampClockID = 3  // CLOCK_MONOTONIC
      $0.trackEventDefaults = .with { $0.trackUuid = firstTrack }
    }
    thread.trackDescriptor = .with {
      $0.uuid = firstTrack
      $0.parentUuid = processTrack
      $0.thread = .with {
        $0.pid = processID
        $0.tid = track.threadID
        $0.threadName = track.name
      }
    }
    let used = Set(track.events.compactMap(\.counter))
    return [thread] + TraceCounter.allCases.filter(used.contains).map(descriptor)
  }

  private func descriptor(of counter: TraceCounter) -> PerfettoTracePacket {
    var packet = packet()
    packet.trackDescriptor = .with {
      $0.uuid = trackID(of: counter)
      $0.parentUuid = firstTrack
      $0.name = counter.label
      $0.counter = .with {
        switch counter.unit {
        case .bytes: $0.unit = .sizeBytes
        case .nanoseconds: $0.unit = .timeNs
        // The unit's name is shown where there is no unit of the enumeration.
        case .positions, .tokens: $0.unitName = counter.unit.rawValue
        }
      }
    }
    return packet
  }

  private func trackID(of counter: TraceCounter) -> UInt64 {
    firstTrack + UInt64(counter.rawValue)
  }

  // MARK: Events

  mutating func packet(for event: TraceEvent) -> PerfettoTracePacket {
    var interned = PerfettoInternedData()
    var hasInterned = false
    var packet = packet()
    packet.timestamp = event.timestamp
    packet.sequenceFlags = UInt32(
      PerfettoSequenceFlags.needsIncrementalState.rawValue)

    var trackEvent = PerfettoTrackEvent()
    switch event.kind {
    case .begin: trackEvent.type = .sliceBegin
    case .end: trackEvent.type = .sliceEnd
    case .instant: trackEvent.type = .instant
    case .counter: trackEvent.type = .counter
    }
    if let counter = event.counter {
      trackEvent.trackUuid = trackID(of: counter)
      trackEvent.counterValue = event.counterValue
    }
    if let name = event.name {
      let kernel = name == .kernel ? event.value(of: .kernel).flatMap(string) : nil
      trackEvent.nameIid = eventNames.iid(of: kernel ?? name.label) { iid, name in
        hasInterned = true
        interned.eventNames.append(
          .with {
            $0.iid = iid
            $0.name = name
          })
      }
      let category = categories.iid(of: name.category) { iid, name in
        hasInterned = true
        interned.eventCategories.append(
          .with {
            $0.iid = iid
            $0.name = name
          })
      }
      trackEvent.categoryIids = [category]
    }
    if event.argumentCount > 0 {
      trackEvent.debugAnnotations = event.arguments.map {
        annotation($0, &interned, &hasInterned)
      }
    }
    packet.trackEvent = trackEvent
    if hasInterned { packet.internedData = [interned] }
    return packet
  }

  private mutating func annotation(
    _ argument: TraceArgument, _ interned: inout PerfettoInternedData, _ hasInterned: inout Bool
  ) -> PerfettoDebugAnnotation {
    var annotation = PerfettoDebugAnnotation()
    annotation.nameIid = keys.iid(of: argument.key) { iid, key in
      hasInterned = true
      interned.debugAnnotationNames.append(
        .with {
          $0.iid = iid
          $0.name = key.label
        })
    }
    guard argument.key.isString, let string = string(argument.value) else {
      annotation.intValue = argument.value
      return annotation
    }
    annotation.stringValueIid = values.iid(of: argument.value) { iid, _ in
      hasInterned = true
      interned.debugAnnotationStringValues.append(
        .with {
          $0.iid = iid
          $0.str = .init(string.utf8)
        })
    }
    return annotation
  }

  private func string(_ value: Int64) -> String? {
    guard let index = Int(exactly: value), strings.indices.contains(index) else { return nil }
    return strings[index]
  }

  private func packet() -> PerfettoTracePacket {
    .with { $0.trustedPacketSequenceID = id }
  }
}

/// The numbers that stand for names in one sequence, from 1 on.
private struct PerfettoInterning<Name: Hashable> {
  private var iids: [Name: UInt64] = [:]

  /// The name's number; `define` is called when it is new.
  mutating func iid(of name: Name, define: (UInt64, Name) -> Void) -> UInt64 {
    if let iid = iids[name] { return iid }
    let iid = UInt64(iids.count) + 1
    iids[name] = iid
    define(iid, name)
    return iid
  }
}

extension TraceName {
  /// The name's group, by which viewers filter.
  fileprivate var category: String {
    switch self {
    case .kernel: "kernel"
    case .layer, .attention, .feedForward, .output, .sample, .embed, .cacheWrite: "model"
    case .load, .open, .read, .inflate, .allocate, .transcode, .verify, .validate: "load"
    case .session, .request, .inference, .template, .tokenize, .prefill, .decode, .reasoning,
      .response, .tool, .token, .detokenize, .route:
      "request"
    }
  }
}
