import CKernels
import KernelContract
import KernelReference
import PackedFormats

// Pointers given to kernels are those of GuardedMemory that lives to the end of the function.
extension FloatKernelCheck {
  package static func check(
    _ kernel: KernelEntry<ConversionFunction>, seed: UInt64, isQuick: Bool = false
  ) -> FloatKernelCheck {
    var check = unsafe FloatKernelCheck(kernel.name, kernel.instructionSet, seed: seed)
    let special: [Float] = [0, -0.0, .infinity, -.infinity, .nan, 65519, 65520, 6e-8, 2e-8, 1e-3]
    for count in counts(isQuick) {
      let scale = GuardedMemory([Float(7)])
      switch unsafe kernel.operation {
      case .convertToF16:
        var x = check.numbers(count, times: 3)
        for i in stride(from: 1, to: count, by: 3) { x[i] = special[i % special.count] }
        let (input, output) = (
          GuardedMemory(x), GuardedMemory([UInt16](repeating: 7, count: count))
        )
        var arguments = unsafe CKConversion(
          input: input.base, output: output.base, scale: scale.base, count: count)
        unsafe kernel.function(&arguments)
        let got = output.values.map { Double(Float16(bitPattern: $0)) }
        check.expect(got.map(Float.init), near: x.map { Double(Float16($0)) }, "\(count)") { _ in 0
        }
        check.expect(output.isIntact, "count \(count): wrote outside")
      case .convertFromF16:
        // A stride through all bit patterns: subnormals, infinities and NaN among them.
        let x = (0..<count).map { UInt16(truncatingIfNeeded: $0 &* 7919 &+ count &* 104_729) }
        let (input, output) = (GuardedMemory(x), GuardedMemory([Float](repeating: 7, count: count)))
        var arguments = unsafe CKConversion(
          input: input.base, output: output.base, scale: scale.base, count: count)
        unsafe kernel.function(&arguments)
        let wanted = x.map { Double(Float16(bitPattern: $0)) }
        check.expect(output.values, near: wanted, "count \(count)") { _ in 0 }
        check.expect(output.isIntact, "count \(count): wrote outside")
      case .convertToS16:
        unsafe check.expectSameCodes(kernel, count, fill: Int16(7), FloatReference.toS16)
      default: unsafe check.expectSameCodes(kernel, count, fill: Int8(7), FloatReference.toS8)
      }
    }
    return check
  }

  private mutating func expectSameCodes<Code: BitwiseCopyable & Equatable>(
    _ kernel: KernelEntry<ConversionFunction>, _ count: Int, fill: Code,
    _ reference: ([Float]) -> (codes: [Code], scale: Float)
  ) {
    for factor: Float in [1, 1e-30, 1e-36, 0, 1e30, .infinity, .nan] {
      var x = numbers(count)
      if factor.isFinite { x = x.map { $0 * factor } } else { x[count - 1] = factor }
      let scale = GuardedMemory([Float(7)])
      let (input, output) = (GuardedMemory(x), GuardedMemory([Code](repeating: fill, count: count)))
      var arguments = unsafe CKConversion(
        input: input.base, output: output.base, scale: scale.base, count: count)
      unsafe kernel.function(&arguments)
      let wanted = reference(x)
      expect(output.values == wanted.codes, "count \(count), factor \(factor): codes differ")
      let (got, exact) = (scale.values[0], wanted.scale)
      expect(
        got == exact || got.isNaN && exact.isNaN,
        "count \(count), factor \(factor): scale \(got), reference \(exact)")
      expect(output.isIntact, "count \(count): wrote outside")
    }
  }

  package static func check(
    _ kernel: KernelEntry<RotationFunction>, seed: UInt64, isQuick: Bool = false
  )
    -> FloatKernelCheck
  {
    var check = unsafe FloatKernelCheck(kernel.name, kernel.instructionSet, seed: seed)
    for pairs in isQuick ? [1, 3, 4, 7, 8, 9, 15, 16, 17, 32, 40, 64] : Array(1...129) {
      for (heads, spare) in [(1, 0), (3, 0), (2, 5)] {
        let x = check.numbers(heads * (2 * pairs + spare))
        let (c, s) = (check.numbers(pairs), check.numbers(pairs))
        let values = GuardedMemory(x)
        let (cosines, sines) = (GuardedMemory(c), GuardedMemory(s))
        var arguments = unsafe CKRotation(
          values: values.base, cosines: cosines.base, sines: sines.base, headCount: heads,
          headStride: 2 * pairs + spare, pairCount: pairs)
        unsafe kernel.function(&arguments)
        let stride = 2 * pairs + spare
        var wanted: [Double] = []
        for head in 0..<heads {
          let old = Array(x[head * stride..<(head + 1) * stride])
          let isAdjacent = unsafe kernel.operation == .rotateAdjacent
          wanted += FloatReference.rotate(old, c, s, adjacent: isAdjacent)
        }
        check.expect(values.values, near: wanted, "pairs \(pairs), heads \(heads)") { _ in 0x1p-22 }
        check.expect(values.isIntact, "pairs \(pairs): wrote outside")
      }
    }
    return check
  }

  package static func check(
    _ kernel: KernelEntry<PanelFunction>, seed: UInt64, isQuick: Bool = false
  ) -> FloatKernelCheck {
    var check = unsafe FloatKernelCheck(kernel.name, kernel.instructionSet, seed: seed)
    for rows in [1, 2, 3, 4, 5, 7, 8, 11] {
      for columns in [1, 15, 16, 17, 31, 32, 48, 64, 80, 127] {
        for depth in [1, 5, 64] { unsafe check.expectPanel(kernel, rows, columns, depth) }
      }
    }
    if isQuick { return check }
    // Every size in each dimension, the others varied.
    for size in 1...257 {
      unsafe check.expectPanel(kernel, size % 7 + 1, size, size % 5 + 1)
      unsafe check.expectPanel(kernel, size, size % 35 + 1, size % 3 + 1)
      unsafe check.expectPanel(kernel, size % 4 + 1, size % 33 + 1, size)
    }
    return check
  }

  private mutating func expectPanel(
    _ kernel: KernelEntry<PanelFunction>, _ rows: Int, _ columns: Int, _ depth: Int
  ) {
    let (aStride, bStride, cStride) = (depth + 1, columns + 3, columns + 2)
    let a = numbers(rows * aStride)
    let old = numbers(rows * cStride)
    let b: [Float]
    let f32 = numbers(depth * bStride)
    let f16 = f32.map { Float16($0).bitPattern }
    switch unsafe kernel.operation {
    case .panelF32: b = f32
    default: b = f16.map { Float(Float16(bitPattern: $0)) }
    }
    let (left, right32) = (GuardedMemory(a), GuardedMemory(f32))
    let right16 = GuardedMemory(f16)
    let factors = numbers(rows)
    let byRow = GuardedMemory(factors)
    let right: UnsafeRawPointer =
      switch unsafe kernel.operation {
      case .panelF32: unsafe UnsafeRawPointer(right32.base)
      default: unsafe UnsafeRawPointer(right16.base)
      }
    for accumulates in [false, true] {
      let c = GuardedMemory(old)
      var arguments = unsafe CKPanel(
        a: left.base, b: right, c: c.base, aStride: aStride, bStride: bStride, cStride: cStride,
        rowCount: rows, columnCount: columns, depth: depth,
        rowFactors: accumulates ? UnsafePointer(byRow.base) : nil)
      unsafe kernel.function(&arguments)
      var (wanted, tolerance) = (old.map(Double.init), old.map { _ in 0.0 })
      for row in 0..<rows {
        for column in 0..<columns {
          let (sum, magnitude) = FloatReference.dot(
            Array(a[row * aStride..<row * aStride + depth]),
            (0..<depth).map { b[$0 * bStride + column] })
          let index = row * cStride + column
          let before = accumulates ? wanted[index] * Double(factors[row]) : 0
          wanted[index] = before + sum
          tolerance[index] =
            (Double(depth) * magnitude * roundings + 2 * abs(before) + abs(wanted[index])) * 0x1p-24
        }
      }
      expect(c.values, near: wanted, "\(rows)×\(columns)×\(depth), accumulates \(accumulates)") {
        tolerance[$0]
      }
      expect(c.isIntact, "\(rows)×\(columns)×\(depth): wrote outside")
    }
    // A NaN in a row of A breaks that row.
    unsafe left.base[(rows - 1) * aStride + depth / 2] = .nan
    let c = GuardedMemory(old)
    var arguments = unsafe CKPanel(
      a: left.base, b: right, c: c.base, aStride: aStride, bStride: bStride, cStride: cStride,
      rowCount: rows, columnCount: columns, depth: depth, rowFactors: byRow.base)
    unsafe kernel.function(&arguments)
    for row in 0..<rows {
      for column in 0..<columns {
        let value = unsafe c.base[row * cStride + column]
        expect(
          value.isNaN == (row == rows - 1), "NaN in A: row \(row), column \(column) is \(value)")
      }
    }
    // The objects own the memory behind the pointers.
    withExtendedLifetime((left, right32, right16, byRow)) {}
  }

  package static func check(
    _ kernel: KernelEntry<FloatProductFunction>, seed: UInt64, isQuick: Bool = false
  ) -> FloatKernelCheck {
    var check = unsafe FloatKernelCheck(kernel.name, kernel.instructionSet, seed: seed)
    for (rows, tokens) in [(1, 1), (3, 1), (4, 2), (5, 3), (9, 4), (8, 5)] {
      for columns in [1, 15, 16, 17, 33, 100, 576] {
        unsafe check.expectProduct(kernel, rows, tokens, columns)
      }
    }
    if isQuick { return check }
    // Every size in both dimensions, the others varied.
    for size in 1...257 {
      unsafe check.expectProduct(kernel, size % 9 + 1, size % 5 + 1, size)
      unsafe check.expectProduct(kernel, size, size % 3 + 1, size * 37 % 100 + 1)
    }
    return check
  }

  private mutating func expectProduct(
    _ kernel: KernelEntry<FloatProductFunction>, _ rows: Int, _ tokens: Int, _ columns: Int
  ) {
    let (wStride, xStride, yStride) = (columns + 1, columns + 2, rows + 1)
    let isHalf = unsafe kernel.weights == .f16
    let f32 = numbers(rows * wStride)
    let f16 = f32.map { Float16($0).bitPattern }
    let w = isHalf ? f16.map { Float(Float16(bitPattern: $0)) } : f32
    let x = numbers(tokens * xStride)
    let (weights32, weights16) = (GuardedMemory(f32), GuardedMemory(f16))
    let activations = GuardedMemory(x)
    let y = GuardedMemory([Float](repeating: 7, count: tokens * yStride))
    let base: UnsafeRawPointer = unsafe isHalf ? .init(weights16.base) : .init(weights32.base)
    var arguments = unsafe CKFloatProduct(
      weights: base, activations: activations.base, output: y.base, weightStride: wStride,
      activationStride: xStride, outputStride: yStride, columnCount: columns, tokenCount: tokens,
      rowBegin: 0, rowEnd: rows)
    unsafe kernel.function(&arguments)
    let whole = y.values
    for split in Set([1, rows / 2, rows - 1]) where split > 0 && split < rows {
      // Two ranges give the bits of one.
      for (begin, end) in [(0, split), (split, rows)] {
        unsafe arguments.rowBegin = begin
        unsafe arguments.rowEnd = end
        unsafe kernel.function(&arguments)
      }
      expect(Self.bits(y.values) == Self.bits(whole), "rows split at \(split) differ")
    }
    var (wanted, tolerance) = (whole.map { _ in 7.0 }, whole.map { _ in 0.0 })
    for token in 0..<tokens {
      for row in 0..<rows {
        let (sum, magnitude) = FloatReference.dot(
          Array(w[row * wStride..<row * wStride + columns]),
          Array(x[token * xStride..<token * xStride + columns]))
        wanted[token * yStride + row] = sum
        tolerance[token * yStride + row] =
          (Double(columns) / 16 + 5) * 0x1p-24 * roundings * magnitude
      }
    }
    expect(whole, near: wanted, "\(rows) rows, \(tokens) tokens, \(columns) columns") {
      tolerance[$0]
    }
    expect(y.isIntact, "\(rows) rows, \(tokens) tokens, \(columns) columns: wrote outside")
    // What is broken in a token's activations breaks all of its results, and of no other token.
    let place = (tokens - 1) * xStride + columns / 2
    unsafe arguments.rowBegin = 0
    unsafe arguments.rowEnd = rows
    for broken in [Float.nan, .infinity] {
      unsafe activations.base[place] = broken
      unsafe kernel.function(&arguments)
      for token in 0..<tokens {
        for row in 0..<rows {
          let value = unsafe y.base[token * yStride + row]
          let isRight = token == tokens - 1 ? !value.isFinite : value.isFinite
          expect(isRight, "\(broken) in the last token: token \(token) row \(row) is \(value)")
        }
      }
    }
    withExtendedLifetime((weights32, weights16)) {}
  }
}
