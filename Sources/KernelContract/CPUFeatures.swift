import CKernels

/// What a CPU can do and its operating system lets it do, as far as kernels ask.
public struct CPUFeatures: OptionSet, Hashable, Sendable {
  /// A bit a feature, as CKernels numbers them.
  public let rawValue: UInt32

  /// Features by their bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  package static let avx2 = CPUFeatures(rawValue: UInt32(CK_FEATURE_AVX2))
  package static let fma = CPUFeatures(rawValue: UInt32(CK_FEATURE_FMA))
  package static let f16c = CPUFeatures(rawValue: UInt32(CK_FEATURE_F16C))
  package static let bmi2 = CPUFeatures(rawValue: UInt32(CK_FEATURE_BMI2))
  package static let avx512f = CPUFeatures(rawValue: UInt32(CK_FEATURE_AVX512F))
  package static let avx512bw = CPUFeatures(rawValue: UInt32(CK_FEATURE_AVX512BW))
  package static let avx512vl = CPUFeatures(rawValue: UInt32(CK_FEATURE_AVX512VL))
  package static let avx512dq = CPUFeatures(rawValue: UInt32(CK_FEATURE_AVX512DQ))
  package static let avx512vnni = CPUFeatures(rawValue: UInt32(CK_FEATURE_AVX512VNNI))
  package static let avx512vbmi = CPUFeatures(rawValue: UInt32(CK_FEATURE_AVX512VBMI))
  package static let avx512vbmi2 = CPUFeatures(rawValue: UInt32(CK_FEATURE_AVX512VBMI2))
  package static let avxvnni = CPUFeatures(rawValue: UInt32(CK_FEATURE_AVXVNNI))

  /// The features of the CPU this runs on: CPUID, and XGETBV for the registers that the operating
  /// system saves. A few hundred cycles (thousands in a virtual machine); ask once.
  public static func detect() -> CPUFeatures { CPUFeatures(rawValue: ck_cpu_features()) }

  private static let names: [(CPUFeatures, String)] = [
    (.avx2, "avx2"), (.fma, "fma"), (.f16c, "f16c"), (.bmi2, "bmi2"),
    (.avx512f, "avx512f"), (.avx512bw, "avx512bw"), (.avx512vl, "avx512vl"),
    (.avx512dq, "avx512dq"), (.avx512vnni, "avx512vnni"), (.avx512vbmi, "avx512vbmi"),
    (.avx512vbmi2, "avx512vbmi2"), (.avxvnni, "avxvnni"),
  ]

  /// The names of the features, as in CPU manuals, lower-case.
  public var featureNames: [String] {
    Self.names.filter { contains($0.0) }.map { $0.1 }
  }
}
