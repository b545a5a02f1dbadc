/// The at most 32 columns of u4g32 that share a scale and a minimum:
/// value = minimum + code · scale.
enum AffineGroup {
  /// A scale and a minimum, both exactly representable in binary16.
  struct Fit {
    var scale: Float
    var minimum: Float
    var squaredError: Float
  }

  /// The group as four vectors, which is what the compiler keeps in registers; a short group is
  /// filled up with its first weight, at importance 0.
  private struct Lanes {
    var x: (Lane, Lane, Lane, Lane)
    var importance: (Lane, Lane, Lane, Lane)
    /// The sum of the importances.
    var count: Float
  }

  private typealias Lane = SIMD8<Float>

  /// How much of the range a candidate gives up at an end, in steps of 1/15 of the range; the
  /// negative one widens it. Weights beyond the range are stored at its end, which pays where few
  /// lie there. Relative RMS on Gaussian groups: 0.0694 with these six, 0.0699 with {0, 0.3, 0.6,
  /// 1}, 0.0735 with {0} and the two refinements alone.
  static let shrinks: [Float] = [-0.3, 0, 0.3, 0.6, 1, 1.4]

  /// Scale and minimum of nearly least mean-square error.
  ///
  /// The first candidate covers the group: minimum = min rounded down to binary16, scale =
  /// (max − minimum)/15 rounded to binary16. A group that came from such a lattice (GGUF's Q4_1)
  /// is reproduced exactly, and the search ends. Otherwise each pair of `shrinks` narrows the range
  /// at its two ends, and the best candidate is refined by two rounds of least squares for its own
  /// codes. Scale and minimum are rounded to binary16 before a candidate's codes and error are
  /// computed.
  ///
  /// - Parameters:
  ///   - importance: the weight of each squared error, positive; nil counts all alike.
  ///   - scaleFit: `absoluteMaximum` takes the first candidate.
  /// - Throws: where the minimum or the scale that covers the group overflows binary16.
  static func fit(
    _ x: UnsafeBufferPointer<Float>, importance: UnsafeBufferPointer<Float>? = nil,
    as scaleFit: QuantizationOptions.ScaleFit? = nil
  ) throws(PackedFormatError) -> Fit {
    let lanes = unsafe load(x, importance)
    let (low, high) = unsafe bounds(x)
    guard low >= -65504 else { throw PackedFormatError(.outOfRange) }
    // Adding zero turns -0 into +0.
    let covering = HalfPrecision.roundedDown(low) + 0
    let span = (high - covering) / 15
    guard span < 65520 else { throw PackedFormatError(.outOfRange) }

    var best = evaluate(lanes, scale: HalfPrecision.rounded(span), minimum: covering)
    guard best.squaredError > 0, scaleFit != .absoluteMaximum else { return best }
    // The smallest scale, where the right one rounds to zero.
    if best.scale == 0 { consider(lanes, scale: 0x1p-24, minimum: covering, best: &best) }
    let step = (high - low) / 15
    for atLow in shrinks {
      for atHigh in shrinks {
        let scale = step * (15 - atLow - atHigh) / 15
        consider(lanes, scale: scale, minimum: low + atLow * step, best: &best)
      }
    }
    for _ in 0..<2 {
      guard let refined = leastSquares(lanes, best) else { break }
      let before = best.squaredError
      consider(lanes, scale: refined.scale, minimum: refined.minimum, best: &best)
      if !(best.squaredError < before) { break }
    }
    return best
  }

  /// Keeps the candidate where it is better and representable.
  @inline(__always)
  private static func consider(_ lanes: Lanes, scale: Float, minimum: Float, best: inout Fit) {
    let scale = HalfPrecision.rounded(scale)
    let minimum = HalfPrecision.rounded(minimum) + 0
    guard scale >= 0, scale < .infinity, minimum.isFinite else { return }
    let candidate = evaluate(lanes, scale: scale, minimum: minimum)
    if candidate.squaredError < best.squaredError { best = candidate }
  }

  /// The codes as numbers: (x − minimum)/scale, clamped, rounded to nearest even; scale > 0.
  @inline(__always)
  private static func codes(_ x: Lane, scale: Lane, minimum: Lane) -> Lane {
    let ratio = (x - minimum) / scale
    let zero = Lane(repeating: 0)
    let top = Lane(repeating: 15)
    let clamped = ratio.replacing(with: zero, where: ratio .< zero)
      .replacing(with: top, where: ratio .> top)
    let magic = Lane(repeating: SignedByteRow.roundingMagic)
    return (clamped + magic) - magic
  }

  /// The codes of all lanes; all zero where the scale is.
  @inline(__always)
  private static func codes(
    _ lanes: Lanes, scale: Float, minimum: Float
  ) -> (Lane, Lane, Lane, Lane) {
    guard scale > 0 else { return (.zero, .zero, .zero, .zero) }
    let scale = Lane(repeating: scale)
    let minimum = Lane(repeating: minimum)
    return (
      codes(lanes.x.0, scale: scale, minimum: minimum),
      codes(lanes.x.1, scale: scale, minimum: minimum),
      codes(lanes.x.2, scale: scale, minimum: minimum),
      codes(lanes.x.3, scale: scale, minimum: minimum)
    )
  }

  @inline(__always)
  private static func evaluate(_ lanes: Lanes, scale: Float, minimum: Float) -> Fit {
    let codes = codes(lanes, scale: scale, minimum: minimum)
    @inline(__always) func error(_ codes: Lane, _ x: Lane, _ importance: Lane) -> Lane {
      let difference = Lane(repeating: minimum) + codes * Lane(repeating: scale) - x
      return difference * difference * importance
    }
    let errors =
      (error(codes.0, lanes.x.0, lanes.importance.0)
        + error(codes.1, lanes.x.1, lanes.importance.1))
      + (error(codes.2, lanes.x.2, lanes.importance.2)
        + error(codes.3, lanes.x.3, lanes.importance.3))
    return Fit(scale: scale, minimum: minimum, squaredError: errors.total)
  }

  /// The line through (code, weight) of least squared error; nil where all codes are equal.
  private static func leastSquares(
    _ lanes: Lanes, _ fit: Fit
  ) -> (scale: Float, minimum: Float)? {
    let codes = codes(lanes, scale: fit.scale, minimum: fit.minimum)
    let codeMean = dot(codes, lanes.importance) / lanes.count
    let mean = dot(lanes.x, lanes.importance) / lanes.count
    let centred = map(codes, codes) { code, _ in code - Lane(repeating: codeMean) }
    let weighted = map(centred, lanes.importance) { $0 * $1 }
    let variance = dot(weighted, centred)
    guard variance > 0 else { return nil }
    let deviation = map(lanes.x, lanes.x) { x, _ in x - Lane(repeating: mean) }
    let scale = dot(weighted, deviation) / variance
    return (scale, mean - scale * codeMean)
  }

  @inline(__always)
  private static func map(
    _ a: (Lane, Lane, Lane, Lane), _ b: (Lane, Lane, Lane, Lane), _ body: (Lane, Lane) -> Lane
  ) -> (Lane, Lane, Lane, Lane) {
    (body(a.0, b.0), body(a.1, b.1), body(a.2, b.2), body(a.3, b.3))
  }

  @inline(__always)
  private static func dot(
    _ a: (Lane, Lane, Lane, Lane), _ b: (Lane, Lane, Lane, Lane)
  ) -> Float {
    ((a.0 * b.0 + a.1 * b.1) + (a.2 * b.2 + a.3 * b.3)).total
  }

  private static func bounds(_ x: UnsafeBufferPointer<Float>) -> (low: Float, high: Float) {
    var low = unsafe x[0]
    var high = low
    for index in x.indices {
      let value = unsafe x[index]
      low = value < low ? value : low
      high = value > high ? value : high
    }
    return (low, high)
  }

  /// `x` has 1 to 32 weights, and as many importances.
  @inline(__always)
  private static func load(
    _ x: UnsafeBufferPointer<Float>, _ importance: UnsafeBufferPointer<Float>? = nil
  ) -> Lanes {
    guard let importance = unsafe importance else {
      let one = Lane(repeating: 1)
      return x.count == 32
        ? unsafe Lanes(x: whole(x), importance: (one, one, one, one), count: 32)
        : unsafe Lanes(
          x: part(x, filler: x[0]), importance: part(x, filler: 0) { _ in 1 },
          count: Float(x.count))
    }
    let weights = unsafe x.count == 32 ? whole(importance) : part(importance, filler: 0)
    return unsafe Lanes(
      x: x.count == 32 ? whole(x) : part(x, filler: x[0]), importance: weights,
      count: ((weights.0 + weights.1) + (weights.2 + weights.3)).total)
  }

  /// The 32 floats of a whole group.
  @inline(__always)
  private static func whole(_ x: UnsafeBufferPointer<Float>) -> (Lane, Lane, Lane, Lane) {
    // 32 floats lie behind the address; a vector needs no more alignment than asked for here.
    let base = UnsafeRawBufferPointer(x)
    return unsafe (
      base.loadUnaligned(fromByteOffset: 0, as: Lane.self),
      base.loadUnaligned(fromByteOffset: 32, as: Lane.self),
      base.loadUnaligned(fromByteOffset: 64, as: Lane.self),
      base.loadUnaligned(fromByteOffset: 96, as: Lane.self)
    )
  }

  /// Fewer floats and a filler.
  private static func part(
    _ x: UnsafeBufferPointer<Float>, filler: Float, map: (Float) -> Float = { $0 }
  ) -> (Lane, Lane, Lane, Lane) {
    func lane(_ start: Int) -> Lane {
      var lane = Lane(repeating: filler)
      for index in 0..<8 where start + index < x.count {
        lane[index] = unsafe map(x[start + index])
      }
      return lane
    }
    return (lane(0), lane(8), lane(16), lane(24))
  }

  /// Writes the codes, two a byte, the even column in the low four bits. `codes` holds half a byte
  /// for each of `x`, rounded up.
  static func encode(
    _ x: UnsafeBufferPointer<Float>, fit: Fit, codes output: UnsafeMutableRawBufferPointer
  ) {
    let lanes = unsafe load(x)
    let codes = codes(lanes, scale: fit.scale, minimum: fit.minimum)
    @inline(__always) func store(_ codes: Lane, at start: Int) {
      for lane in 0..<4 where start + lane < output.count {
        let column = (start + lane) * 2
        let low = UInt8(codes[lane * 2])
        let high = column + 1 < x.count ? UInt8(codes[lane * 2 + 1]) : 0
        unsafe output[start + lane] = low | high << 4
      }
    }
    store(codes.0, at: 0)
    store(codes.1, at: 4)
    store(codes.2, at: 8)
    store(codes.3, at: 12)
  }
}
