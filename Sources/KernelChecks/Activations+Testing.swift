import CKernels
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

  /// One token by one kernel, read back, with the sum that s8t writes. The second token's place must
  /// stay as it was, and the input is aligned as one float only.
  func quantized(
    _ values: [Float], _ grouping: ActivationGrouping, by function: QuantizationFunction
  ) -> (token: QuantizedToken, sum: Int32) {
    prepare(tokenCount: 2, columnCount: values.count, grouping: grouping)
    let guardByte: Int8 = 0x55
    let guardScale: Float = 77
    // Both tokens' places lie within the capacity of two.
    for i in 0..<stride * 2 { unsafe codes[i] = guardByte }
    for i in 0..<scaleStride * 2 { unsafe scales[i] = guardScale }
    let shifted = [0] + values
    unsafe shifted.withUnsafeBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return }
      var arguments = unsafe CKQuantization(
        input: base + 1, activations: codes, activationScales: scales, tokenSums: sums,
        groupSums: groupSums, inputStride: 0, activationStride: stride,
        activationScaleStride: scaleStride, groupSumStride: groupSumStride,
        columnCount: values.count, chunkCount: chunkCount, tokenBegin: 0, tokenEnd: 1)
      unsafe function(&arguments)
    }
    var token = QuantizedToken(
      activations: values.indices.map { unsafe codes[$0] },
      scales: (0..<scaleStride).map { unsafe scales[$0] }, grouping)
    let sumCount = grouping == .perBlock ? chunkCount : (values.count + 31) / 32
    token.groupSums = (0..<sumCount).map { unsafe groupSums[$0] }
    let end = chunkCount * grouping.chunkColumns
    let padding = (values.count..<end).allSatisfy { unsafe codes[$0] == 0 }
    let after = (end..<stride * 2).allSatisfy { unsafe codes[$0] == guardByte }
    let scalesAfter = (scaleStride..<scaleStride * 2).allSatisfy { unsafe scales[$0] == guardScale }
    if !padding || !after || !scalesAfter { token.activations.append(0) }
    return (token, unsafe sums[0])
  }
}
