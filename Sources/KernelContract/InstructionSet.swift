/// A level that kernels are compiled for. The raw value is its name in `AFM_ISA`, in kernel names
/// and in results.
public enum InstructionSet: String, CaseIterable, Hashable, Sendable, Comparable {
  /// Plain Swift, any CPU.
  case portable
  /// AVX2, FMA, F16C and BMI2.
  case avx2
  /// The same with AVX-VNNI, which CPUs have that lack AVX-512; what gains nothing by it runs the
  /// kernels of `avx2`.
  case avx2vnni
  /// AVX-512 F, BW, VL, DQ and VNNI, over everything that `avx2` has.
  case avx512vnni

  /// What a CPU must have for this level.
  public var requirements: CPUFeatures {
    switch self {
    case .portable: []
    case .avx2: [.avx2, .fma, .f16c, .bmi2]
    case .avx2vnni: [.avx2, .fma, .f16c, .bmi2, .avxvnni]
    case .avx512vnni:
      [
        .avx2, .fma, .f16c, .bmi2,
        .avx512f, .avx512bw, .avx512vl, .avx512dq, .avx512vnni,
      ]
    }
  }

  /// The levels a CPU with those features can run, worst first; never empty.
  public static func available(on features: CPUFeatures) -> [InstructionSet] {
    allCases.filter { features.isSuperset(of: $0.requirements) }
  }

  /// Levels are ordered by how fast they are. A CPU of one level has those before it, but for
  /// `avx2vnni`, which the first CPUs of `avx512vnni` lack.
  public static func < (a: InstructionSet, b: InstructionSet) -> Bool { a.rank < b.rank }

  private var rank: Int {
    switch self {
    case .portable: 0
    case .avx2: 1
    case .avx2vnni: 2
    case .avx512vnni: 3
    }
  }
}
