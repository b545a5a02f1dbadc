import KernelContract
import Kernels
import PackedFormats

extension KernelLibrary {
  /// A kernel that a matrix runs on.
  package struct ProductKernel: Hashable, Sendable {
    package var name: String
    /// What it is compiled for, which may be less than the library's level: a kernel may need more
    /// than a level has, or gain nothing by it.
    package var instructionSet: InstructionSet
  }

  /// The kernels that matrices of a format run on: of their activations' quantization, where they
  /// have one, and GEMV and GEMM.
  package func productKernels(of format: WeightFormat) -> [ProductKernel] {
    func chosen<Function>(
      _ list: [KernelEntry<Function>], _ operation: KernelOperation, _ weights: WeightFormat?
    ) -> ProductKernel {
      guard let entry = list.selected(operation, weights, at: instructionSet, on: features) else {
        preconditionFailure("\(operation) has no portable kernel")
      }
      return ProductKernel(name: entry.name, instructionSet: entry.instructionSet)
    }
    switch format {
    case .f32, .f16:
      return [KernelOperation.gemv, .gemm].map {
        unsafe chosen(KernelRegistry.floatProducts, $0, format)
      }
    case .u2t, .u2c, .u2g64, .u4g32, .u4c, .s8c, .s8g32, .astc6x6LDR, .astc6x6HDR:
      let grouping = ActivationGrouping.required(by: format)
      let quantization = KernelOperation.allCases.first { $0.quantizedGrouping == grouping }
      // The layout repeats the one scale of u2t for every row, and u2c's kernels run.
      let weights = format == .u2t ? .u2c : format
      return (quantization.map { [chosen(KernelRegistry.quantizations, $0, nil)] } ?? [])
        + [KernelOperation.gemv, .gemm].map { chosen(KernelRegistry.packedProducts, $0, weights) }
    }
  }
}
