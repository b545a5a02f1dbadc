import KernelContract
import KernelReference
import QuantKernels

extension Activations {
  /// Fills with tokens that are quantized already.
  func assign(_ tokens: [QuantizedToken]) {
    prepare(
      tokenCount: tokens.count, columnCount: tokens.first?.activations.count ?? 0,
      grouping: tokens.first?.grouping ?? .perToken)
    // The capacities were checked by `prepare`; the padding is zeroed as the contract says.
    for (t, token) in tokens.enumerated() {
      for column in 0..<chunkCount * grouping.chunkColumns {
        let isColumn = column < token.activations.count
        unsafe codes[t * stride + column] = isColumn ? token.activations[column] : 0
      }
      for group in 0..<groupSumStride {
        let isGroup = group < token.groupSums.count
        unsafe groupSums[t * groupSumStride + group] = isGroup ? token.groupSums[group] : 0
      }
      for (place, scale) in token.scales.enumerated() {
        unsafe scales[t * scaleStride + place] = scale
      }
      // The products of chunks must not read the sums of tokens.
      unsafe sums[t] = grouping == .perToken ? token.sum : 0x5555_5555
    }
  }
}
