/// What the scale of a per-tensor format needs to know of all of a tensor's weights, gathered before
/// its rows are quantized, a few rows at a time and on several threads.
///
/// ```swift
/// var survey = TensorSurvey(options: options)
/// try survey.add(rows.span, columnCount: columnCount)
/// survey.merge(surveyOfOtherRows)
/// options.tensorScale = try survey.tensorScale(for: .u2t)
/// ```
///
/// A histogram of the magnitudes: an interval for each binary32 exponent and 7 bits of the
/// fraction, so that its ends are less than 0.8 % apart, with the count and the sum of what lies
/// there. Without importance both are exact, so that the order of adding and merging makes no
/// difference; with it they are binary64 sums, and the same order gives the same bits.
///
/// Memory: 512 KiB. About 300 million weights/s on one core of an EPYC 7003.
public struct TensorSurvey: Sendable {
  private let options: QuantizationOptions
  /// Σ h of the magnitudes of each interval, and Σ h · (what the magnitude's bits are above the
  /// interval's first).
  private var counts: [Double]
  private var excesses: [Double]
  /// The largest magnitude's bits.
  private var largestBits: UInt32 = 0

  /// Bits of a binary32 below those that number its interval.
  private static let excessBitCount: UInt32 = 16

  /// A survey of no rows yet; of the options, `scaleFit` and `importance` matter.
  public init(options: QuantizationOptions = QuantizationOptions()) {
    self.options = options
    let count = 1 << (31 - Int(Self.excessBitCount))
    counts = [Double](repeating: 0, count: count)
    excesses = [Double](repeating: 0, count: count)
  }

  /// The largest magnitude so far.
  public var largestMagnitude: Float { Float(bitPattern: largestBits) }

  /// Adds some rows.
  ///
  /// - Parameters:
  ///   - weights: whole rows, row-major.
  ///   - firstRow: the tensor row that the first of these rows is, for errors.
  /// - Throws: where a weight is NaN, infinite or too large for the formats that need a survey,
  ///   with row and column.
  public mutating func add(
    _ weights: Span<Float>, columnCount: Int, firstRow: Int = 0
  ) throws(PackedFormatError) {
    guard !weights.isEmpty else { return }
    precondition(
      columnCount > 0 && weights.count % columnCount == 0, "weights do not fill the rows")
    let importance = options.relativeImportance(columnCount: columnCount)
    for row in 0..<weights.count / columnCount {
      let part = weights.extracting(row * columnCount..<(row + 1) * columnCount)
      if let column = add(part, importance: importance) {
        throw PackedFormatError(
          part[column].isFinite ? .outOfRange : .nonFiniteWeight, row: firstRow + row,
          column: column)
      }
    }
  }

  /// Adds one row up to a weight that is not in range, whose column it returns.
  private mutating func add(_ row: Span<Float>, importance: [Float]?) -> Int? {
    for column in row.indices {
      let bits = row[column].magnitude.bitPattern
      guard bits <= WeightFormat.u2t.largestWeight.bitPattern else { return column }
      largestBits = max(largestBits, bits)
      let interval = Int(bits >> Self.excessBitCount)
      let excess = Double(Int32(bitPattern: bits & (1 << Self.excessBitCount - 1)))
      let weight = importance.map { Double($0[column]) } ?? 1
      counts[interval] += weight
      excesses[interval] += weight * excess
    }
    return nil
  }

  /// Adds what another survey, with the same options, has seen of the same tensor.
  public mutating func merge(_ other: TensorSurvey) {
    largestBits = max(largestBits, other.largestBits)
    for index in counts.indices {
      counts[index] += other.counts[index]
      excesses[index] += other.excesses[index]
    }
  }

  /// The scale for `QuantizationOptions.tensorScale`, once all rows have been added.
  ///
  /// - u2t: by `scaleFit` max|w| / 1.5, or (the default) the scale of least mean-square error. That
  ///   is found as for u2c, with the thresholds between intervals: its squared error is less than
  ///   0.01 % above that of the best scale of all.
  /// - astc6x6-hdr: the power of two that is 10 to 20 root mean squares (weighted by importance,
  /// where given), or 2^-13 of max|w| (rounded down to a
  /// power of two) where that is more; not below 2^-126, and 1 for a
  /// tensor of zeros. Nearly all weights of a bell-shaped tensor lie between -0.5 and 0.5 of it,
  /// where all modes of the encoder are of use; outliers up to 16384 of it are within the reach of
  /// its HDR mode.
  ///
  /// - Throws: where 1.5 times the scale overflows.
  /// - Precondition: the format has one scale in all.
  public func tensorScale(for format: WeightFormat) throws(PackedFormatError) -> Float {
    precondition(format.axis(of: .scales) == .tensor, "\(format.name) has no per-tensor scale")
    guard format == .u2t else { return blockScale() }
    let exact =
      options.scaleFit == .absoluteMaximum
      ? Double(largestMagnitude) / 1.5 : meanSquareScale()
    return try TwoBitGroup.stored(exact, half: false)
  }

  /// The scale for astc6x6-hdr.
  private func blockScale() -> Float {
    guard largestBits > 0 else { return 1 }
    var squares = 0.0
    var count = 0.0
    for index in counts.indices where counts[index] > 0 {
      // The magnitudes of an interval as if all were their mean: less than 0.002 % too little.
      let sum = sum(index)
      squares += sum / counts[index] * sum
      count += counts[index]
    }
    let deviation = (squares / count).squareRoot()
    // A weight of no importance at all has no part in the deviation, but must fit.
    let wanted = min(Float(20 * deviation), 0x1p127)
    return max(wanted > 0 ? wanted.binade : 0, largestMagnitude.binade * 0x1p-13, 0x1p-126)
  }

  /// See `TwoBitGroup.scale`: the largest N²/D over the thresholds.
  private func meanSquareScale() -> Double {
    var high = 0.0
    var denominator = 0.0
    for index in counts.indices where counts[index] > 0 {
      high += sum(index)
      denominator += counts[index]
    }
    guard high > 0 else { return 0 }
    denominator *= 2.25
    var low = 0.0
    var best = 0.0
    var bestFit = (numerator: 0.0, denominator: 1.0)
    for index in counts.indices where counts[index] > 0 {
      let numerator = 0.5 * low + 1.5 * high
      if numerator * numerator > best * denominator {
        best = numerator * numerator / denominator
        bestFit = (numerator, denominator)
      }
      low += sum(index)
      high = max(0, high - sum(index))
      denominator -= 2 * counts[index]
    }
    return bestFit.numerator / bestFit.denominator
  }

  /// Σ h·|w| of an interval.
  private func sum(_ index: Int) -> Double {
    let first = Float(bitPattern: UInt32(index) << Self.excessBitCount)
    let unit = Double(first.ulp)
    return Double(first) * counts[index] + unit * excesses[index]
  }
}
