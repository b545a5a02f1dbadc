import CKernels
import KernelContract
import KernelReference

// Pointers given to kernels are those of GuardedMemory that lives to the end of the function.
extension FloatKernelCheck {
  package static func check(
    _ kernel: KernelEntry<NormFunction>, seed: UInt64, isQuick: Bool = false
  ) -> FloatKernelCheck {
    var check = unsafe FloatKernelCheck(kernel.name, kernel.instructionSet, seed: seed)
    for count in counts(isQuick) {
      for factor: Float in [1, 1e-12, 1e12, .nan] {
        let (x, w) = (check.numbers(count, times: factor), check.numbers(count))
        let input = GuardedMemory(x)
        let weight = GuardedMemory(w)
        let output = GuardedMemory([Float](repeating: 7, count: count))
        var arguments = unsafe CKNorm(
          input: input.base, weight: weight.base, output: output.base, count: count, epsilon: 1e-5)
        unsafe kernel.function(&arguments)
        let wanted = FloatReference.rmsNorm(x, w, epsilon: 1e-5)
        let relative = 0x1p-22 * max(1, (Double(count) / 16).squareRoot()) * check.roundings
        check.expect(output.values, near: wanted, "count \(count), factor \(factor)") {
          relative * abs(wanted[$0]) + 0x1p-149
        }
        check.expect(output.isIntact, "count \(count): wrote outside")
        unsafe arguments.output = input.base
        unsafe kernel.function(&arguments)
        check.expect(
          bits(input.values) == bits(output.values), "count \(count): in place differs")
      }
    }
    return check
  }

  package static func check(
    _ kernel: KernelEntry<ElementwiseFunction>, seed: UInt64, isQuick: Bool = false
  ) -> FloatKernelCheck {
    var check = unsafe FloatKernelCheck(kernel.name, kernel.instructionSet, seed: seed)
    let special: [Float] = [
      0, -0.0, .nan, .infinity, -.infinity, 88, -87, -88.5, -104, 1e30, -1e30, 0x1p-130, 20, -20, 1,
      -1,
    ]
    for count in counts(isQuick) {
      for isSpecial in [false, true] {
        var a = check.numbers(count, times: 12)
        let b = check.numbers(count)
        if isSpecial { for i in a.indices { a[i] = special[i % special.count] } }
        let (left, right) = (GuardedMemory(a), GuardedMemory(b))
        let output = GuardedMemory([Float](repeating: 7, count: count))
        var arguments = unsafe CKElementwise(
          a: left.base, b: right.base, output: output.base, count: count)
        unsafe kernel.function(&arguments)
        let wanted = zip(a, b).map { a, b in
          switch unsafe kernel.operation {
          case .add: Double(a + b)
          case .multiply: Double(a * b)
          default: FloatReference.swiglu(a, b)
          }
        }
        let isExact = unsafe kernel.operation != .swiglu
        check.expect(output.values, near: wanted, "count \(count)") {
          isExact ? 0 : 0x1p-20 * abs(wanted[$0]) + 1e-35
        }
        check.expect(output.isIntact, "count \(count): wrote outside")
      }
    }
    return check
  }

  package static func checkScaling(
    _ kernel: KernelEntry<ScalingFunction>, seed: UInt64, isQuick: Bool = false
  ) -> FloatKernelCheck {
    var check = unsafe FloatKernelCheck(kernel.name, kernel.instructionSet, seed: seed)
    for count in counts(isQuick) {
      let x = check.numbers(count)
      let values = GuardedMemory(x)
      var arguments = unsafe CKScaling(values: values.base, count: count, factor: -0.37)
      unsafe kernel.function(&arguments)
      check.expect(values.values, near: x.map { Double($0 * -0.37) }, "count \(count)") { _ in 0 }
      check.expect(values.isIntact, "count \(count): wrote outside")
    }
    return check
  }

  package static func checkSoftmax(
    _ kernel: KernelEntry<SoftmaxFunction>, seed: UInt64, isQuick: Bool = false
  ) -> FloatKernelCheck {
    var check = unsafe FloatKernelCheck(kernel.name, kernel.instructionSet, seed: seed)
    func run(_ x: [Float], _ factor: Float) -> [Float] {
      let values = GuardedMemory(x)
      var arguments = unsafe CKScaling(values: values.base, count: x.count, factor: factor)
      unsafe kernel.function(&arguments)
      check.expect(values.isIntact, "count \(x.count): wrote outside")
      return values.values
    }
    for count in counts(isQuick) {
      for range: Float in [1, 30, 400] {
        var x = check.numbers(count, times: range).map { $0 - range }
        for i in stride(from: 3, to: count, by: 5) { x[i] = -.infinity }
        let (got, wanted) = (run(x, 0.125), FloatReference.softmax(x, factor: 0.125))
        let spread = Double(range) * 2 * 0.125
        check.expect(got, near: wanted, "count \(count), range \(range)") {
          (0x1p-20 + 0x1p-22 * spread) * wanted[$0] + 2e-38
        }
        for i in stride(from: 3, to: count, by: 5) {
          check.expect(got[i] == 0, "count \(count): masked entry \(i) is \(got[i])")
        }
      }
      let masked = run([Float](repeating: -.infinity, count: count), 1)
      check.expect(masked.allSatisfy { $0 == 0 }, "count \(count): masked row is not zero")
      for broken: Float in [.nan, .infinity] {
        var x = check.numbers(count)
        x[count - 1] = broken
        let got = run(x, 1)
        check.expect(got.allSatisfy(\.isNaN), "count \(count): \(broken) gives a plausible row")
      }
    }
    return check
  }

  package static func check(
    _ kernel: KernelEntry<SearchFunction>, seed: UInt64, isQuick: Bool = false
  ) -> FloatKernelCheck {
    var check = unsafe FloatKernelCheck(kernel.name, kernel.instructionSet, seed: seed)
    func expectSame(_ x: [Float]) {
      let values = GuardedMemory(x)
      let index = GuardedMemory([Int(-7)])
      var arguments = unsafe CKSearch(values: values.base, count: x.count, index: index.base)
      unsafe kernel.function(&arguments)
      let wanted = FloatReference.argMax(x)
      check.expect(
        index.values == [wanted], "count \(x.count): \(index.values), reference \(wanted)")
    }
    for count in counts(isQuick) {
      var x = check.numbers(count).map { $0 - 2 }
      expectSame(x)
      for place in [0, count / 2, count - 1] {
        x[place] = 3
        expectSame(x)
        var broken = x
        broken[place] = .nan
        expectSame(broken)
      }
      expectSame([Float](repeating: -.infinity, count: count))
    }
    return check
  }

  static func bits(_ values: [Float]) -> [UInt32] { values.map(\.bitPattern) }
}
