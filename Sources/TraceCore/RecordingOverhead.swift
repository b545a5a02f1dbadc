/// What recording one event costs on this machine, clock included.
public struct RecordingOverhead: Hashable, Sendable {
  /// The fastest batch: the cost without disturbance.
  public var minimumNanosecondsPerEvent: Double
  /// The batch in the middle: what to expect.
  public var medianNanosecondsPerEvent: Double

  /// The share of `durationNanoseconds` that recording `eventCount` events took, by the median.
  public func share(ofEvents eventCount: Int, in durationNanoseconds: UInt64) -> Double {
    guard durationNanoseconds > 0 else { return 0 }
    return Double(eventCount) * medianNanosecondsPerEvent / Double(durationNanoseconds)
  }
}

extension TraceRecorder {
  /// Records into a buffer that is thrown away and says what one event costs: spans with one
  /// argument, begin and end taken alike.
  ///
  /// Takes `batches · eventsPerBatch` events, about 2 ms with the defaults.
  public static func measureOverhead(
    batches: Int = 33, eventsPerBatch: Int = 2048
  ) -> RecordingOverhead {
    precondition(batches > 0 && eventsPerBatch > 1, "nothing to measure")
    let spans = eventsPerBatch / 2
    let costs = (0..<batches).map { _ -> Double in
      let writer = TraceWriter(trackName: "", eventCapacity: spans * 4)
      let start = TraceClock.now()
      for index in 0..<spans {
        writer.begin(.layer, .index, Int64(index))
        writer.end()
      }
      let stop = TraceClock.now()
      precondition(writer.droppedEvents == 0, "the buffer holds the batch")
      return Double(stop &- start) / Double(spans * 2)
    }.sorted()
    return RecordingOverhead(
      minimumNanosecondsPerEvent: costs[0], medianNanosecondsPerEvent: costs[batches / 2])
  }
}
