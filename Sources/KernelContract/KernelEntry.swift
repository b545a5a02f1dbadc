import PackedFormats

/// The operations that kernels exist for. The raw value begins a kernel's name.
package enum KernelOperation: String, Hashable, Sendable, CaseIterable {
  /// f32 activations to int8 with sums, and a scale per token or per token and chunk.
  case quantizePerToken = "quantize_s8t"
  case quantizePerChunk = "quantize_s8g64"
  case quantizePerBlock = "quantize_s8g36"
  /// Packed weights times the activations of one token.
  case gemv
  /// Packed weights times the activations of many tokens.
  case gemm
  /// Root-mean-square norm of a row.
  case rmsNorm = "rmsnorm"
  /// The same of every head of a row.
  case headNorm = "headnorm"
  /// The gated product of a feed-forward layer.
  case swiglu
  case add
  case multiply
  case scale
  case softmax
  /// f32 to f16, f16 to f32, f32 to s8 and to s16 with a scale.
  case convertToF16 = "convert_f16_f32"
  case convertFromF16 = "convert_f32_f16"
  case convertToS8 = "convert_s8_f32"
  case convertToS16 = "convert_s16_f32"
  /// Rotary position embedding, pairs half a head apart or adjacent.
  case rotateHalves = "rope_halves"
  case rotateAdjacent = "rope_adjacent"
  case argMax = "argmax"
  /// The places of the k largest values.
  case topK = "topk"
  /// Small float products with f32 and f16 on the right: attention.
  case panelF32 = "panel_f32_f32_f32"
  case panelF16 = "panel_f32_f32_f16"
  /// The same in integers, with 16-bit numbers on the left.
  case panelCodes = "panel_f32_s16_s8"
  /// A block of an online softmax.
  case softmaxBlock = "softmax_block"
  /// Rows of f32 to s16 with a scale each.
  case rowCodes = "rowcodes_s16"
  /// 4-bit codes of a page's keys and of its values to bytes.
  case nibbleRows = "nibble_rows"
  case nibblePairs = "nibble_pairs"
  /// A head's key or value to the cache's codes.
  case cacheS8 = "cache_s8"
  case cacheU4 = "cache_u4g32"
}

extension KernelOperation {
  /// What a quantization writes; nil for all other operations.
  package var quantizedGrouping: ActivationGrouping? {
    switch self {
    case .quantizePerToken: .perToken
    case .quantizePerChunk: .perChunk
    case .quantizePerBlock: .perBlock
    default: nil
    }
  }
}

/// One kernel of a registry list: what it is called, what it is for, and the function.
///
/// A list's order is the preference. A kernel may run where the CPU has `requirements`, and is
/// chosen for a level only where `instructionSet` does not exceed that level.
@safe package struct KernelEntry<Function: Sendable>: Sendable {
  /// `op_out_activations_weights_tile_instructionset`, such as `gemv_f32_s8g64_s8c_r16_avx2`.
  package let name: String
  package let operation: KernelOperation
  /// Nil where the operation reads no weights.
  package let weights: WeightFormat?
  package let instructionSet: InstructionSet
  /// All that the code uses; more than the level's own for a variant with optional features.
  package let requirements: CPUFeatures
  package let function: Function

  package init(
    _ name: String, _ operation: KernelOperation, _ weights: WeightFormat? = nil,
    _ instructionSet: InstructionSet, additionally features: CPUFeatures = [], _ function: Function
  ) {
    self.name = name
    self.operation = operation
    self.weights = weights
    self.instructionSet = instructionSet
    self.requirements = instructionSet.requirements.union(features)
    self.function = function
  }
}

extension Array {
  /// The most preferred kernel for an operation at a level; nil where none fits.
  package func selected<Function>(
    _ operation: KernelOperation, _ weights: WeightFormat? = nil, at level: InstructionSet,
    on features: CPUFeatures
  ) -> KernelEntry<Function>? where Element == KernelEntry<Function> {
    first {
      $0.operation == operation && $0.weights == weights && $0.instructionSet <= level
        && features.isSuperset(of: $0.requirements)
    }
  }
}
