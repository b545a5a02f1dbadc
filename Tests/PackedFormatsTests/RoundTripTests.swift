import PackedFormats
import TestSupport
import Testing

/// Sizes around bytes, groups and vectors.
private let columnCounts = [1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 63, 64, 65, 95, 129, 257]

@Suite struct RoundTripTests {
  @Test(arguments: WeightFormat.elementwise, columnCounts)
  func dequantizesAsTheFormulaSays(format: WeightFormat, columnCount: Int) throws {
    for rowCount in [1, 3] {
      let weights = gaussian(rowCount * columnCount, seed: UInt64(columnCount))
      let tensor = try PackedTensor(
        weights, format: format, rowCount: rowCount, columnCount: columnCount)
      try tensor.validate()
      let bits = tensor.dequantized().map(\.bitPattern)
      #expect(bits == tensor.referenceDequantized().map(\.bitPattern))
      if format == .f32 { #expect(bits == weights.map(\.bitPattern)) }
    }
  }

  @Test(arguments: WeightFormat.coded, columnCounts)
  func choosesTheNearestCode(format: WeightFormat, columnCount: Int) throws {
    let weights = gaussian(2 * columnCount, seed: 1000 + UInt64(columnCount))
    let tensor = try PackedTensor(weights, format: format, rowCount: 2, columnCount: columnCount)
    let codes = try #require(format.codeRange)
    for row in 0..<2 {
      for column in 0..<columnCount {
        let weight = weights[row * columnCount + column]
        let scale = tensor.referenceScale(row: row, column: column)
        let value = tensor.referenceValue(row: row, column: column)
        // No other code is closer by more than the rounding of the comparison.
        let best = codes.map { code in
          abs(tensor.value(code: code, row: row, column: column) - weight)
        }.min()
        let limit = try #require(best) + scale * 1e-5
        #expect(abs(value - weight) <= limit, "row \(row), column \(column)")
      }
    }
  }

  @Test(arguments: WeightFormat.elementwise)
  func acceptsRandomPlanes(format: WeightFormat) {
    var generator = SeededGenerator(seed: 5)
    var tensor = PackedTensor(zero: format, rowCount: 3, columnCount: 77)
    for index in tensor.codes.indices {
      tensor.codes[index] = .random(in: 0...255, using: &generator)
    }
    for index in tensor.scales.indices {
      tensor.scales[index] = .random(in: 0...60, using: &generator)
    }
    for index in tensor.minimums.indices {
      tensor.minimums[index] = .random(in: 0...60, using: &generator)
    }
    let bits = tensor.dequantized().map(\.bitPattern)
    let reference = tensor.referenceDequantized()
    // NaNs need not keep their payload.
    for (index, value) in reference.enumerated() where !value.isNaN {
      #expect(bits[index] == value.bitPattern, "element \(index)")
    }
  }

  @Test(arguments: WeightFormat.allCases)
  func packsAFewRowsAtATime(format: WeightFormat) throws {
    let weights = gaussian(7 * 45, seed: 3)
    let whole = try PackedTensor(weights, format: format, rowCount: 7, columnCount: 45)
    var survey = TensorSurvey()
    try survey.add(weights.span, columnCount: 45)
    let scale =
      format.axis(of: .scales) == .tensor ? try survey.tensorScale(for: format) : nil
    let parts = try PackedTensor(
      weights, format: format, rowCount: 7, columnCount: 45, step: 3,
      options: QuantizationOptions(tensorScale: scale))
    #expect(whole.codes == parts.codes)
    #expect(whole.scales == parts.scales)
    #expect(whole.minimums == parts.minimums)
    // And lends a few rows of a whole.
    whole.withPlanes { planes in
      var values = [Float](repeating: .nan, count: 3 * 45)
      var output = values.mutableSpan
      let rows = planes.rows(2..<5, columnCount: 45, format: format)
      format.dequantize(rows, rowCount: 3, columnCount: 45, into: &output)
      #expect(values == Array(whole.dequantized()[2 * 45..<5 * 45]))
    }
  }

  @Test(arguments: WeightFormat.allCases)
  func keepsZeros(format: WeightFormat) throws {
    let tensor = try PackedTensor(
      [Float](repeating: 0, count: 2 * 35), format: format, rowCount: 2, columnCount: 35)
    try tensor.validate()
    // A centred code below the middle gives −0.
    let isCentred = format == .astc6x6LDR
    #expect(tensor.dequantized().allSatisfy { isCentred ? $0 == 0 : $0.bitPattern == 0 })
  }

  @Test(arguments: WeightFormat.allCases)
  func acceptsEmptyTensors(format: WeightFormat) throws {
    for (rowCount, columnCount) in [(0, 5), (0, 0)] {
      let tensor = try PackedTensor(
        [], format: format, rowCount: rowCount, columnCount: columnCount)
      try tensor.validate()
      #expect(tensor.dequantized().isEmpty)
    }
  }
}
