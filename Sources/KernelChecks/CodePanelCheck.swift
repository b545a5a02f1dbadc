import CKernels
import KernelContract
import KernelReference

// Pointers given to kernels are those of GuardedMemory that lives to the end of the function.
extension FloatKernelCheck {
  package static func check(
    _ kernel: KernelEntry<CodePanelFunction>, seed: UInt64, isQuick: Bool = false
  ) -> FloatKernelCheck {
    var check = unsafe FloatKernelCheck(kernel.name, kernel.instructionSet, seed: seed)
    for rows in [1, 2, 3, 4, 7, 8, 9, 13, 16] {
      for columns in [1, 15, 16, 17, 32, 40, 48, 64, 95] {
        for depth in [1, 2, 7, 64] { unsafe check.expectPanel(kernel, rows, columns, depth) }
      }
    }
    // Sums as large as they can be, of both signs.
    unsafe check.expectPanel(kernel, 8, 33, 512, extreme: 1)
    unsafe check.expectPanel(kernel, 5, 16, 511, extreme: -1)
    if isQuick { return check }
    for columns in 1...257 { unsafe check.expectPanel(kernel, 1 + columns % 9, columns, 6) }
    for depth in 1...257 { unsafe check.expectPanel(kernel, 1 + depth % 9, 17, depth) }
    return check
  }

  private mutating func expectPanel(
    _ kernel: KernelEntry<CodePanelFunction>, _ rows: Int, _ columns: Int, _ depth: Int,
    extreme: Int? = nil
  ) {
    let (aStride, bStride, cStride) = (depth + 1 + depth % 2, 2 * columns + 3, columns + 2)
    let a = numbers(rows * aStride).map { extreme.map { Int16($0 * 32767) } ?? Int16($0 * 32767) }
    let b = numbers((depth + 1) / 2 * bStride).map { extreme == nil ? Int8($0 * 127) : 127 }
    let (rowScales, columnScales) = (numbers(rows), numbers(columns))
    let old = numbers(rows * cStride)
    let factors = numbers(rows)
    let factorMemory = GuardedMemory(factors)
    let (left, right) = (GuardedMemory(a), GuardedMemory(b))
    let (byRow, byColumn) = (GuardedMemory(rowScales), GuardedMemory(columnScales))
    for (accumulates, hasColumnScales) in [
      (false, false), (false, true), (true, false), (true, true),
    ] {
      let c = GuardedMemory(old)
      var arguments = unsafe CKCodePanel(
        a: left.base, b: right.base, c: c.base, rowScales: byRow.base,
        columnScales: hasColumnScales ? UnsafePointer(byColumn.base) : nil, aStride: aStride,
        bStride: bStride, cStride: cStride, rowCount: rows, columnCount: columns, depth: depth,
        rowFactors: accumulates ? UnsafePointer(factorMemory.base) : nil,
        next: hasColumnScales ? UnsafeRawPointer(left.base) : nil, nextByteCount: 8 * depth)
      unsafe kernel.function(&arguments)
      var wanted = old
      for row in 0..<rows {
        for column in 0..<columns {
          let product = FloatReference.codeProduct(
            Array(a[row * aStride..<row * aStride + depth]),
            (0..<depth).map { b[$0 / 2 * bStride + 2 * column + $0 % 2] }, rowScale: rowScales[row],
            columnScale: hasColumnScales ? columnScales[column] : nil)
          let index = row * cStride + column
          wanted[index] = accumulates ? wanted[index] * factors[row] + product : product
        }
      }
      let place = "\(rows)×\(columns)×\(depth), accumulates \(accumulates), \(hasColumnScales)"
      expect(c.values, near: wanted.map(Double.init), place) { _ in 0 }
      expect(c.isIntact, "\(place): wrote outside")
    }
    // The objects own the memory behind the pointers.
    withExtendedLifetime((left, right, byRow, byColumn, factorMemory)) {}
  }
}
