import PackedFormats
import TestSupport
import Testing

private typealias Fit = QuantizationOptions.ScaleFit

/// Weights of several kinds, all with the same seed on every machine.
private func weights(_ kind: String, count: Int, seed: UInt64) -> [Float] {
  var generator = SeededGenerator(seed: seed)
  let normal = gaussian(count, seed: seed)
  switch kind {
  case "uniform": return normal.map { _ in Float.random(in: -1...1, using: &generator) }
  case "heavy": return normal.map { $0 * $0 * $0 }
  case "outlier": return normal.enumerated().map { $0.offset == 1 ? 1000 : $0.element * 0.01 }
  case "lattice": return normal.map { ($0 * 2).rounded() * 0.125 }
  case "equal": return normal.map { $0 < 0 ? -0.75 : 0.75 }
  case "tiny": return normal.map { $0 * 0x1p-133 }
  case "sparse": return normal.map { $0 < 1 ? 0 : $0 }
  default: return normal
  }
}

private let kinds = [
  "normal", "uniform", "heavy", "outlier", "lattice", "equal", "tiny", "sparse",
]

@Suite struct ScaleFitTests {
  /// The bytes of the two-bit formats are those of a comparison sort and a scalar loop.
  @Test(arguments: kinds, [1, 2, 3, 63, 64, 65, 200, 577, 2048])
  func twoBitBytesAreTheScalarReferences(kind: String, count: Int) throws {
    for seed in UInt64(0)..<12 {
      let weights = weights(kind, count: count, seed: seed * 31 + UInt64(count))
      let channel = try PackedTensor(weights, format: .u2c, rowCount: 1, columnCount: count)
      let exact = ReferenceFit.twoBitScale(weights)
      let scale = exact > 0 ? max(Float(exact), .leastNonzeroMagnitude) : 0
      #expect(channel.referenceScale(row: 0, column: 0) == scale, "seed \(seed)")
      let grouped = try PackedTensor(weights, format: .u2g64, rowCount: 1, columnCount: count)
      for begin in stride(from: 0, to: count, by: 64) {
        let group = Array(weights[begin..<min(begin + 64, count)])
        let half = Float(Float16(Float(ReferenceFit.twoBitScale(group))))
        #expect(grouped.referenceScale(row: 0, column: begin) == half, "seed \(seed)")
        for (index, weight) in group.enumerated() {
          let column = begin + index
          let code = grouped.referenceCode(row: 0, column: column)
          #expect(code == ReferenceFit.twoBitCode(weight, scale: half), "column \(column)")
          let plain = channel.referenceCode(row: 0, column: column)
          #expect(plain == ReferenceFit.twoBitCode(weight, scale: scale), "column \(column)")
        }
      }
    }
  }

  /// With absmax nothing is clipped: the largest magnitude gets the outermost level.
  @Test(arguments: [WeightFormat.s8c, .s8g32, .u4c, .u4g32, .u2c, .u2g64, .u2t])
  func absoluteMaximumClipsNothing(format: WeightFormat) throws {
    for (index, kind) in kinds.enumerated() where kind != "tiny" {
      let weights = weights(kind, count: 3 * 150, seed: UInt64(index) + 70)
      let tensor = try PackedTensor(
        weights, format: format, rowCount: 3, columnCount: 150,
        options: QuantizationOptions(scaleFit: .absoluteMaximum))
      let outermost: Float? =
        switch format {
        case .s8c, .s8g32: 127
        case .u4c: 7.5
        case .u2c, .u2g64, .u2t: 1.5
        default: nil
        }
      let values = tensor.dequantized()
      for (place, weight) in weights.enumerated() {
        let (row, column) = (place / 150, place % 150)
        let scale = tensor.referenceScale(row: row, column: column)
        // Half a step, and what binary16 moves the outermost level.
        let limit = scale * (0.5 + 127 * 0x1p-11)
        #expect((values[place] - weight).magnitude <= limit, "\(kind) \(place)")
        guard let outermost, format.groupSize == nil else { continue }
        let part = format == .u2t ? weights : Array(weights[row * 150..<(row + 1) * 150])
        let largest = part.map { $0.magnitude }.max() ?? 0
        #expect(scale == largest / outermost)
      }
    }
  }

  @Test(arguments: [WeightFormat.u4c, .s8c, .s8g32], ["normal", "uniform", "heavy", "lattice"])
  func meanSquareScalesAreNearTheBest(format: WeightFormat, kind: String) throws {
    let count = format == .s8g32 ? 32 : 300
    let offset = format == .u4c ? 0.5 : 0
    let top: Double = format == .u4c ? 7 : 127
    var found = 0.0
    var best = 0.0
    var covering = 0.0
    for seed in UInt64(0)..<40 {
      let weights = weights(kind, count: count, seed: seed + 900)
      func error(_ fit: QuantizationOptions.ScaleFit) throws -> Double {
        let tensor = try PackedTensor(
          weights, format: format, rowCount: 1, columnCount: count,
          options: QuantizationOptions(scaleFit: fit))
        return squaredError(weights, tensor.dequantized())
      }
      found += try error(.meanSquare)
      covering += try error(.absoluteMaximum)
      best += ReferenceFit.bestError(weights, offset: offset, top: top)
    }
    // The error of bytes has as many local minima as they have codes, of which the sweep finds the
    // luckiest.
    let limit = format == .u4c ? 1.01 : format == .s8c ? 1.05 : 1.15
    #expect(found <= best * limit + 1e-5, "\(found / best)")
    #expect(found <= covering * 1.000001, "\(found / covering)")
  }

  /// Importances that span four orders of magnitude.
  private func importance(_ count: Int, seed: UInt64) -> [Float] {
    gaussian(count, seed: seed).map { 0.001 + $0 * $0 * $0 * $0 }
  }

  @Test(arguments: [WeightFormat.s8c, .s8g32, .u4c, .u4g32, .u2c, .u2g64, .u2t])
  func importanceLowersTheWeightedError(format: WeightFormat) throws {
    let count = 320
    let importance = importance(count, seed: 5)
    var weighted = 0.0
    var plain = 0.0
    for seed in UInt64(0)..<20 {
      let weights = gaussian(4 * count, seed: seed + 300)
      func error(_ importance: [Float]?, _ weight: [Float]) throws -> Double {
        let tensor = try PackedTensor(
          weights, format: format, rowCount: 4, columnCount: count,
          options: QuantizationOptions(scaleFit: .meanSquare, importance: importance))
        try tensor.validate()
        return zip(weights, tensor.dequantized()).enumerated().reduce(0) { sum, item in
          let difference = Double(item.element.0) - Double(item.element.1)
          return sum + Double(weight[item.offset % count]) * difference * difference
        }
      }
      weighted += try error(importance, importance)
      plain += try error(nil, importance)
    }
    #expect(weighted < plain * 0.999, "\(weighted / plain)")
  }

  /// Equal importances change nothing.
  @Test(arguments: [WeightFormat.s8c, .s8g32, .u4c, .u4g32, .u2c, .u2g64, .u2t])
  func equalImportanceIsNone(format: WeightFormat) throws {
    let weights = gaussian(3 * 205, seed: 17)
    let plain = try PackedTensor(weights, format: format, rowCount: 3, columnCount: 205)
    let equal = try PackedTensor(
      weights, format: format, rowCount: 3, columnCount: 205,
      options: QuantizationOptions(importance: [Float](repeating: 0.3, count: 205)))
    #expect(plain.codes == equal.codes)
    #expect(plain.scales == equal.scales)
    #expect(plain.minimums == equal.minimums)
  }

  @Test(arguments: [1, 2, 5, 64, 200])
  func weightedTwoBitScalesAreTheBestOfAll(count: Int) throws {
    for seed in UInt64(0)..<20 {
      let weights = gaussian(count, seed: seed + 4000)
      let importance = importance(count, seed: seed + 5000)
      let tensor = try PackedTensor(
        weights, format: .u2c, rowCount: 1, columnCount: count,
        options: QuantizationOptions(importance: importance))
      let scale = Double(tensor.referenceScale(row: 0, column: 0))
      let found = ReferenceFit.error(
        weights, importance: importance, scale: scale, offset: 0.5, top: 1)
      let best = ReferenceFit.bestError(weights, importance: importance, offset: 0.5, top: 1)
      #expect(found <= best * 1.00001 + 1e-9, "seed \(seed)")
    }
  }

  /// A tensor of the format's own values keeps its codes, whatever the fit.
  @Test(arguments: [WeightFormat.u2c, .u2g64, .u2t, .u4c], QuantizationOptions.ScaleFit.allCases)
  func keepsItsOwnValues(format: WeightFormat, fit: QuantizationOptions.ScaleFit) throws {
    let options = QuantizationOptions(scaleFit: fit)
    let first = try PackedTensor(
      gaussian(4 * 192, seed: 61), format: format, rowCount: 4, columnCount: 192,
      options: options)
    let again = try PackedTensor(
      first.dequantized(), format: format, rowCount: 4, columnCount: 192, options: options)
    #expect(again.codes == first.codes)
    if format != .u4c { #expect(again.scales == first.scales) }
  }
}
