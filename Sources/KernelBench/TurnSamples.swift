import CPlatform
import QuantKernels

/// What was measured of several runners that took turns: as many samples of each as of the roofs
/// beside them.
package struct TurnSamples: Sendable {
  /// Of a call: [runner][repetition].
  package var seconds: [[Double]]
  /// Bytes a second.
  package var readRoofs: [Double]
  /// Operations a second; empty where there is no such roof.
  package var operationRoofs: [Double]

  package init(seconds: [[Double]], readRoofs: [Double] = [], operationRoofs: [Double] = []) {
    self.seconds = seconds
    self.readRoofs = readRoofs
    self.operationRoofs = operationRoofs
  }

  /// The time of one runner over another's, repetition by repetition: what slowed both is no more
  /// in it.
  package func ratios(of runner: Int, over other: Int) -> [Double] {
    zip(seconds[runner], seconds[other]).map { $0 / $1 }
  }

  /// How near a runner came to the nearer of its roofs, repetition by repetition.
  ///
  /// - Parameters:
  ///   - byteCount: what a call reads and writes.
  ///   - operationCount: what it multiplies and adds; nil where that is not counted.
  package func shares(of runner: Int, byteCount: Int, operationCount: Int?) -> [Double] {
    seconds[runner].indices.map { index in
      let bytes = Double(byteCount) / seconds[runner][index] / readRoofs[index]
      guard let operationCount, index < operationRoofs.count else { return bytes }
      return max(bytes, Double(operationCount) / seconds[runner][index] / operationRoofs[index])
    }
  }
}

/// Lets runners take turns, repetition by repetition, each beside the roofs of its moment.
struct TurnTaking {
  let runners: [any KernelRunner]
  /// Bytes a second, measured once a repetition.
  let readRoof: () -> Double
  /// Operations a second, likewise; nil where there is none.
  let operationRoof: () -> Double?

  /// What one sample takes at least.
  private static let sampleNanoseconds: UInt64 = 3_000_000

  /// Everybody's turn comes at another place of each repetition. Among several, everyone begins
  /// with a call that is not timed: its threads awake, and its own data in the caches that hold it.
  func measure(repetitions: Int) -> TurnSamples {
    let callCounts = runners.map { runner in
      defer { runner.rest() }
      return Self.callCount { runner.run(callCount: $0) }
    }
    var samples = TurnSamples(seconds: runners.map { _ in [] })
    for repetition in 0..<repetitions {
      samples.readRoofs.append(readRoof())
      for place in runners.indices {
        let index = (repetition + place) % runners.count
        if runners.count > 1 { runners[index].run(callCount: 1) }
        let start = cp_monotonic_nanoseconds()
        runners[index].run(callCount: callCounts[index])
        let elapsed = cp_monotonic_nanoseconds() &- start
        samples.seconds[index].append(Double(max(1, elapsed)) * 1e-9 / Double(callCounts[index]))
        if runners.count > 1 { runners[index].rest() }
      }
      if let rate = operationRoof() { samples.operationRoofs.append(rate) }
    }
    return samples
  }

  /// How many calls a sample takes; warms up meanwhile.
  static func callCount(_ body: (Int) -> Void) -> Int {
    var count = 1
    while true {
      let start = cp_monotonic_nanoseconds()
      body(count)
      let elapsed = cp_monotonic_nanoseconds() &- start
      if elapsed >= Self.sampleNanoseconds || count >= 1 << 22 { return count }
      count *= elapsed * 4 < Self.sampleNanoseconds ? 4 : 2
    }
  }
}
