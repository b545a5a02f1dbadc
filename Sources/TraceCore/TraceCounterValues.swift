/// Where the counters of a track stand, so that one is recorded only when it changes.
///
/// A request records all of its counters when it begins, and afterwards those that change: a counter
/// in a viewer is never the request before. One track has one of these at a time.
package struct TraceCounterValues {
  private let writer: TraceWriter
  /// By raw value; 0 where nothing was recorded.
  private var values: [Int64]

  package init(of writer: TraceWriter) {
    self.writer = writer
    values = Array(repeating: 0, count: 1 + TraceCounter.allCases.count)
  }

  /// Records a value, whatever the counter stands at.
  package mutating func record(_ counter: TraceCounter, _ value: Int64) {
    values[Int(counter.rawValue)] = value
    writer.counter(counter, value)
  }

  /// Records a value where the counter stands at another one.
  package mutating func update(_ counter: TraceCounter, _ value: Int64) {
    guard values[Int(counter.rawValue)] != value else { return }
    record(counter, value)
  }

  /// Sets back to 0 what is not there.
  package mutating func reset() {
    for counter in TraceCounter.allCases { update(counter, 0) }
  }
}
