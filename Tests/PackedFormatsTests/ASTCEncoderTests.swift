import PackedFormats
import TestSupport
import Testing

/// The weight encoder: what it may write, how good that is, and what it does at the edges.
@Suite struct ASTCEncoderTests {
  typealias Samples = ASTCEncoderSamples
  typealias Effort = QuantizationOptions.Effort

  static let formats: [WeightFormat] = [.astc6x6LDR, .astc6x6HDR]

  /// Every block is one of `ASTCWeightMode`, and every weight has the code that decodes nearest to
  /// it: where the encoder assumed other values than the decoder gives, it would not.
  @Test(arguments: formats, Effort.allCases)
  func weightsGetTheNearestOfTheirBlocksValues(format: WeightFormat, effort: Effort) throws {
    var seen: Set<ASTCWeightMode> = []
    for (index, kind) in Samples.Kind.allCases.enumerated() {
      let weights = Samples.weights(kind, rowCount: 4, columnCount: 360, seed: UInt64(index) + 1)
      let tensor = try PackedTensor(
        weights, format: format, rowCount: 4, columnCount: 360, options: .init(effort: effort))
      try tensor.validate()
      let values = tensor.dequantized()
      let blocks = Samples.blocks(tensor)
      let modes = try blocks.map { try #require(ASTCWeightMode($0), "\(kind), \($0.bytes)") }
      seen.formUnion(modes)
      // What each code would mean, for every texel.
      let choices = (0..<6).map { code in
        let constants = zip(blocks, modes).map { block, mode in
          Samples.constant(
            block, mode: mode, code: UInt8(min(code, mode.codeRange.levelCount - 1)))
        }
        return tensor.with(constants).dequantized()
      }
      for place in weights.indices {
        let distances = choices.map { abs($0[place] - weights[place]) }
        let found = abs(values[place] - weights[place])
        let scale = choices.map { abs($0[place]) }.max() ?? 0
        #expect(
          found <= (distances.min() ?? 0) + 1e-4 * scale,
          "\(kind), weight \(place) of \(modes[place / 36])")
      }
    }
    // All partition counts that the effort searches were there.
    let counts = Set(seen.map(\.partitionCount))
    #expect(counts == (effort == .thorough ? [1, 2, 3] : [1, 2]))
    if format == .astc6x6LDR { #expect(!seen.contains(.oneHDR)) }
  }

  /// Relative errors of 64 rows of 1440; the page has those of 1536 rows.
  static let bounds:
    [(format: WeightFormat, kind: Samples.Kind, clipping: Float?, most: [Double])] =
      [
        (.astc6x6LDR, .gaussian, nil, [0.197, 0.189, 0.185]),
        (.astc6x6LDR, .planted, nil, [0.205, 0.197, 0.190]),
        (.astc6x6LDR, .gaussian, 3.5, [0.197, 0.188, 0.183]),
        (.astc6x6HDR, .gaussian, nil, [0.205, 0.197, 0.190]),
      ]

  @Test(arguments: bounds.indices)
  func errorsFallWithTheEffort(index: Int) throws {
    let (format, kind, clipping, most) = Self.bounds[index]
    let weights = Samples.weights(kind, rowCount: 64, columnCount: 1440, seed: 20)
    var last = Double.infinity
    for (effort, most) in zip([Effort.fast, .medium, .thorough], most) {
      let tensor = try PackedTensor(
        weights, format: format, rowCount: 64, columnCount: 1440,
        options: .init(effort: effort, clipping: clipping))
      let error = Samples.relativeError(weights, tensor.dequantized())
      #expect(error <= most, "\(format.name), \(kind), \(effort): \(error)")
      #expect(error < last, "\(effort) is no better: \(error)")
      last = error
    }
  }

  /// One partition: all pairs of endpoints, with the nearest of six values for each weight.
  @Test func onePartitionIsNearlyTheBestOfAllEndpointPairs() throws {
    let columns = 36 * 16
    let weights = gaussian(columns, seed: 31)
    var found: [Effort: Double] = [:]
    var best = 0.0
    for effort in Effort.allCases {
      let tensor = try PackedTensor(
        weights, format: .astc6x6LDR, rowCount: 1, columnCount: columns,
        options: .init(effort: effort, partitionLimit: 1))
      #expect(Samples.blocks(tensor).allSatisfy { ASTCWeightMode($0) == .one })
      found[effort] = Samples.relativeError(weights, tensor.dequantized())
      guard best == 0 else { continue }
      let bits = (0..<4).reduce(UInt32(0)) { $0 | UInt32(tensor.scales[$1]) << (8 * UInt32($1)) }
      best = Self.leastError(weights, scale: Float(bitPattern: bits))
    }
    #expect(try #require(found[.fast]) < best * 1.03, "\(found), \(best)")
    #expect(try #require(found[.medium]) < best * 1.006, "\(found), \(best)")
    #expect(try #require(found[.thorough]) < best * 1.006, "\(found), \(best)")
    #expect(found.values.allSatisfy { $0 > best * 0.9999 }, "\(found), \(best)")
  }

  private static func leastError(_ weights: [Float], scale: Float) -> Double {
    let gridWeights = [0, 12, 25, 39, 52, 64]
    var whole: Float = 0
    for start in stride(from: 0, to: weights.count, by: 36) {
      let part = weights[start..<start + 36].map { $0 / scale + 32767.5 }
      var least = Float.infinity
      for low in 0..<255 {
        for high in low + 1...255 {
          var values = SIMD8<Float>(repeating: .infinity)
          for (code, weight) in gridWeights.enumerated() {
            values[code] = Float((low * 257 * (64 - weight) + high * 257 * weight + 32) >> 6)
          }
          var sum: Float = 0
          for number in part {
            let distance = values - number
            sum += (distance * distance).min()
            if sum >= least { break }
          }
          least = min(least, sum)
        }
      }
      whole += least
    }
    let squares = weights.reduce(0.0) { $0 + Double($1) * Double($1) }
    return (Double(whole) / squares).squareRoot() * Double(scale)
  }

  @Test(arguments: formats, [1, 2, 3])
  func partitionsStayWithinTheLimit(format: WeightFormat, limit: Int) throws {
    let weights = gaussian(8 * 360, seed: 6)
    let tensor = try PackedTensor(
      weights, format: format, rowCount: 8, columnCount: 360,
      options: .init(effort: .thorough, partitionLimit: limit))
    let counts = Samples.blocks(tensor).compactMap { ASTCWeightMode($0)?.partitionCount }
    #expect(counts.count == 80 && counts.max() == limit)
  }

  @Test(arguments: formats)
  func importanceLowersTheWeightedError(format: WeightFormat) throws {
    let weights = gaussian(16 * 720, seed: 8)
    let importance = gaussian(720, seed: 9).map { 0.01 + $0 * $0 * $0 * $0 }
    func error(_ options: QuantizationOptions) throws -> Double {
      let values = try PackedTensor(
        weights, format: format, rowCount: 16, columnCount: 720, options: options
      ).dequantized()
      return weights.indices.reduce(0.0) {
        let distance = Double(weights[$1] - values[$1])
        return $0 + distance * distance * Double(importance[$1 % 720])
      }
    }
    for effort in Effort.allCases {
      let with = try error(.init(effort: effort, importance: importance))
      let without = try error(.init(effort: effort))
      #expect(with < 0.8 * without, "\(effort): \(with) of \(without)")
    }
  }

  @Test(arguments: formats)
  func piecesOfRowsGiveTheSameBytes(format: WeightFormat) throws {
    let weights = gaussian(13 * 100, seed: 12)
    let options = QuantizationOptions(effort: .fast, tensorScale: 16)
    let whole = try PackedTensor(
      weights, format: format, rowCount: 13, columnCount: 100, options: options)
    for step in [1, 2, 5] {
      let parts = try PackedTensor(
        weights, format: format, rowCount: 13, columnCount: 100, step: step, options: options)
      #expect(parts.codes == whole.codes)
      #expect(parts.minimums == whole.minimums)
      if format == .astc6x6LDR { #expect(parts.scales == whole.scales) }
    }
  }
}
