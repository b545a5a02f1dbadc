import CKernels
import KernelContract
import KernelReference
import QuantKernels

extension Activations {
  /// Fills with tokens that are quantized already.
  func assign(_ tokens: [QuantizedToken]) {
    prepare(tokenCount: tokens.count, columnCount: tokens.first?.activations.count ?? 0)
    // The capacities were checked by `prepare`; the padding is zeroed as the contract says.
    for (t, token) in tokens.enumerated() {
      for column in 0..<chunkCount * 64 {
        let isColumn = column < token.activations.count
        unsafe codes[t * stride + column] = isColumn ? token.activations[column] : 0
      }
      for group in 0..<chunkCount * 2 {
        let isGroup = group < token.groupSums.count
        unsafe groupSums[t * chunkCount * 2 + group] = isGroup ? token.groupSums[group] : 0
      }
      unsafe scales[t] = token.scale
      unsafe sums[t] = token.sum
    }
  }

  /// One token by one kernel, read back. The second token's place must stay as it was.
  func quantized(_ values: [Float], by function: QuantizationFunction) -> QuantizedToken {
    prepare(tokenCount: 2, columnCount: values.count)
    let guardByte: Int8 = 0x55
    // Both tokens' places lie within the capacity of two.
    for i in 0..<stride * 2 { unsafe codes[i] = guardByte }
    unsafe values.withUnsafeBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return }
      var arguments = unsafe CKQuantization(
        input: base, activations: codes, tokenScales: scales, tokenSums: sums,
        groupSums: groupSums, inputStride: 0, activationStride: stride,
        groupSumStride: chunkCount * 2, columnCount: values.count, chunkCount: chunkCount,
        tokenBegin: 0, tokenEnd: 1)
      unsafe function(&arguments)
    }
    var token = QuantizedToken(
      activations: values.indices.map { unsafe codes[$0] }, scale: unsafe scales[0])
    token.sum = unsafe sums[0]
    token.groupSums = (0..<(values.count + 31) / 32).map { unsafe groupSums[$0] }
    let padding = (values.count..<chunkCount * 64).allSatisfy { unsafe codes[$0] == 0 }
    let after = (chunkCount * 64..<stride * 2).allSatisfy { unsafe codes[$0] == guardByte }
    if !padding || !after { token.activations.append(0) }
    return token
  }
}
