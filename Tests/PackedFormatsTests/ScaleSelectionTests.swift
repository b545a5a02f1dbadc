import PackedFormats
import TestSupport
import Testing

@Suite struct ScaleSelectionTests {
  /// Bounds a little above what the formats reach, below what plainer choices reach: 2-bit
  /// absmax scales give 0.7 and more, 4-bit minimum and maximum 0.0776, 4-bit absmax 0.139.
  @Test(arguments: [
    (WeightFormat.f16, 0.00022), (.s8c, 0.0085), (.s8g32, 0.0055), (.u4g32, 0.0700),
    (.u4c, 0.1075), (.u2c, 0.3450), (.u2g64, 0.3370), (.u2t, 0.3450),
  ])
  func reachesItsErrorOnGaussianWeights(format: WeightFormat, bound: Double) throws {
    let weights = gaussian(256 * 2048, seed: 11).map { $0 * 0.02 }
    let tensor = try PackedTensor(weights, format: format, rowCount: 256, columnCount: 2048)
    let error = relativeRMS(weights, tensor.dequantized())
    #expect(error <= bound, "relative RMS \(error)")
  }

  @Test func signedBytesFollowTheLargestMagnitude() throws {
    for seed in UInt64(0)..<20 {
      let weights = gaussian(67, seed: seed)
      let tensor = try PackedTensor(weights, format: .s8c, rowCount: 1, columnCount: 67)
      let scale = (weights.map { $0.magnitude }.max() ?? 0) / 127
      #expect(tensor.referenceScale(row: 0, column: 0) == scale)
      for (column, weight) in weights.enumerated() {
        let code = Int((weight / scale).rounded(.toNearestOrEven))
        #expect(tensor.referenceCode(row: 0, column: column) == code, "seed \(seed)")
      }
    }
  }

  @Test(arguments: [1, 2, 3, 10, 32])
  func affineGroupsBeatMinimumAndMaximum(count: Int) throws {
    var searched = 0.0
    var plain = 0.0
    for seed in UInt64(0)..<200 {
      let weights = gaussian(count, seed: seed * 64 + UInt64(count))
      let tensor = try PackedTensor(weights, format: .u4g32, rowCount: 1, columnCount: count)
      searched += squaredError(weights, tensor.dequantized())
      plain += plainAffineError(weights)
    }
    #expect(count < 10 ? searched <= plain : searched < 0.85 * plain, "\(searched / plain)")
  }

  /// The squared error of scale (max − min)/15 and minimum min, rounded to binary16.
  private func plainAffineError(_ weights: [Float]) -> Double {
    let low = weights.min() ?? 0
    let high = weights.max() ?? 0
    let minimum = Float(Float16(low))
    let scale = Float(Float16((high - low) / 15))
    let values = weights.map { weight in
      let code = scale > 0 ? ((weight - minimum) / scale).rounded(.toNearestOrEven) : 0
      return minimum + min(15, max(0, code)) * scale
    }
    return squaredError(weights, values)
  }

  @Test func affineGroupsReproduceTheirOwnLattice() throws {
    var generator = SeededGenerator(seed: 21)
    for _ in 0..<200 {
      let scale = Float(Float16(Float.random(in: 0.0001...0.1, using: &generator)))
      let minimum = Float(Float16(Float.random(in: -1...0, using: &generator)))
      var codes = (0..<32).map { _ in Float(Int.random(in: 0...15, using: &generator)) }
      codes[3] = 0
      codes[17] = 15
      let weights = codes.map { minimum + $0 * scale }
      let tensor = try PackedTensor(weights, format: .u4g32, rowCount: 1, columnCount: 32)
      #expect(tensor.dequantized() == weights)
    }
  }

  @Test(arguments: [1, 2, 5, 64, 200])
  func twoBitScalesAreTheBestOfAll(count: Int) throws {
    for seed in UInt64(0)..<20 {
      let weights = gaussian(count, seed: seed + 7777)
      let tensor = try PackedTensor(weights, format: .u2c, rowCount: 1, columnCount: count)
      let error = squaredError(weights, tensor.dequantized())
      let largest = weights.map { $0.magnitude }.max() ?? 0
      let best = (1...4000).map { step in
        let scale = 2.2 * largest * Float(step) / 4000
        let values = weights.map { weight in
          let magnitude: Float = weight.magnitude < scale ? 0.5 : 1.5
          return (weight < 0 ? -magnitude : magnitude) * scale
        }
        return squaredError(weights, values)
      }.min()
      #expect(error <= (try #require(best)) * 1.00001 + 1e-9, "seed \(seed)")
    }
  }

  @Test(arguments: [
    (WeightFormat.f32, Float(0x1p-149)), (.f32, 3e38), (.f16, 1e-7), (.f16, 60000),
    (.s8c, Float(bitPattern: 7)),
    (.s8c, Float(bitPattern: 715)), (.s8c, 0x1p100), (.u4g32, 1e-7), (.u4g32, 1e-20),
    (.u4g32, 60000),
    (.u2c, 0x1p-149),
    (.u2c, 0x1p-133), (.u2c, 0x1p100), (.u4c, 0x1p-149), (.u4c, 0x1p-133), (.u4c, 0x1p100),
    (.s8g32, 1e-7), (.s8g32, 1e-20), (.s8g32, 60000), (.u2t, 0x1p-149), (.u2t, 0x1p100),
    (.u2g64, 1e-7), (.u2g64, 1e-20), (.u2g64, 20000),
  ])
  func survivesExtremeMagnitudes(format: WeightFormat, magnitude: Float) throws {
    let weights = gaussian(70, seed: 9).map { max(-1, min(1, $0)) * magnitude }
    let tensor = try PackedTensor(weights, format: format, rowCount: 1, columnCount: 70)
    try tensor.validate()
    for (value, weight) in zip(tensor.dequantized(), weights) {
      #expect((value - weight).magnitude <= magnitude, "\(weight) became \(value)")
    }
  }

  @Test func affineGroupsFarFromZeroKeepTheirRange() throws {
    // The minimum is rounded down to binary16, here by as much as the group's whole range.
    let weights = (0..<32).map { 1000.3 + Float($0) * 0.01 }
    let tensor = try PackedTensor(weights, format: .u4g32, rowCount: 1, columnCount: 32)
    for (value, weight) in zip(tensor.dequantized(), weights) {
      #expect((value - weight).magnitude < 0.03, "\(weight) became \(value)")
    }
  }
}
