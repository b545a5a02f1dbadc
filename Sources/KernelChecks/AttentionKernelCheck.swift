import CKernels
import KernelContract
import KernelReference

// Pointers given to kernels are those of GuardedMemory that lives to the end of the function.
extension FloatKernelCheck {
  package static func check(
    _ kernel: KernelEntry<BlockSoftmaxFunction>, seed: UInt64, isQuick: Bool = false
  ) -> FloatKernelCheck {
    var check = unsafe FloatKernelCheck(kernel.name, kernel.instructionSet, seed: seed)
    for columns in counts(isQuick).prefix(isQuick ? 12 : 130) {
      for rows in [1, 3, 17] { unsafe check.expectBlocks(kernel, rows, columns) }
    }
    for special: Float in [.nan, .infinity, -.infinity] {
      unsafe check.expectBlocks(kernel, 5, 40, special: special)
    }
    return check
  }

  /// Three blocks, one after the other, of which rows see different parts.
  private mutating func expectBlocks(
    _ kernel: KernelEntry<BlockSoftmaxFunction>, _ rows: Int, _ columns: Int,
    special: Float? = nil
  ) {
    let stride = columns + 3
    let maxima = GuardedMemory([Float](repeating: -.infinity, count: rows))
    let sums = GuardedMemory([Float](repeating: 0, count: rows))
    let decays = GuardedMemory([Float](repeating: 7, count: rows))
    var reference = [AttentionReference.SoftmaxRow](repeating: .init(), count: rows)
    for block in 0..<3 {
      var x = numbers(rows * stride, times: block == 1 ? 90 : 8)
      // Rows from all columns to none.
      let ranges = (0..<rows).map { row in
        let begin = row % 3 == 2 ? min(columns, row + block) : 0
        return begin..<max(begin, columns - row * columns / max(1, rows - 1) * (block % 2))
      }
      for row in 0..<rows {
        for column in 0..<columns where !ranges[row].contains(column) {
          x[row * stride + column] = .nan  // not seen, not read
        }
      }
      if let special, block == 1 { x[columns / 2] = special }
      let scores = GuardedMemory(x)
      let begins = GuardedMemory(ranges.map { Int32($0.lowerBound) })
      let ends = GuardedMemory(ranges.map { Int32($0.upperBound) })
      var arguments = unsafe CKBlockSoftmax(
        scores: scores.base, begins: begins.base, ends: ends.base, maxima: maxima.base,
        sums: sums.base, decays: decays.base, scoreStride: stride, rowCount: rows,
        columnCount: columns)
      unsafe kernel.function(&arguments)
      let got = scores.values
      let place = "\(rows)×\(columns), block \(block), special \(special.map { "\($0)" } ?? "–")"
      for row in 0..<rows {
        let line = Array(x[row * stride..<row * stride + columns])
        let old = reference[row].maximum
        let (weights, decay) = reference[row].add(line, seeing: ranges[row])
        let most = reference[row].maximum
        // The exponent's rounding beside the exponential's own.
        func tolerance(_ distance: Double, _ value: Double) -> Double {
          value.isFinite && distance.isFinite
            ? value * (0x1p-20 + 0x1p-22 * abs(distance)) + 2e-38 : 0
        }
        expect(
          Array(got[row * stride..<row * stride + columns]), near: weights, "\(place), row \(row)"
        ) { tolerance(most - Double(line[$0]), weights[$0]) }
        expect([decays.values[row]], near: [decay], "\(place), decay of row \(row)") { _ in
          tolerance(most - old, decay)
        }
        expect([maxima.values[row]], near: [most], "\(place), maximum of row \(row)") { _ in 0 }
        expect([sums.values[row]], near: [reference[row].sum], "\(place), sum of row \(row)") { _ in
          reference[row].sum.isFinite ? reference[row].sum * 0x1p-15 + 2e-36 : 0
        }
      }
      expect(
        scores.isIntact && maxima.isIntact && sums.isIntact && decays.isIntact,
        "\(place): wrote outside")
      // The objects own the memory behind the pointers.
      withExtendedLifetime((begins, ends)) {}
    }
  }

  package static func check(
    _ kernel: KernelEntry<RowCodesFunction>, seed: UInt64, isQuick: Bool = false
  ) -> FloatKernelCheck {
    var check = unsafe FloatKernelCheck(kernel.name, kernel.instructionSet, seed: seed)
    for columns in counts(isQuick) { unsafe check.expectRowCodes(kernel, 1 + columns % 5, columns) }
    return check
  }

  private mutating func expectRowCodes(
    _ kernel: KernelEntry<RowCodesFunction>, _ rows: Int, _ columns: Int
  ) {
    let (inputStride, codeStride) = (columns + 2, columns + 5)
    var x = numbers(rows * inputStride)
    if columns % 4 == 1 { x[columns - 1] = .nan }
    if columns % 4 == 3 { for column in 0..<columns { x[column] *= 1e-36 } }
    let scales = numbers(columns)
    let (input, columnScales) = (GuardedMemory(x), GuardedMemory(scales))
    for hasScales in [false, true] {
      let codes = GuardedMemory([Int16](repeating: 7, count: rows * codeStride))
      let rowScales = GuardedMemory([Float](repeating: 7, count: rows))
      var arguments = unsafe CKRowCodes(
        input: input.base, columnScales: hasScales ? UnsafePointer(columnScales.base) : nil,
        codes: codes.base, rowScales: rowScales.base, inputStride: inputStride,
        codeStride: codeStride, rowCount: rows, columnCount: columns, factor: 0.3)
      unsafe kernel.function(&arguments)
      var (wanted, wantedScales) = ([Int16](repeating: 7, count: rows * codeStride), [Double]())
      for row in 0..<rows {
        let line = Array(x[row * inputStride..<row * inputStride + columns])
        let exact = AttentionReference.rowCodes(
          line, columnScales: hasScales ? scales : nil, factor: 0.3)
        wanted.replaceSubrange(row * codeStride..<row * codeStride + columns, with: exact.codes)
        wantedScales.append(Double(exact.scale))
      }
      let place = "\(rows)×\(columns), column scales \(hasScales)"
      expect(codes.values == wanted, "\(place): codes differ")
      expect(rowScales.values, near: wantedScales, place) { _ in 0 }
      expect(codes.isIntact && rowScales.isIntact, "\(place): wrote outside")
    }
    // The objects own the memory behind the pointers.
    withExtendedLifetime((input, columnScales)) {}
  }

  package static func check(
    _ kernel: KernelEntry<NibbleFunction>, seed: UInt64, isQuick: Bool = false
  ) -> FloatKernelCheck {
    var check = unsafe FloatKernelCheck(kernel.name, kernel.instructionSet, seed: seed)
    for byteCount in counts(isQuick) {
      for rows in [1, 2, 3] {
        let bytes = check.numbers(rows * byteCount).map { UInt8(Int(($0 + 1) * 127.99)) }
        let packed = GuardedMemory(bytes)
        let isRows = unsafe kernel.operation == .nibbleRows
        // Rows are written by twos.
        let wholeRows = isRows ? rows + rows % 2 : rows
        let codes = GuardedMemory([UInt8](repeating: 7, count: 2 * wholeRows * byteCount))
        var arguments = unsafe CKNibbles(
          packed: packed.base, codes: codes.base, rowCount: rows, byteCount: byteCount)
        unsafe kernel.function(&arguments)
        let wanted =
          isRows
          ? AttentionReference.nibbleRows(bytes, byteCount: byteCount)
          : AttentionReference.nibblePairs(bytes)
        check.expect(codes.values == wanted, "\(rows)×\(byteCount): codes differ")
        check.expect(codes.isIntact, "\(rows)×\(byteCount): wrote outside")
        // The object owns the memory behind the pointer.
        withExtendedLifetime(packed) {}
      }
    }
    return check
  }

  package static func check(
    _ kernel: KernelEntry<CacheVectorFunction>, seed: UInt64, isQuick: Bool = false
  ) -> FloatKernelCheck {
    var check = unsafe FloatKernelCheck(kernel.name, kernel.instructionSet, seed: seed)
    let special: [Float] = [0, -0.0, .infinity, -.infinity, .nan, 7e4, -7e4, 6e-8, 1e-3, 1e30]
    for count in counts(isQuick).map({ $0 + $0 % 2 }) {
      for kind in 0..<4 {
        // All alike, one sign, both signs, and what is no number.
        var x = check.numbers(count, times: kind == 2 ? 300 : 3)
        if kind == 0 { x = x.map { _ in x[0] } }
        if kind == 1 { x = x.map { abs($0) + 0.01 } }
        if kind == 3 { for i in stride(from: 1, to: count, by: 3) { x[i] = special[i % 10] } }
        unsafe kernel.operation == .cacheS8
          ? check.expectS8(kernel, x) : check.expectU4(kernel, x)
      }
    }
    return check
  }

  private mutating func expectS8(_ kernel: KernelEntry<CacheVectorFunction>, _ x: [Float]) {
    for scale: Float in [0.02, 1e-30] {
      let values = GuardedMemory(x)
      let codes = GuardedMemory([Int8](repeating: 7, count: x.count))
      var arguments = unsafe CKCacheVector(
        values: values.base, codes: codes.base, scales: nil, minimums: nil, count: x.count,
        scale: scale)
      unsafe kernel.function(&arguments)
      expect(
        codes.values == AttentionReference.cacheS8(x, scale: scale), "\(x.count): codes differ")
      expect(codes.isIntact, "\(x.count): wrote outside")
      // The object owns the memory behind the pointer.
      withExtendedLifetime(values) {}
    }
  }

  private mutating func expectU4(_ kernel: KernelEntry<CacheVectorFunction>, _ x: [Float]) {
    let groups = (x.count + 31) / 32
    let values = GuardedMemory(x)
    let codes = GuardedMemory([UInt8](repeating: 7, count: x.count / 2 + 16))
    let scales = GuardedMemory([UInt16](repeating: 7, count: groups))
    let minimums = GuardedMemory([UInt16](repeating: 7, count: groups))
    var arguments = unsafe CKCacheVector(
      values: values.base, codes: codes.base, scales: scales.base, minimums: minimums.base,
      count: x.count, scale: 0)
    unsafe kernel.function(&arguments)
    let wanted = AttentionReference.cacheU4(x)
    // Numbers, not bits: zeros of either sign are the same.
    func halves(_ memory: GuardedMemory<UInt16>) -> [Float16] {
      memory.values.map { Float16(bitPattern: $0) }
    }
    expect(halves(scales) == wanted.scales, "\(x.count): scales differ")
    expect(halves(minimums) == wanted.minimums, "\(x.count): minimums differ")
    expect(Array(codes.values.prefix(x.count / 2)) == wanted.bytes, "\(x.count): codes differ")
    expect(
      codes.isIntact && scales.isIntact && minimums.isIntact, "\(x.count): wrote outside")
    // The object owns the memory behind the pointer.
    withExtendedLifetime(values) {}
  }
}
