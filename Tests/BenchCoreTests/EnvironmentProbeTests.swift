import BenchCore
import Foundation
import Testing

@Suite struct EnvironmentProbeTests {
  /// A folder with these files, removed afterwards.
  private func withRoot<R>(_ files: [String: String], _ body: (String) throws -> R) throws -> R {
    let root = FileManager.default.temporaryDirectory
      .appendingPathComponent("probe-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: root) }
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    for (path, text) in files {
      let file = root.appendingPathComponent(path)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
    return try body(root.path)
  }

  private func environment(_ root: String) -> Environment {
    EnvironmentProbe(root: root).environment(
      toolVersion: "1", buildCommit: "c", instructionSet: "avx2", features: ["avx2"])
  }

  @Test func readsWhatTheSystemTells() throws {
    let cache = "/sys/devices/system/cpu/cpu0/cache/index2"
    let files = [
      "/proc/cpuinfo": "processor\t: 0\nmodel name\t: A CPU @ 3: fast\nflags\t\t: fpu hypervisor\n",
      "/sys/devices/system/cpu/online": "0-3,8\n",
      "/proc/self/status": "Name:\tx\nVmHWM:\t    12 kB\nCpus_allowed_list:\t1,3\n",
      "/sys/fs/cgroup/cpu.max": "150000 100000\n",
      "/sys/fs/cgroup/memory.max": "1048576\n",
      "\(cache)/level": "2\n", "\(cache)/type": "Unified\n", "\(cache)/size": "2048K\n",
      "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
      "/proc/meminfo": "MemTotal:       8388608 kB\n",
      "/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
      "/etc/os-release": "NAME=x\nPRETTY_NAME=\"Debian 12\"\n",
      "/proc/sys/kernel/osrelease": "6.1.0\n",
      "/proc/stat": "cpu  100 10 50 1000 5 3 2 7 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n",
      "/proc/pressure/cpu": "some avg10=0.0 avg60=0.0 avg300=0.0 total=84\nfull total=1\n",
      "/proc/loadavg": "0.50 1.30 0.89 1/100 5\n",
    ]
    try withRoot(files) { root in
      let environment = environment(root)
      #expect(environment.cpuModel == "A CPU @ 3: fast")
      #expect(environment.isVirtual == true)
      #expect(environment.onlineCores == 5)
      #expect(environment.affinityCores == 2)
      #expect(environment.quotaCores == 1.5)
      #expect(environment.memoryLimitByteCount == 1_048_576)
      #expect(
        environment.caches == [
          .init(level: 2, type: "Unified", byteCount: 2_097_152, sharedBy: nil)
        ])
      #expect(environment.frequencyGovernor == "performance")
      #expect(environment.memoryByteCount == 8_589_934_592)
      #expect(environment.hugePageMode == "madvise")
      #expect(environment.operatingSystem == "Debian 12")
      #expect(environment.kernelVersion == "6.1.0")
      let state = EnvironmentProbe(root: root).state(measuresClock: false)
      let busy = try #require(state.busyNanoseconds)
      let total = try #require(state.totalNanoseconds)
      let steal = try #require(state.stealNanoseconds)
      // Whatever a tick is: 165 busy and 7 stolen of 1,177.
      #expect(busy * 1_177 == total * 165)
      #expect(steal * 1_177 == total * 7)
      #expect(state.pressureNanoseconds == 84_000)
      #expect(state.loadAverage == 0.5)
      #expect(state.peakResidentByteCount == 12_288)
      #expect(state.effectiveGigahertz == nil)
    }
  }

  @Test func missingFilesAreNil() throws {
    try withRoot([:]) { root in
      let environment = environment(root)
      #expect(environment.cpuModel == nil)
      #expect(environment.onlineCores == nil)
      #expect(environment.caches.isEmpty)
      #expect(environment.memoryByteCount == nil)
      #expect(EnvironmentProbe(root: root).cpuModel() == "unknown")
      let state = EnvironmentProbe(root: root).state(measuresClock: false)
      #expect(state.busyNanoseconds == nil)
      #expect(state.pressureNanoseconds == nil)
      // The process's own counters need no file.
      #expect(state.processCPUNanoseconds != nil)
    }
  }

  @Test(arguments: [
    "", "\n", "garbage", "cpu ", "cpu  1 2 3", "cpu  99999999999999999999 -1 x 4 5 6 7 8 9",
    "cpu  18446744073709551615 18446744073709551615 1 1 1 1 1 18446744073709551615",
    "some total=99999999999999999999", "some total=18446744073709551615", ": :\n:", "[", "]x[",
    "9-1", "0-99999999999999999999", "-", "99999999999999999999K", "9223372036854775807 kB",
    "max 100000", "1 0", "PRETTY_NAME=\"", "flags", "\u{0}\u{FFFD}",
  ])
  func strangeFilesDoNotTrap(text: String) throws {
    let paths = [
      "/proc/cpuinfo", "/sys/devices/system/cpu/online", "/proc/self/status",
      "/sys/fs/cgroup/cpu.max", "/sys/fs/cgroup/memory.max", "/proc/meminfo", "/proc/stat",
      "/sys/kernel/mm/transparent_hugepage/enabled", "/etc/os-release", "/proc/pressure/cpu",
      "/sys/devices/system/cpu/cpu0/cache/index0/level", "/proc/loadavg",
      "/sys/devices/system/cpu/cpu0/cache/index0/type",
      "/sys/devices/system/cpu/cpu0/cache/index0/size",
    ]
    try withRoot(Dictionary(uniqueKeysWithValues: paths.map { ($0, text) })) { root in
      let probe = EnvironmentProbe(root: root)
      let first = probe.state(measuresClock: false)
      let change = SystemChange(from: first, to: probe.state(measuresClock: false))
      #expect(change.stealShare == nil)
      #expect(environment(root).onlineCores == nil)
      #expect(environment(root).memoryByteCount == nil)
    }
  }

  @Test func thisMachineAnswers() {
    let environment = environment("")
    #expect(environment.kernelVersion != nil)
    #expect((environment.affinityCores ?? 1) >= 1)
    let probe = EnvironmentProbe()
    let before = probe.state()
    let after = probe.state()
    #expect((before.effectiveGigahertz ?? 0) > 0)
    #expect(after.monotonicNanoseconds > before.monotonicNanoseconds)
    #expect((after.peakResidentByteCount ?? 0) > 1 << 20)
  }

  @Test(arguments: [
    (0, "1970-01-01T00:00:00Z"), (951_782_399, "2000-02-28T23:59:59Z"),
    (951_782_400, "2000-02-29T00:00:00Z"), (1_709_164_800, "2024-02-29T00:00:00Z"),
    (1_735_689_599, "2024-12-31T23:59:59Z"), (4_107_542_400, "2100-03-01T00:00:00Z"),
  ])
  func timestamps(seconds: Int, text: String) {
    #expect(Timestamp.text(secondsSince1970: seconds) == text)
  }

  @Test(arguments: [
    (0.0, 2, "0.00"), (1.005, 1, "1.0"), (2.5, 0, "3"), (-2.5, 0, "-3"), (-0.004, 2, "0.00"),
    (999.996, 2, "1000.00"), (0.05, 1, "0.1"), (123456.789, 3, "123456.789"),
    (.infinity, 1, "inf"), (1e30, 1, "1e+30"),
  ])
  func decimals(value: Double, decimals: Int, text: String) {
    #expect(DecimalText.fixed(value, decimals) == text)
  }
}
