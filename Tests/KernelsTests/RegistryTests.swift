import KernelChecks
import KernelContract
import Kernels
import PackedFormats
import QuantKernels
import Testing

/// Every kernel of the registry that this CPU can run, against the scalar reference, bit for bit,
/// at odd sizes, with misaligned outputs and guard words around them.
struct RegistryTests {
  static let features = CPUFeatures.detect()
  static let formats = ProductCase.formats

  @Test(arguments: formats)
  func productsAgreeWithTheReference(_ format: WeightFormat) throws {
    let entries = KernelRegistry.packedProducts.filter {
      $0.weights == format && Self.features.isSuperset(of: $0.requirements)
    }
    #expect(entries.contains { $0.instructionSet == .portable && $0.operation == .gemv })
    #expect(entries.contains { $0.instructionSet == .portable && $0.operation == .gemm })
    for test in ProductCase.cases(format, isQuick: false) {
      let data = try ProductData(test)
      let expected = data.expected
      for entry in entries {
        let difference = data.difference(entry.function, expected)
        #expect(difference == nil, "\(entry.name) \(test.description)")
      }
    }
  }

  @Test func quantizationsAgreeWithTheReference() throws {
    for entry in KernelRegistry.quantizations
    where Self.features.isSuperset(of: entry.requirements) {
      let grouping = try #require(entry.operation.quantizedGrouping)
      let result = QuantizationCheck.run(entry.function, grouping, isQuick: false)
      #expect(result.failure == nil, "\(entry.name)")
      #expect(result.caseCount > 100)
    }
  }

  /// A level's features and those that a kernel of it may need beside them.
  static func allFeatures(_ level: InstructionSet) -> CPUFeatures {
    level.requirements.union(level == .avx512vnni ? [.avx512vbmi, .avx512vbmi2] : [])
  }

  /// AVX-512 without VBMI, as the first CPUs with VNNI have it, runs the kernels of the level below.
  @Test(arguments: [WeightFormat.astc6x6LDR, .astc6x6HDR])
  func kernelsThatNeedMoreThanTheirLevelAreNotChosenWithout(_ format: WeightFormat) {
    let entry = KernelRegistry.packedProducts.selected(
      .gemv, format, at: .avx512vnni, on: InstructionSet.avx512vnni.requirements)
    #expect(entry?.instructionSet == .avx2)
  }

  /// AVX-VNNI has products of its own; quantizations, and what is over ASTC, are those of AVX2.
  @Test func everyLevelHasEveryKernelUnderItsName() {
    for forced in InstructionSet.allCases {
      for format in Self.formats {
        let level = forced == .avx2vnni && format.isASTC ? .avx2 : forced
        for operation in [KernelOperation.gemv, .gemm] {
          let entry = KernelRegistry.packedProducts.selected(
            operation, format, at: forced, on: Self.allFeatures(forced))
          #expect(entry?.instructionSet == level)
          let grouping = ActivationGrouping.required(by: format).rawValue
          #expect(
            entry?.name.hasPrefix("\(operation.rawValue)_f32_\(grouping)_\(format.name)_") == true)
          #expect(entry?.name.hasSuffix("_\(level.rawValue)") == true)
        }
      }
      let level = forced == .avx2vnni ? .avx2 : forced
      for operation in [KernelOperation.quantizePerToken, .quantizePerChunk, .quantizePerBlock] {
        let entry = KernelRegistry.quantizations.selected(
          operation, at: forced, on: forced.requirements)
        #expect(entry?.name == "\(operation.rawValue)_f32_\(level.rawValue)")
      }
    }
  }
}
