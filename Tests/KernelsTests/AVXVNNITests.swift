import CVNNIEmulation
import KernelChecks
import KernelContract
import Kernels
import PackedFormats
import Testing

/// The kernels of the `avx2vnni` level, executed on CPUs without AVX-VNNI too: the one instruction
/// that they lack is done by a signal handler, everything else by the CPU.
struct AVXVNNITests {
  static let features = CPUFeatures.detect()
  static let hasAVX2 = features.isSuperset(of: InstructionSet.avx2.requirements)

  /// Each product traps for every 32 codes: small cases, and each of the larger kinds once.
  static func cases(_ format: WeightFormat) -> [ProductCase] {
    ProductCase.cases(format, isQuick: true)
      + ProductCase.cases(format, isQuick: false).filter { $0.rows * $0.columns * $0.tokens < 2500 }
  }

  @Test(.enabled(if: hasAVX2, "needs AVX2")) func productsAgreeWithTheReference() async {
    // A process of its own: the handler stays out of the other tests.
    await #expect(processExitsWith: .success) {
      #expect(ve_install())
      let entries = KernelRegistry.packedProducts.filter { $0.instructionSet == .avx2vnni }
      #expect(entries.count == 12)
      for entry in entries {
        let format = try #require(entry.weights)
        let before = ve_count()
        for test in Self.cases(format) {
          let data = try ProductData(test)
          let difference = data.difference(entry.function, data.expected)
          #expect(difference == nil, "\(entry.name) \(test.description)")
        }
        #expect(
          ve_count() > before || Self.features.contains(.avxvnni),
          "\(entry.name) has no VEX-coded vpdpbusd")
      }
    }
  }
}
