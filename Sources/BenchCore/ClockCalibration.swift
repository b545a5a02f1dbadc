import Synchronization
import TraceCore

/// The clock that the CPU really runs at, by the time of a chain of dependent instructions.
///
/// Virtual machines rarely tell their frequency, and a busy sibling or a turbo limit changes it:
/// what is of use is the ratio of two probes.
package enum ClockCalibration {
  /// Cycles of one link: an add, a shift and an exclusive or, each needing the one before, one
  /// cycle each on every x86-64 and most 64-bit ARM cores (Agner Fog's instruction tables).
  package static let cyclesPerLink = 3.0

  /// Clock in GHz: the fastest of some batches, since everything that disturbs makes one slower.
  /// Takes about 5 ms with the defaults.
  package static func gigahertz(links: Int = 200_000, batches: Int = 8) -> Double {
    precondition(links > 0 && batches > 0, "nothing to time")
    var fastest = UInt64.max
    var value = TraceClock.now()
    for _ in 0..<batches {
      let start = TraceClock.now()
      value = chain(value, links: links)
      fastest = min(fastest, TraceClock.now() - start)
    }
    sink.store(value, ordering: .relaxed)
    return cyclesPerLink * Double(links) / Double(max(fastest, 1))
  }

  /// Takes the chain's end, so that the chain cannot be left out.
  private static let sink = Atomic<UInt64>(0)

  /// No closed form is known to compilers, so every link is computed.
  @inline(never)
  private static func chain(_ start: UInt64, links: Int) -> UInt64 {
    var value = start
    for _ in 0..<links {
      value = value &+ 0x9E37_79B9
      value ^= value >> 7
    }
    return value
  }
}
