/// What happened on the system between two states, as shares of that time. What either state does
/// not know is nil.
package struct SystemChange: Hashable, Sendable {
  /// The time between.
  package var nanoseconds: UInt64
  /// Stolen CPU time over all CPU time.
  package var stealShare: Double?
  /// The share of the time in which some task waited for a CPU.
  package var pressureShare: Double?
  /// CPU time of other processes over all CPU time.
  package var othersShare: Double?
  /// Pages of this process that had to be read from disk.
  package var majorFaults: Int?
  package var involuntarySwitches: Int?
  /// The effective clock after over before.
  package var clockRatio: Double?

  package init(from before: SystemState, to after: SystemState) {
    nanoseconds = Self.difference(before.monotonicNanoseconds, after.monotonicNanoseconds)
    let total = Self.difference(before.totalNanoseconds, after.totalNanoseconds)
    let own = Self.difference(before.processCPUNanoseconds, after.processCPUNanoseconds)
    let busy = Self.difference(before.busyNanoseconds, after.busyNanoseconds)
    stealShare = Self.share(
      Self.difference(before.stealNanoseconds, after.stealNanoseconds), of: total)
    pressureShare = Self.share(
      Self.difference(before.pressureNanoseconds, after.pressureNanoseconds), of: nanoseconds)
    if let own, let busy { othersShare = Self.share(busy > own ? busy - own : 0, of: total) }
    if let a = before.majorFaults, let b = after.majorFaults { majorFaults = max(b - a, 0) }
    if let a = before.involuntarySwitches, let b = after.involuntarySwitches {
      involuntarySwitches = max(b - a, 0)
    }
    if let a = before.effectiveGigahertz, let b = after.effectiveGigahertz, a > 0 {
      clockRatio = b / a
    }
  }

  private static func difference(_ before: UInt64?, _ after: UInt64?) -> UInt64? {
    guard let before, let after else { return nil }
    return difference(before, after)
  }

  /// Counters of the system may step back a little (a CPU went offline): that is no time.
  private static func difference(_ before: UInt64, _ after: UInt64) -> UInt64 {
    after > before ? after - before : 0
  }

  private static func share(_ part: UInt64?, of whole: UInt64?) -> Double? {
    guard let part, let whole, whole > 0 else { return nil }
    return Double(part) / Double(whole)
  }
}
