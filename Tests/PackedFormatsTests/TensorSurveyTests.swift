import PackedFormats
import Testing

@Suite struct TensorSurveyTests {
  private func survey(
    _ weights: [Float], columnCount: Int, options: QuantizationOptions = QuantizationOptions()
  ) throws -> TensorSurvey {
    var survey = TensorSurvey(options: options)
    try survey.add(weights.span, columnCount: columnCount)
    return survey
  }

  @Test(arguments: [Float(1), 0.02, 1e-30, 1e29])
  func findsTheScaleOfLeastError(factor: Float) throws {
    for seed in UInt64(0)..<5 {
      let weights = gaussian(40 * 500, seed: seed + 1).map { $0 * factor }
      let scale = try survey(weights, columnCount: 500).tensorScale(for: .u2t)
      let exact = ReferenceFit.twoBitScale(weights)
      func error(_ scale: Double) -> Double {
        ReferenceFit.error(weights, scale: scale, offset: 0.5, top: 1)
      }
      #expect(error(Double(scale)) <= error(exact) * 1.0001, "seed \(seed)")
    }
  }

  @Test func weighsColumns() throws {
    let importance = gaussian(500, seed: 2).map { 0.01 + $0 * $0 }
    let weights = gaussian(20 * 500, seed: 3)
    let options = QuantizationOptions(importance: importance)
    let scale = try survey(weights, columnCount: 500, options: options).tensorScale(for: .u2t)
    let all = weights.indices.map { importance[$0 % 500] }
    let found = ReferenceFit.error(
      weights, importance: all, scale: Double(scale), offset: 0.5, top: 1)
    let best = ReferenceFit.bestError(weights, importance: all, offset: 0.5, top: 1)
    #expect(found <= best * 1.0001)
  }

  @Test func partsInAnyOrderAreTheWhole() throws {
    let weights = gaussian(60 * 77, seed: 9)
    let whole = try survey(weights, columnCount: 77)
    let parts = try [0..<7, 7..<30, 30..<60].map { rows in
      try survey(Array(weights[rows.lowerBound * 77..<rows.upperBound * 77]), columnCount: 77)
    }
    for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
      var merged = TensorSurvey()
      for index in order { merged.merge(parts[index]) }
      #expect(merged.largestMagnitude == whole.largestMagnitude)
      let scale = try merged.tensorScale(for: .u2t)
      #expect(scale == (try whole.tensorScale(for: .u2t)))
    }
  }

  @Test func absoluteMaximum() throws {
    let options = QuantizationOptions(scaleFit: .absoluteMaximum)
    let survey = try survey([0.25, -3, 1, 2], columnCount: 2, options: options)
    #expect(try survey.tensorScale(for: .u2t) == 2)
  }

  /// The root mean square is √(5/12) = 0.645 of the largest: 20 of them are 12.9.
  @Test(arguments: [
    (Float(1), Float(8)), (1.99, 16), (2, 16), (0.03, 0.25), (1e30, 0x1p103), (0x1p-128, 0x1p-125),
    (0x1p-149, 0x1p-126), (0, 1), (0x1p100, 0x1p103),
  ])
  func blocksGetAPowerOfTwo(largest: Float, scale: Float) throws {
    let survey = try survey([0, -largest, largest / 2], columnCount: 3)
    #expect(try survey.tensorScale(for: .astc6x6HDR) == scale)
  }

  /// 10 to 20 root mean squares, whatever the tail; but never so little that the largest weight is
  /// out of reach.
  @Test func outliersLeaveTheScaleOfBlocks() throws {
    var weights = gaussian(100_000, seed: 4)
    #expect(try survey(weights, columnCount: 1000).tensorScale(for: .astc6x6HDR) == 16)
    weights[77] = 100
    #expect(try survey(weights, columnCount: 1000).tensorScale(for: .astc6x6HDR) == 16)
    weights[77] = -1e9
    #expect(try survey(weights, columnCount: 1000).tensorScale(for: .astc6x6HDR) == 0x1p25)
    // Its importance is next to nothing, but it has to fit.
    let options = QuantizationOptions(importance: (0..<1000).map { $0 == 77 ? 1e-30 : 1 })
    let scale = try survey(weights, columnCount: 1000, options: options)
      .tensorScale(for: .astc6x6HDR)
    #expect(scale == 0x1p16)
  }

  @Test func extremes() throws {
    #expect(try survey([0, 0], columnCount: 2).tensorScale(for: .u2t) == 0)
    #expect(try survey([0x1p-149], columnCount: 1).tensorScale(for: .u2t) == 0x1p-149)
    #expect(throws: PackedFormatError(.nonFiniteWeight, row: 11, column: 1)) {
      var survey = TensorSurvey()
      let weights: [Float] = [1, 2, 3, .nan]
      try survey.add(weights.span, columnCount: 2, firstRow: 10)
    }
    for largest in [Float(0x1p100).nextUp, .greatestFiniteMagnitude] {
      #expect(throws: PackedFormatError(.outOfRange, row: 1, column: 1)) {
        try survey([1, 2, 3, -largest], columnCount: 2)
      }
    }
    let found = try survey([0x1p100, -0x1p100], columnCount: 2).tensorScale(for: .u2t)
    #expect(found <= WeightFormat.u2t.largestScale)
  }
}
