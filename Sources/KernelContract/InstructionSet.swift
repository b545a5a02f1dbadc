/// A level that kernels are compiled for. The raw value is its name in `AFM_ISA`, in kernel names
/// and in results.
public enum InstructionSet: String, CaseIterable, Hashable, Sendable, Comparable {
  /// Plain Swift, any CPU.
  case portable
  /// AVX2, FMA, F16C and BMI2.
  case avx2
  /// AVX-512 F, BW, VL, DQ and VNNI, over everything that `avx2` has.
  case avx512vnni

  /// What a CPU must have for this level.
  public var requirements: CPUFeatures {
    switch self {
    case .portable: []
    case .avx2: [.avx2, .fma, .f16c, .bmi2]
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

  /// Levels are ordered by what they require.
  public static func < (a: InstructionSet, b: InstructionSet) -> Bool {
    a.requirements.rawValue < b.requirements.rawValue
  }
}
