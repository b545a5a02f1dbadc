import TraceCore

/// What a recording says about its requests.
public struct TraceSummary: Hashable, Sendable {
  /// The requests in the order they were submitted.
  public var requests: [RequestSummary]
  /// Events that were dropped; where it is not 0, counts may be too small.
  public var droppedEvents: UInt64
  /// Facts about the run.
  public var metadata: [Recording.Metadata]

  /// Reads all requests of a recording. O(events).
  ///
  /// Spans of a request lie on its own track; a track without requests adds nothing. A recording
  /// whose spans do not nest, which no recorder and no file gives, yields what its well-formed part
  /// says.
  public init(_ recording: Recording) {
    var requests: [RequestSummary] = []
    for track in recording.tracks {
      var reader = RequestReader(track: track, recording: recording)
      for event in track.events { reader.read(event) }
      requests += reader.requests
    }
    // Requests that come at one time, in the order of their numbers.
    self.requests = requests.sorted {
      ($0.submittedNanoseconds, $0.request ?? 0) < ($1.submittedNanoseconds, $1.request ?? 0)
    }
    droppedEvents = recording.droppedEvents
    metadata = recording.metadata
  }
}
