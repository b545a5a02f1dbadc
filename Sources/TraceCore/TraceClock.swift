#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The clock of all recordings: `CLOCK_MONOTONIC` in nanoseconds, as `perf record -k mono` uses it.
///
/// A read goes through the vDSO, without a system call where the kernel's clock source allows that;
/// ``TraceRecorder/measureOverhead(batches:eventsPerBatch:)`` says what it costs here.
public enum TraceClock {
  /// Nanoseconds of the monotonic clock.
  public static func now() -> UInt64 { read(CLOCK_MONOTONIC) }

  /// The three clocks, read one right after the other.
  public static func snapshot() -> ClockSnapshot {
    #if os(Linux)
      let boottime = read(CLOCK_BOOTTIME)
    #else
      let boottime = read(CLOCK_MONOTONIC)
    #endif
    return ClockSnapshot(
      monotonicNanoseconds: now(), realtimeNanoseconds: read(CLOCK_REALTIME),
      boottimeNanoseconds: boottime)
  }

  @inline(__always)
  private static func read(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    // The pointer is to a local and does not outlive the call.
    let status = unsafe clock_gettime(clock, &time)
    assert(status == 0, "the clock exists on every supported system")
    return UInt64(truncatingIfNeeded: time.tv_sec) &* 1_000_000_000
      &+ UInt64(truncatingIfNeeded: time.tv_nsec)
  }
}

/// One moment on three clocks, so that a recording can be laid over others.
public struct ClockSnapshot: Hashable, Sendable {
  /// `CLOCK_MONOTONIC`: the clock of the events.
  public var monotonicNanoseconds: UInt64
  /// `CLOCK_REALTIME`: nanoseconds since 1970.
  public var realtimeNanoseconds: UInt64
  /// `CLOCK_BOOTTIME`: monotonic, with the time asleep.
  public var boottimeNanoseconds: UInt64

  /// A snapshot of the three values.
  public init(
    monotonicNanoseconds: UInt64, realtimeNanoseconds: UInt64, boottimeNanoseconds: UInt64
  ) {
    self.monotonicNanoseconds = monotonicNanoseconds
    self.realtimeNanoseconds = realtimeNanoseconds
    self.boottimeNanoseconds = boottimeNanoseconds
  }
}
