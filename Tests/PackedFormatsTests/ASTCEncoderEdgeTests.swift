import PackedFormats
import TestSupport
import Testing

/// Rows that are not like a normal distribution at all.
@Suite struct ASTCEncoderEdgeTests {
  typealias Samples = ASTCEncoderSamples

  private func packed(
    _ weights: [Float], _ format: WeightFormat, options: QuantizationOptions = .init(effort: .fast)
  ) throws -> PackedTensor {
    let tensor = try PackedTensor(
      weights, format: format, rowCount: 1, columnCount: weights.count, options: options)
    try tensor.validate()
    for block in Samples.blocks(tensor) { #expect(ASTCWeightMode(block) != nil) }
    return tensor
  }

  @Test(arguments: ASTCEncoderTests.formats, [1, 5, 36, 37])
  func zerosAreZeros(format: WeightFormat, columns: Int) throws {
    let zeros = try packed([Float](repeating: 0, count: columns), format)
    #expect(zeros.dequantized().allSatisfy { $0 == 0 })
  }

  /// Equal weights need one level each.
  @Test(arguments: ASTCEncoderTests.formats, [Float(1), -3, 1e-20, 1e20])
  func equalWeights(format: WeightFormat, weight: Float) throws {
    for columns in [1, 35, 36, 37, 71] {
      let values = try packed([Float](repeating: weight, count: columns), format).dequantized()
      for value in values {
        #expect(abs(value - weight) <= 0.004 * weight.magnitude, "\(value)")
      }
    }
  }

  @Test(arguments: ASTCEncoderTests.formats)
  func denormals(format: WeightFormat) throws {
    let weights = gaussian(72, seed: 3).map { $0 * 0x1p-140 }
    let values = try packed(weights, format).dequantized()
    // The scale of LDR itself has few bits left there; that of HDR has more than enough.
    #expect(values.allSatisfy { $0.isFinite && $0.magnitude <= 0x1p-136 })
    let tiny = try packed([0x1p-149, -0x1p-149, 0], format).dequantized()
    #expect(tiny.allSatisfy { $0.magnitude <= 0x1p-133 })
  }

  @Test(arguments: ASTCEncoderTests.formats) func theLargestWeights(format: WeightFormat) throws {
    let largest = format.largestWeight
    let weights = gaussian(72, seed: 5).map { $0 < 0 ? -largest : largest }
    let values = try packed(weights, format).dequantized()
    for (value, weight) in zip(values, weights) {
      // HDR's scale leaves its blocks of these weights few endpoints.
      let error: Float = format == .astc6x6LDR ? 0.001 : 0.1
      #expect(value.isFinite && abs(value / weight - 1) < error, "\(value)")
    }
  }

  /// A block without the outlier is not the worse for it in HDR; in LDR it is, by what the page
  /// says, but nothing is clipped.
  @Test(arguments: ASTCEncoderTests.formats, [Float(30), -3000])
  func outliers(format: WeightFormat, outlier: Float) throws {
    var weights = gaussian(360, seed: 7)
    weights[100] = outlier
    let values = try packed(weights, format).dequantized()
    #expect(abs(values[100] / outlier - 1) < 0.02, "\(values[100])")
    guard format == .astc6x6HDR else { return }
    let rest = (0..<360).filter { $0 / 36 != 100 / 36 }
    let error = Samples.relativeError(rest.map { weights[$0] }, rest.map { values[$0] })
    #expect(error < 0.23, "\(error)")
  }

  @Test func weightsBeyondReachAreRefused() throws {
    var weights = gaussian(100, seed: 2)
    weights[60] = 20000
    #expect(throws: PackedFormatError(.outOfRange, row: 0, column: 60)) {
      try packed(weights, .astc6x6HDR, options: .init(effort: .fast, tensorScale: 1))
    }
    // From the weights themselves the scale is one that reaches them.
    #expect(try packed(weights, .astc6x6HDR).dequantized().allSatisfy { $0.isFinite })
    for bad in [Float.nan, .infinity] {
      weights[60] = bad
      for format in ASTCEncoderTests.formats {
        #expect(throws: PackedFormatError(.nonFiniteWeight, row: 0, column: 60)) {
          try packed(weights, format)
        }
      }
    }
  }

  @Test(arguments: ASTCEncoderTests.formats)
  func importancesOfAllSizes(format: WeightFormat) throws {
    let weights = gaussian(144, seed: 11)
    let importance = (0..<144).map { [Float(1e-38), 1, 1e38, 1e-37][$0 % 4] }
    let values = try packed(
      weights, format, options: .init(effort: .medium, importance: importance)
    ).dequantized()
    // What counts 10^38 times as much as the rest is close.
    let matter = (0..<144).filter { $0 % 4 == 2 }
    let error = Samples.relativeError(matter.map { weights[$0] }, matter.map { values[$0] })
    #expect(error < 0.12, "\(error)")
    #expect(values.allSatisfy { $0.isFinite })
  }

  /// Without clipping no weight is moved; with it those beyond are, and are counted.
  @Test func clippingIsCounted() throws {
    var weights = gaussian(3600, seed: 13)
    weights[17] = 6
    weights[3000] = -7
    func outcome(_ clipping: Float?) throws -> (clippedCount: Int, tensor: PackedTensor) {
      let (outcome, tensor) = try PackedTensor.quantized(
        weights, format: .astc6x6LDR, rowCount: 1, columnCount: 3600,
        options: .init(effort: .fast, clipping: clipping))
      return (outcome.clippedCount, tensor)
    }
    let (none, covered) = try outcome(nil)
    #expect(none == 0)
    let scale = (0..<4).reduce(UInt32(0)) { $0 | UInt32(covered.scales[$1]) << (8 * UInt32($1)) }
    #expect(Float(bitPattern: scale) * 32767.5 >= 7)
    let values = covered.dequantized()
    #expect(values[17] > 5 && values[3000] < -6, "\(values[17]), \(values[3000])")
    let (some, clipped) = try outcome(3)
    let squares = weights.reduce(0.0) { $0 + Double($1) * Double($1) }
    let limit = Float(3 * (squares / 3600).squareRoot())
    #expect(some == weights.count { $0.magnitude > limit })
    #expect(some >= 2)
    #expect(clipped.dequantized().allSatisfy { $0.magnitude < limit * 1.001 })
    #expect(try outcome(20).clippedCount == 0)
  }
}
