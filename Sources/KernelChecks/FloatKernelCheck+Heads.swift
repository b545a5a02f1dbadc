import CKernels
import KernelContract
import KernelReference

// Pointers given to kernels are those of GuardedMemory that lives to the end of the function.
extension FloatKernelCheck {
  package static func check(
    _ kernel: KernelEntry<HeadNormFunction>, seed: UInt64, isQuick: Bool = false
  )
    -> FloatKernelCheck
  {
    var check = unsafe FloatKernelCheck(kernel.name, kernel.instructionSet, seed: seed)
    for dimension in counts(isQuick) {
      for (heads, spare) in [(1, 0), (3, 0), (2, 5)] {
        unsafe check.expectHeads(kernel, heads, dimension, spare)
      }
    }
    return check
  }

  /// The last head is tiny, large or broken: the others do not notice.
  private mutating func expectHeads(
    _ kernel: KernelEntry<HeadNormFunction>, _ heads: Int, _ dimension: Int, _ spare: Int
  ) {
    for factor: Float in [1, 1e-12, 1e12, .nan] {
      let stride = dimension + spare
      var x = numbers(heads * stride)
      for index in (heads - 1) * stride..<(heads - 1) * stride + dimension { x[index] *= factor }
      let w = numbers(dimension)
      let values = GuardedMemory(x)
      let weight = GuardedMemory(w)
      var arguments = unsafe CKHeadNorm(
        values: values.base, weight: weight.base, headCount: heads, headStride: stride,
        dimension: dimension, epsilon: 1e-5)
      unsafe kernel.function(&arguments)
      var wanted = x.map(Double.init)
      for head in 0..<heads {
        let range = head * stride..<head * stride + dimension
        wanted.replaceSubrange(
          range, with: FloatReference.rmsNorm(Array(x[range]), w, epsilon: 1e-5))
      }
      let relative = 0x1p-22 * max(1, (Double(dimension) / 16).squareRoot()) * roundings
      expect(values.values, near: wanted, "\(heads) heads of \(dimension), factor \(factor)") {
        $0 % stride < dimension ? relative * abs(wanted[$0]) + 0x1p-149 : 0
      }
      expect(values.isIntact, "\(heads) heads of \(dimension): wrote outside")
    }
  }

  package static func check(
    _ kernel: KernelEntry<TopKFunction>, seed: UInt64, isQuick: Bool = false
  ) -> FloatKernelCheck {
    var check = unsafe FloatKernelCheck(kernel.name, kernel.instructionSet, seed: seed)
    for count in counts(isQuick) {
      for k in Set([1, 2, count / 2, count - 1, count]) where k >= 1 && k <= count {
        unsafe check.expectLargest(kernel, check.numbers(count), k)
        // Few values, with both zeros: nearly everything is a tie.
        let coarse = check.numbers(count, times: 2.9).map { $0.rounded(.towardZero) }
        unsafe check.expectLargest(kernel, coarse, k)
        unsafe check.expectLargest(kernel, coarse.sorted(), k)
        unsafe check.expectLargest(kernel, [Float](repeating: -.infinity, count: count), k)
        for place in [0, count / 2, count - 1] {
          var x = check.numbers(count)
          x[place] = .infinity
          unsafe check.expectLargest(kernel, x, k)
          x[place] = .nan
          unsafe check.expectLargest(kernel, x, k)
        }
      }
    }
    // A vocabulary of many tokens.
    unsafe check.expectLargest(kernel, check.numbers(153_600), 300)
    return check
  }

  private mutating func expectLargest(_ kernel: KernelEntry<TopKFunction>, _ x: [Float], _ k: Int) {
    let values = GuardedMemory(x)
    let keys = GuardedMemory([UInt64](repeating: 7, count: k))
    let indices = GuardedMemory([Int32](repeating: -7, count: k))
    let found = GuardedMemory([Int(-7)])
    var arguments = unsafe CKTopK(
      values: values.base, keys: keys.base, indices: indices.base, count: x.count, k: k,
      found: found.base)
    unsafe kernel.function(&arguments)
    if let wanted = FloatReference.topK(x, k: k) {
      expect(
        found.values == [k] && indices.values == wanted,
        "\(k) of \(x.count): \(indices.values.prefix(9)), reference \(wanted.prefix(9))")
    } else {
      expect(found.values == [-1], "\(k) of \(x.count): NaN gives \(found.values)")
    }
    expect(
      keys.isIntact && indices.isIntact && found.isIntact, "\(k) of \(x.count): wrote outside")
  }
}
