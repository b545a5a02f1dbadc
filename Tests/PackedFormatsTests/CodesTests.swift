import PackedFormats
import TensorCore
import TestSupport
import Testing

/// Codes and scales into planes and back.
@Suite struct CodesTests {
  /// Numbers of one tensor, a byte a code.
  struct Numbers: Equatable {
    var codes: [UInt8]
    var scales: [Float]
    var minimums: [Float]

    init(zero format: WeightFormat, rowCount: Int, columnCount: Int) {
      func count(_ plane: Plane) -> Int {
        format.elementCount(of: plane, rows: rowCount, columns: columnCount) ?? 0
      }
      codes = [UInt8](repeating: 0, count: count(.codes))
      scales = [Float](repeating: 0, count: count(.scales))
      minimums = [Float](repeating: 0, count: count(.minimums))
    }
  }

  private func pack(
    _ numbers: Numbers, _ format: WeightFormat, rowCount: Int, columnCount: Int
  ) throws(PackedFormatError) -> PackedTensor {
    var tensor = PackedTensor(zero: format, rowCount: rowCount, columnCount: columnCount)
    var (codeBytes, scaleBytes, minimumBytes) = (tensor.codes, tensor.scales, tensor.minimums)
    var codes = codeBytes.mutableSpan
    var scales = scaleBytes.mutableSpan
    var minimums = minimumBytes.mutableSpan
    // Bytes have no padding, and every value is a valid one.
    var planes = unsafe MutablePackedPlanes(
      codes: codes.mutableBytes, scales: scales.mutableBytes, minimums: minimums.mutableBytes)
    try format.pack(
      codes: numbers.codes.span, scales: numbers.scales.span, minimums: numbers.minimums.span,
      rowCount: rowCount, columnCount: columnCount, firstRow: 10, into: &planes)
    (tensor.codes, tensor.scales, tensor.minimums) = (codeBytes, scaleBytes, minimumBytes)
    return tensor
  }

  private func unpack(_ tensor: PackedTensor) -> Numbers {
    let zero = Numbers(
      zero: tensor.format, rowCount: tensor.rowCount, columnCount: tensor.columnCount)
    var (codeNumbers, scaleNumbers, minimumNumbers) = (zero.codes, zero.scales, zero.minimums)
    tensor.withPlanes { planes in
      var codes = codeNumbers.mutableSpan
      var scales = scaleNumbers.mutableSpan
      var minimums = minimumNumbers.mutableSpan
      tensor.format.unpack(
        planes, rowCount: tensor.rowCount, columnCount: tensor.columnCount, codes: &codes,
        scales: &scales, minimums: &minimums)
    }
    var numbers = zero
    (numbers.codes, numbers.scales, numbers.minimums) = (
      codeNumbers, scaleNumbers, minimumNumbers
    )
    return numbers
  }

  @Test(arguments: WeightFormat.coded, [1, 3, 4, 5, 31, 32, 33, 64, 65, 130])
  func planesComeBackBitForBit(format: WeightFormat, columnCount: Int) throws {
    let weights = gaussian(3 * columnCount, seed: UInt64(columnCount))
    let tensor = try PackedTensor(weights, format: format, rowCount: 3, columnCount: columnCount)
    let numbers = unpack(tensor)
    for row in 0..<3 {
      for column in 0..<columnCount {
        let code = UInt8(truncatingIfNeeded: tensor.referenceCode(row: row, column: column))
        #expect(numbers.codes[row * columnCount + column] == code)
      }
    }
    let again = try pack(numbers, format, rowCount: 3, columnCount: columnCount)
    #expect(again.codes == tensor.codes)
    #expect(again.scales == tensor.scales)
    #expect(again.minimums == tensor.minimums)
  }

  /// Any legal codes and scales, not only those that quantizing chooses.
  @Test(arguments: WeightFormat.coded)
  func numbersComeBackBitForBit(format: WeightFormat) throws {
    var generator = SeededGenerator(seed: 3)
    let range = try #require(format.codeRange)
    var numbers = Numbers(zero: format, rowCount: 4, columnCount: 99)
    for index in numbers.codes.indices {
      let code = Int.random(in: range, using: &generator)
      numbers.codes[index] = UInt8(truncatingIfNeeded: code)
    }
    func number() -> Float {
      let bits = UInt16.random(in: 0...0x7BFF, using: &generator)
      if format.groupSize != nil { return Float(Float16(bitPattern: bits)) }
      let largest = format.largestScale.bitPattern
      return Float(bitPattern: UInt32.random(in: 0...largest, using: &generator))
    }
    for index in numbers.scales.indices { numbers.scales[index] = number() }
    for index in numbers.minimums.indices { numbers.minimums[index] = -number() }
    let tensor = try pack(numbers, format, rowCount: 4, columnCount: 99)
    try tensor.validate()
    #expect(unpack(tensor) == numbers)
  }

  private func expectRefusal(
    _ format: WeightFormat, _ error: PackedFormatError, _ change: (inout Numbers) -> Void,
    _ location: SourceLocation = #_sourceLocation
  ) {
    var numbers = Numbers(zero: format, rowCount: 3, columnCount: 70)
    change(&numbers)
    #expect(throws: error, sourceLocation: location) {
      try pack(numbers, format, rowCount: 3, columnCount: 70)
    }
  }

  @Test func refusesCodesOutsideTheRange() {
    for (format, code) in [
      (WeightFormat.u2c, UInt8(4)), (.u2g64, 255), (.u2t, 4), (.u4c, 16), (.u4g32, 16),
    ] {
      let error = PackedFormatError(.codeOutOfRange, plane: .codes, row: 11, column: 69)
      expectRefusal(format, error) { $0.codes[70 + 69] = code }
    }
    for format in [WeightFormat.s8c, .s8g32] {
      let error = PackedFormatError(.forbiddenCode, plane: .codes, row: 12, column: 0)
      expectRefusal(format, error) { $0.codes[140] = 0x80 }
    }
  }

  @Test func refusesNumbersThatCannotBeKept() {
    for bad in [Float.nan, .infinity] {
      expectRefusal(.u2c, .init(.nonFiniteScale, plane: .scales, row: 12)) { $0.scales[2] = bad }
      expectRefusal(.u2t, .init(.nonFiniteScale, plane: .scales)) { $0.scales[0] = bad }
      let error = PackedFormatError(.nonFiniteMinimum, plane: .minimums, row: 11, column: 32)
      expectRefusal(.u4g32, error) { $0.minimums[4] = bad }
    }
    for bad in [Float(-1), -0.0] {
      let error = PackedFormatError(.negativeScale, plane: .scales, row: 10, column: 64)
      expectRefusal(.u2g64, error) { $0.scales[1] = bad }
    }
    for bad in [Float(0.1), 65536, 0x1p-25] {
      let scale = PackedFormatError(.inexactNumber, plane: .scales, row: 12, column: 64)
      expectRefusal(.s8g32, scale) { $0.scales[8] = bad }
      let minimum = PackedFormatError(.inexactNumber, plane: .minimums, row: 10, column: 0)
      expectRefusal(.u4g32, minimum) { $0.minimums[0] = -bad }
    }
  }
}
