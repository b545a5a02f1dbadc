import CQuantKernels
import KernelContract
import PackedFormats
import RandomNumbers

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The walk over levels and formats.
struct KernelFuzz {
  private var caseCount = 1000
  private var firstCase = 0
  private var seed: UInt64 = 1
  private var level: InstructionSet?
  private var format: WeightFormat?
  private var path: String?

  private static let formats: [WeightFormat] = [
    .u2c, .u2g64, .u4g32, .u4c, .s8c, .s8g32, .astc6x6LDR, .astc6x6HDR,
  ]
  private static let levels: [(InstructionSet, afm_level)] = [
    (.portable, 1), (.avx2, 2), (.avx2vnni, 4), (.avx512vnni, 3),
  ]

  /// What the program does; returns its exit code.
  static func main(arguments: [String]) -> Int32 {
    var fuzz = KernelFuzz()
    guard fuzz.read(arguments) else {
      print(
        """
        usage: kernel-fuzz [--cases N] [--first N] [--seed N] [--format NAME]
                           [--level portable|avx2|avx2vnni|avx512vnni] [--library PATH]
        """)
      return 2
    }
    return fuzz.run()
  }

  private mutating func read(_ arguments: [String]) -> Bool {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      guard let value = rest.popFirst() else { return false }
      switch argument {
      case "--cases":
        guard let count = Int(value), (1...1_000_000_000).contains(count) else { return false }
        caseCount = count
      case "--first":
        guard let first = Int(value), (0...1_000_000_000).contains(first) else { return false }
        firstCase = first
      case "--seed":
        guard let number = UInt64(value) else { return false }
        seed = number
      case "--level":
        guard let named = InstructionSet(rawValue: value) else { return false }
        level = named
      case "--format":
        guard let named = WeightFormat(name: value), Self.formats.contains(named) else {
          return false
        }
        format = named
      case "--library": path = value
      default: return false
      }
    }
    return true
  }

  private func run() -> Int32 {
    guard let library = FuzzedLibrary(path: path) else {
      print("kernel-fuzz: \(path ?? ""): no library with the functions of afm_kernels.h")
      return 4
    }
    guard let portable = unsafe library.kernels(1) else { return 4 }
    Watchdog.start()
    var failed = false
    var runs = 0
    for (set, number) in Self.levels where level == nil || level == set {
      guard let kernels = unsafe library.kernels(number) else { continue }
      for format in Self.formats where self.format == nil || self.format == format {
        let name = "\(set.rawValue) \(format.name)"
        Watchdog.begin(name)
        guard
          let run = unsafe FuzzRun(
            library, kernels: kernels, portable: portable,
            matrices: FuzzedMatrix.all(format, library, seed: seed))
        else {
          print("kernel-fuzz: no memory")
          return 4
        }
        let clock = ContinuousClock()
        let begin = clock.now
        var wholeCount = 0
        for number in firstCase..<firstCase + caseCount {
          Watchdog.begin(case: number)
          let outcome = run.perform(SplitMix64.mix(seed &+ UInt64(number) &* SplitMix64.increment))
          if outcome.isWhole { wholeCount += 1 }
          guard let fault = outcome.fault else { continue }
          print("\(name): case \(number): \(fault)")
          failed = true
        }
        let seconds = Double((clock.now - begin) / Duration.milliseconds(100)) / 10
        let tenths = (seconds * 10).rounded() / 10
        print(
          "\(name): \(caseCount) memories, \(wholeCount) whole, seed \(seed), \(tenths) s")
        // A fault ends the process without what is still in memory.
        fflush(nil)
        runs += 1
      }
    }
    Watchdog.end()
    if runs == 0 {
      print("kernel-fuzz: this CPU lacks that level")
      return 4
    }
    if !failed { print("every call ended inside of its memory") }
    return failed ? 1 : 0
  }
}
