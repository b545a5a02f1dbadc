/// Everything a run recorded: a plain value, to be stored, summarised or exported.
///
/// What ``TraceRecorder/finish(metadata:)`` returns is well formed: on every track timestamps do
/// not decrease and every span that begins ends.
public struct Recording: Hashable, Sendable {
  /// What one writer recorded.
  public struct Track: Hashable, Sendable {
    /// The writer's name, such as `session`.
    public var name: String
    /// The system's id of the thread whose track it is; nil where it is none's, such as that of a
    /// tier or of a request. No two tracks have the same thread.
    public var threadID: Int32?
    /// Events that found the buffer full; a dropped span counts as two.
    public var droppedEvents: UInt64
    /// The events in the order they were recorded.
    public var events: [TraceEvent]

    /// A track with its events.
    public init(
      name: String, threadID: Int32? = nil, droppedEvents: UInt64 = 0, events: [TraceEvent]
    ) {
      self.name = name
      self.threadID = threadID
      self.droppedEvents = droppedEvents
      self.events = events
    }
  }

  /// A fact about the run, such as `instruction_set` and `avx512vnni`.
  public struct Metadata: Hashable, Sendable {
    /// The fact's name, in snake case.
    public var key: String
    /// The fact.
    public var value: String

    /// A fact with its name.
    public init(key: String, value: String) {
      self.key = key
      self.value = value
    }
  }

  /// The process that recorded.
  public var processID: Int32
  /// The clocks when the recorder was made.
  public var start: ClockSnapshot
  /// The clocks when it finished.
  public var end: ClockSnapshot
  /// Facts about the run, in the order given.
  public var metadata: [Metadata]
  /// The interned strings; a string argument's value is an index here.
  public var strings: [String]
  /// Arguments that many events have; the value of ``TraceKey/shared`` is an index here.
  public var argumentSets: [[TraceArgument]]
  /// One track a writer, in the order they were made.
  public var tracks: [Track]

  /// A recording of these parts.
  public init(
    processID: Int32, start: ClockSnapshot, end: ClockSnapshot, metadata: [Metadata],
    strings: [String], argumentSets: [[TraceArgument]] = [], tracks: [Track]
  ) {
    self.processID = processID
    self.start = start
    self.end = end
    self.metadata = metadata
    self.strings = strings
    self.argumentSets = argumentSets
    self.tracks = tracks
  }

  /// Events dropped on all tracks.
  public var droppedEvents: UInt64 { tracks.reduce(0) { $0 &+ $1.droppedEvents } }

  /// The arguments that an event shares with others; none where its number is no set's.
  public func sharedArguments(of event: TraceEvent) -> [TraceArgument] {
    guard let value = event.value(of: .shared), let index = Int(exactly: value),
      argumentSets.indices.contains(index)
    else { return [] }
    return argumentSets[index]
  }

  /// The value of an event's argument `key`, its own before a shared one.
  public func value(of key: TraceKey, in event: TraceEvent) -> Int64? {
    event.value(of: key) ?? sharedArguments(of: event).first { $0.key == key }?.value
  }

  /// The string an argument stands for; nil where the value is no index of one.
  public func string(_ value: Int64) -> String? {
    guard let index = Int(exactly: value), strings.indices.contains(index) else { return nil }
    return strings[index]
  }
}
