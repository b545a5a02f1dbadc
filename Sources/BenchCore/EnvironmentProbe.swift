import TraceCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Reads what the machine is and what state it is in; what the system does not tell stays nil.
package struct EnvironmentProbe {
  private let files: SystemFiles

  /// A probe of this machine. `root` stands before every path that is read, for tests.
  package init(root: String = "") { files = SystemFiles(root: root) }

  /// The record of machine and build, without states. Takes a few milliseconds.
  package func environment(
    toolVersion: String, buildCommit: String, instructionSet: String, features: [String]
  ) -> Environment {
    var environment = Environment()
    environment.toolVersion = toolVersion
    environment.buildCommit = buildCommit
    environment.buildConfiguration = BuildConfiguration.isDebug ? "debug" : "release"
    environment.date = Timestamp.now()
    environment.instructionSet = instructionSet
    environment.features = features
    describeCPU(&environment)
    describeMemory(&environment)
    environment.operatingSystem = operatingSystem()
    environment.kernelVersion = files.line("/proc/sys/kernel/osrelease")
    return environment
  }

  /// The CPU's name as a result row has it; `unknown` where the system does not say.
  package func cpuModel() -> String {
    files.text("/proc/cpuinfo").flatMap(Self.cpuModel) ?? "unknown"
  }

  /// The counters now. Measuring the clock takes about 5 ms of this thread.
  package func state(measuresClock: Bool = true) -> SystemState {
    var state = SystemState()
    if measuresClock { state.effectiveGigahertz = ClockCalibration.gigahertz() }
    state.monotonicNanoseconds = TraceClock.now()
    readProcess(&state)
    // The system can begin this peak anew (`clear_refs`), unlike the one of `getrusage`.
    if let peak = files.text("/proc/self/status")
      .flatMap({ SystemText.value(of: "VmHWM", in: $0) }).flatMap(SystemText.byteCount)
    {
      state.peakResidentByteCount = peak
    }
    if let stat = files.text("/proc/stat") { Self.readCPUTime(stat, into: &state) }
    state.pressureNanoseconds = files.text("/proc/pressure/cpu").flatMap(Self.pressure)
    state.loadAverage = files.text("/proc/loadavg")
      .flatMap { $0.split(separator: " ").first }.flatMap { Double($0) }
    return state
  }

  // MARK: - What the machine is

  private func describeCPU(_ environment: inout Environment) {
    if let text = files.text("/proc/cpuinfo") {
      environment.cpuModel = Self.cpuModel(text)
      let flags = SystemText.value(of: "flags", in: text)
      environment.isVirtual = flags.map { $0.split(separator: " ").contains("hypervisor") }
    }
    environment.onlineCores = files.line("/sys/devices/system/cpu/online")
      .flatMap(SystemText.listCount)
    environment.affinityCores = files.text("/proc/self/status")
      .flatMap { SystemText.value(of: "Cpus_allowed_list", in: $0) }
      .flatMap(SystemText.listCount)
    environment.quotaCores = files.line("/sys/fs/cgroup/cpu.max").flatMap(Self.quota)
    environment.caches = caches()
    environment.frequencyGovernor =
      files.line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
  }

  private func describeMemory(_ environment: inout Environment) {
    environment.memoryByteCount = files.text("/proc/meminfo")
      .flatMap { SystemText.value(of: "MemTotal", in: $0) }.flatMap(SystemText.byteCount)
    environment.memoryLimitByteCount = files.number("/sys/fs/cgroup/memory.max")
    environment.hugePageMode = files.text("/sys/kernel/mm/transparent_hugepage/enabled")
      .flatMap(SystemText.chosen)
  }

  /// Bytes of the largest cache; nil where the system does not say.
  package var largestCacheByteCount: Int? { caches().map(\.byteCount).max() }

  private func caches() -> [Environment.CacheLevel] {
    // CPUs have at most five; the bound only keeps a strange system from going on.
    (0..<16).compactMap { index in
      let folder = "/sys/devices/system/cpu/cpu0/cache/index\(index)"
      guard let level = files.number("\(folder)/level"),
        let type = files.line("\(folder)/type"),
        let byteCount = files.line("\(folder)/size").flatMap(SystemText.byteCount)
      else { return nil }
      return Environment.CacheLevel(
        level: level, type: type, byteCount: byteCount,
        sharedBy: files.line("\(folder)/shared_cpu_list"))
    }
  }

  private func operatingSystem() -> String? {
    files.text("/etc/os-release")
      .flatMap { SystemText.value(of: "PRETTY_NAME", in: $0, separator: "=") }
      .flatMap { text in SystemText.trimmed(text.drop { $0 == "\"" }.prefix { $0 != "\"" }) }
  }

  // MARK: - What state it is in

  private func readProcess(_ state: inout SystemState) {
    var usage = rusage()
    // 0 is RUSAGE_SELF, which imports as another type than the function takes. The pointer is to a
    // local and does not outlive the call.
    guard unsafe getrusage(0, &usage) == 0 else { return }
    func nanoseconds(_ time: timeval) -> UInt64 {
      UInt64(clamping: time.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: time.tv_usec) &* 1_000
    }
    state.processCPUNanoseconds = nanoseconds(usage.ru_utime) &+ nanoseconds(usage.ru_stime)
    state.majorFaults = Int(usage.ru_majflt)
    state.minorFaults = Int(usage.ru_minflt)
    state.voluntarySwitches = Int(usage.ru_nvcsw)
    state.involuntarySwitches = Int(usage.ru_nivcsw)
    // Linux counts in KiB.
    state.peakResidentByteCount = Int(usage.ru_maxrss) << 10
  }

  /// The first line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal; guest
  /// time is part of user's.
  static func readCPUTime(_ text: String, into state: inout SystemState) {
    guard let line = text.split(whereSeparator: \.isNewline).first(where: { $0.hasPrefix("cpu ") })
    else { return }
    let ticks = line.split(separator: " ").dropFirst().map { UInt64($0) ?? 0 }
    guard ticks.count >= 8 else { return }
    let perSecond = UInt64(clamping: max(sysconf(Int32(_SC_CLK_TCK)), 1))
    // Ticks of a file from outside: wrapping arithmetic cannot trap.
    func nanoseconds(_ places: [Int]) -> UInt64 {
      places.reduce(0) { $0 &+ ticks[$1] } &* (1_000_000_000 / perSecond)
    }
    state.busyNanoseconds = nanoseconds([0, 1, 2, 5, 6])
    state.stealNanoseconds = nanoseconds([7])
    state.totalNanoseconds = nanoseconds([0, 1, 2, 3, 4, 5, 6, 7])
  }

  /// The total of the `some` line of `/proc/pressure/cpu`, which counts microseconds.
  static func pressure(_ text: String) -> UInt64? {
    guard let line = text.split(whereSeparator: \.isNewline).first(where: { $0.hasPrefix("some") }),
      let total = line.split(separator: " ").first(where: { $0.hasPrefix("total=") }),
      let microseconds = UInt64(total.dropFirst(6))
    else { return nil }
    let (nanoseconds, overflow) = microseconds.multipliedReportingOverflow(by: 1_000)
    return overflow ? nil : nanoseconds
  }

  static func cpuModel(_ text: String) -> String? {
    SystemText.value(of: "model name", in: text) ?? SystemText.value(of: "Model", in: text)
  }

  /// `cpu.max`: quota and period in microseconds, or `max`.
  static func quota(_ text: String) -> Double? {
    let parts = text.split(separator: " ").compactMap { Double($0) }
    guard parts.count == 2, parts[1] > 0 else { return nil }
    return parts[0] / parts[1]
  }
}

/// How this was compiled.
package enum BuildConfiguration {
  /// Whether the optimiser was off: such a build's times mean nothing.
  package static let isDebug = _isDebugAssertConfiguration()
}
