/// The machine and the build that a result is of. What this system does not tell is nil.
package struct Environment: Codable, Hashable, Sendable {
  // The build.
  package var toolVersion = ""
  package var buildCommit = ""
  /// `release` or `debug`.
  package var buildConfiguration = ""
  /// When the record was made: ISO 8601, UTC.
  package var date = ""

  // The processor.
  package var cpuModel: String?
  /// CPUs that the system has switched on.
  package var onlineCores: Int?
  /// CPUs that this process may run on.
  package var affinityCores: Int?
  /// CPU time that the control group allows, in cores; nil where it sets no limit.
  package var quotaCores: Double?
  /// The selected instruction set, and what the kernels ask of a CPU and found.
  package var instructionSet = ""
  package var features: [String] = []
  package var caches: [CacheLevel] = []
  /// Whether the CPU says that it is a virtual one.
  package var isVirtual: Bool?
  package var frequencyGovernor: String?

  // Memory.
  package var memoryByteCount: Int?
  /// The control group's memory limit; nil where it sets none.
  package var memoryLimitByteCount: Int?
  /// Transparent huge pages: `always`, `madvise` or `never`.
  package var hugePageMode: String?

  // The system.
  package var operatingSystem: String?
  package var kernelVersion: String?

  /// Whether the run came to its end; false where a signal or a report that nobody reads ended it
  /// before. Nil outside of a run.
  package var isComplete: Bool?
  /// The states of the system at the beginning of the run and at its end.
  package var before: SystemState?
  package var after: SystemState?

  package init() {}

  package enum CodingKeys: String, CodingKey {
    case toolVersion = "tool_version"
    case buildCommit = "build_commit"
    case buildConfiguration = "build_configuration"
    case date
    case cpuModel = "cpu_model"
    case onlineCores = "cores_online"
    case affinityCores = "cores_affinity"
    case quotaCores = "cores_quota"
    case instructionSet = "isa"
    case features
    case caches
    case isVirtual = "virtual"
    case frequencyGovernor = "governor"
    case memoryByteCount = "memory_bytes"
    case memoryLimitByteCount = "memory_limit_bytes"
    case hugePageMode = "thp"
    case operatingSystem = "os"
    case kernelVersion = "kernel"
    case isComplete = "complete"
    case before
    case after
  }

  /// One cache of the first CPU.
  package struct CacheLevel: Codable, Hashable, Sendable {
    package var level: Int
    /// `Data`, `Instruction` or `Unified`.
    package var type: String
    package var byteCount: Int
    /// The CPUs that share it, as a list of ranges.
    package var sharedBy: String?

    package init(level: Int, type: String, byteCount: Int, sharedBy: String?) {
      self.level = level
      self.type = type
      self.byteCount = byteCount
      self.sharedBy = sharedBy
    }

    package enum CodingKeys: String, CodingKey {
      case level, type
      case byteCount = "bytes"
      case sharedBy = "shared_by"
    }
  }
}

/// Counters of the system and of this process at one moment; differences of two say what disturbed
/// the time between them. What this system does not tell is nil.
package struct SystemState: Codable, Hashable, Sendable {
  /// The recording's clock.
  package var monotonicNanoseconds: UInt64 = 0
  /// CPU time of the process, user and system.
  package var processCPUNanoseconds: UInt64?
  /// CPU time of all CPUs that was spent (user, nice, system, interrupts) since boot.
  package var busyNanoseconds: UInt64?
  /// CPU time of all CPUs since boot, idle and stolen included.
  package var totalNanoseconds: UInt64?
  /// CPU time that the hypervisor gave to others while this machine wanted it.
  package var stealNanoseconds: UInt64?
  /// Time in which some task waited for a CPU.
  package var pressureNanoseconds: UInt64?
  package var majorFaults: Int?
  package var minorFaults: Int?
  package var voluntarySwitches: Int?
  package var involuntarySwitches: Int?
  package var peakResidentByteCount: Int?
  /// Runnable tasks, averaged over a minute.
  package var loadAverage: Double?
  /// The clock in GHz by a chain of dependent instructions; nil where it was not measured.
  package var effectiveGigahertz: Double?

  package init() {}

  package enum CodingKeys: String, CodingKey {
    case monotonicNanoseconds = "monotonic_ns"
    case processCPUNanoseconds = "process_cpu_ns"
    case busyNanoseconds = "busy_ns"
    case totalNanoseconds = "total_ns"
    case stealNanoseconds = "steal_ns"
    case pressureNanoseconds = "cpu_pressure_ns"
    case majorFaults = "major_faults"
    case minorFaults = "minor_faults"
    case voluntarySwitches = "voluntary_switches"
    case involuntarySwitches = "involuntary_switches"
    case peakResidentByteCount = "peak_rss_bytes"
    case loadAverage = "load_average"
    case effectiveGigahertz = "effective_ghz"
  }
}
