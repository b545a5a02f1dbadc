import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Collects what happens in one run: makes the writers and interns the strings at setup, and turns
/// all of it into a ``Recording`` at the end.
///
/// ```swift
/// let recorder = TraceRecorder(eventCapacity: 1 << 18)
/// let tier = recorder.intern("on-device")
/// let writer = recorder.makeWriter(trackName: "session")
/// writer.begin(.session, .tier, tier.value)
/// let submitted = writer.begin(.request, .request, 0)
/// ...
/// let answered = writer.end()
/// writer.end()
/// let recording = recorder.finish(metadata: [.init(key: "tool", value: "afm-bench 0.1")])
/// ```
///
/// Its own methods lock and allocate: they belong to setup and end, never to the hot path.
public final class TraceRecorder: Sendable {
  private struct State {
    var writers: [TraceWriter] = []
    var strings: [String] = []
    var indices: [String: UInt32] = [:]
    var argumentSets: [[TraceArgument]] = []
    var setIndices: [[TraceArgument]: UInt32] = [:]
    var tracks: [Recording.Track] = []
  }

  /// The events each writer has room for.
  public let eventCapacity: Int

  private let start: ClockSnapshot
  private let processID: Int32
  private let state = Mutex(State())

  /// A recorder whose writers each preallocate `eventCapacity` events of 40 bytes.
  public init(eventCapacity: Int) {
    precondition(eventCapacity >= 0, "a negative capacity")
    self.eventCapacity = eventCapacity
    start = TraceClock.snapshot()
    processID = getpid()
  }

  /// A writer with a track of its own; give each thread that records one.
  ///
  /// Allocates its buffer and touches every OS page of it, so that recording takes no page fault.
  /// `threadID` is the system's id of the one thread that the track shows; leave it out where several
  /// tracks share a thread or one moves between threads. `eventCapacity` defaults to the recorder's.
  public func makeWriter(
    trackName: String, threadID: Int32? = nil, eventCapacity: Int? = nil
  ) -> TraceWriter {
    precondition((eventCapacity ?? 0) >= 0, "a negative capacity")
    return state.withLock { state in
      precondition(
        threadID == nil || !state.writers.contains { $0.threadID == threadID },
        "two tracks with one thread id")
      let writer = TraceWriter(
        trackName: trackName, threadID: threadID,
        eventCapacity: eventCapacity ?? self.eventCapacity)
      state.writers.append(writer)
      return writer
    }
  }

  /// The number that stands for `string`; the same string gives the same number.
  public func intern(_ string: String) -> TraceString {
    state.withLock { state in
      if let index = state.indices[string] { return TraceString(index: index) }
      let index = UInt32(state.strings.count)
      state.strings.append(string)
      state.indices[string] = index
      return TraceString(index: index)
    }
  }

  /// The number that stands for these arguments; the same ones give the same number. String values
  /// are interned strings.
  public func intern(_ arguments: [TraceArgument]) -> TraceArgumentSet {
    precondition(!arguments.contains { $0.key == .shared }, "a set within a set")
    return state.withLock { state in
      if let index = state.setIndices[arguments] { return TraceArgumentSet(index: index) }
      let index = UInt32(state.argumentSets.count)
      state.argumentSets.append(arguments)
      state.setIndices[arguments] = index
      return TraceArgumentSet(index: index)
    }
  }

  /// Adds a track that was put together elsewhere, behind those of the writers. Its events are well
  /// formed, as those of a writer are.
  package func add(_ track: Recording.Track) {
    state.withLock { $0.tracks.append(track) }
  }

  /// Everything recorded so far; spans still open are ended now.
  ///
  /// Call it once, when no thread is inside a writer. It frees the writers' buffers: what they are
  /// asked to record afterwards is dropped. O(events).
  public func finish(metadata: [Recording.Metadata] = []) -> Recording {
    state.withLock { state in
      let tracks = state.writers.map { $0.takeTrack() } + state.tracks
      return Recording(
        processID: processID, start: start, end: TraceClock.snapshot(), metadata: metadata,
        strings: state.strings, argumentSets: state.argumentSets, tracks: tracks)
    }
  }
}
