import CKernels
import KernelContract
import KernelReference
import QuantKernels
import RandomNumbers

/// A quantization kernel against the reference: plain, tiny, NaN, infinite, halfway and zero tokens,
/// and some whose chunks differ.
package enum QuantizationCheck {
  package static func run(
    _ function: QuantizationFunction, _ grouping: ActivationGrouping, isQuick: Bool
  ) -> (caseCount: Int, failure: String?) {
    var cases = 0
    var failure: String?
    var random = SplitMix64(seed: 99)
    let size = grouping.chunkColumns
    for columns in isQuick ? [1, 31, 65, 257] : Array(1...257) + [2048] {
      for kind in 0..<8 where failure == nil {
        cases += 1
        let values = (0..<columns).map { i in
          let unit = Float(Int64(bitPattern: random.next()) >> 40) * 0x1p-23
          switch kind {
          case 0: return unit
          case 1: return unit * 0x1p-112
          case 2: return i == columns / 2 ? .nan : unit
          case 3: return i == columns - 1 ? -.infinity : unit
          case 4: return i == 0 ? 127 : (unit * 128).rounded() + 0.5
          case 5: return -0.0
          // Plain, zero, tiny and large chunks in turn.
          case 6: return unit * [1, 0, 0x1p-112, 0x1p100][i / size % 4]
          default: return i / size % 3 == 1 && i % size == size - 1 ? .infinity : unit
          }
        }
        if let difference = difference(function, grouping, values) {
          failure = "\(columns) columns kind \(kind): \(difference)"
        }
      }
    }
    return (cases, failure)
  }

  /// What differs from the reference, if anything.
  package static func difference(
    _ function: QuantizationFunction, _ grouping: ActivationGrouping, _ values: [Float]
  ) -> String? {
    let expected = QuantizedToken(values, grouping)
    guard let (got, sum) = quantized(values, grouping, by: function) else {
      return "wrote outside, or no zeros behind the last column"
    }
    if got.activations != expected.activations { return "the codes differ" }
    if got.scales.count != expected.scales.count { return "\(got.scales.count) scales" }
    for (place, pair) in zip(got.scales, expected.scales).enumerated()
    where pair.0.bitPattern != pair.1.bitPattern && !(pair.0.isNaN && pair.1.isNaN) {
      return "scale \(place) is \(pair.0) and not \(pair.1)"
    }
    if grouping == .perToken && sum != expected.sum { return "the sum of the token differs" }
    if got.groupSums != expected.groupSums { return "the sums differ" }
    return nil
  }

  /// One token by one kernel between guards, with the sum that s8t writes; input and outputs are
  /// aligned as their elements only. Nil where the kernel wrote outside, or left the columns after
  /// the last one other than zero.
  private static func quantized(
    _ values: [Float], _ grouping: ActivationGrouping, by function: QuantizationFunction
  ) -> (token: QuantizedToken, sum: Int32)? {
    let chunkCount = grouping.chunkCount(columns: values.count)
    let end = chunkCount * grouping.chunkColumns
    let input = GuardedMemory(values)
    let codes = GuardedMemory([Int8](repeating: 0x55, count: end))
    let scales = GuardedMemory(
      [Float](repeating: 77, count: grouping.scaleCount(chunkCount: chunkCount)))
    let sums = GuardedMemory([Int32(77)])
    let groupSums = GuardedMemory(
      [Float](repeating: 77, count: grouping.sumCount(chunkCount: chunkCount)))
    var arguments = unsafe CKQuantization(
      input: input.base, activations: codes.base, activationScales: scales.base,
      tokenSums: sums.base, groupSums: groupSums.base, inputStride: 0, activationStride: 0,
      activationScaleStride: 0, groupSumStride: 0, columnCount: values.count,
      chunkCount: chunkCount, tokenBegin: 0, tokenEnd: 1)
    // All guarded memory lives to the end of the function.
    unsafe function(&arguments)
    let isIntact =
      input.isIntact && codes.isIntact && scales.isIntact && sums.isIntact && groupSums.isIntact
    guard isIntact, codes.values[values.count...].allSatisfy({ $0 == 0 }) else { return nil }
    var token = QuantizedToken(
      activations: Array(codes.values[..<values.count]), scales: scales.values, grouping)
    let sumCount = grouping == .perBlock ? chunkCount : (values.count + 31) / 32
    token.groupSums = Array(groupSums.values[..<sumCount])
    return (token, sums.values[0])
  }
}
