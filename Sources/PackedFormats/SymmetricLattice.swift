/// Levels that mirror each other around zero and are scaled by one number: what a search for the
/// scale of least squared error needs to know.
protocol SymmetricLattice {
  typealias Lane = SIMD8<Float>

  /// The largest level; the others follow in steps of 1 down to 0 or 0.5.
  static var outermost: Float { get }
  /// From one tried scale that clips to the next.
  static var step: Float { get }
  /// The smallest scale that the search tries, over the root mean square of the weights: below that
  /// of a uniform distribution, whose scale is the smallest of the usual ones.
  static var leastScale: Float { get }
  /// The levels nearest to some ratios of magnitude and scale.
  static func level(_ ratio: Lane) -> Lane
}

/// Searches for the scale of least squared error of one row or group, with memory that is kept from
/// one to the next.
///
/// First the scales that give the largest magnitude one of the outer half of the levels, among which
/// is that of weights that are a lattice already; then smaller ones, which clip, until the error
/// has grown to four times the least. The best is refined by rounds of least squares for its own
/// levels: s ← s + Σ h·l·(|x| − l·s) / Σ h·l².
struct ScaleSearch<Lattice: SymmetricLattice> {
  private typealias Lane = SIMD8<Float>

  /// Magnitudes over a power of two that brings the largest into [1, 2), and importances; whole
  /// vectors, filled up at importance 0.
  private var magnitudes: [Lane] = []
  private var importance: [Lane] = []

  /// No search tries more scales that clip.
  private static var candidateLimit: Int { 128 }
  private static var refinementLimit: Int { 6 }

  /// The scale of about least squared error, no better than the absolute maximum's where the
  /// magnitudes are outside 2^-100 … 2^100.
  ///
  /// - Parameters:
  ///   - covering: the scale of the absolute maximum, positive; what the search begins with.
  ///   - half: candidates are rounded to binary16 before their error is computed.
  mutating func scale(
    for x: UnsafeBufferPointer<Float>, importance: UnsafeBufferPointer<Float>?, largest: Float,
    covering: Float, half: Bool
  ) -> Float {
    guard covering > 0, largest >= 0x1p-100, largest < 0x1p100 else { return covering }
    let unit = largest.binade
    let power = unsafe load(x, importance, over: unit)
    /// What a scale over the unit becomes when it is stored.
    func stored(_ scale: Float) -> Float {
      half ? HalfPrecision.rounded(scale * unit) / unit : scale
    }
    var best = measure(stored(covering / unit))
    guard best.error > 0 else { return covering }
    // Which candidate would be best after one round of least squares.
    var promising = best
    /// Whether there is reason to go on in this direction.
    func consider(_ scale: Float) -> Bool {
      let candidate = stored(scale)
      guard candidate > 0, candidate < .infinity else { return false }
      let found = measure(candidate)
      if found.refinedError < promising.refinedError { promising = found }
      if found.error < best.error { best = found }
      return found.error <= 4 * best.error
    }
    var level = Lattice.outermost - 1
    while level > Lattice.outermost / 2, best.error > 0 {
      _ = consider(largest / unit / level)
      level -= 1
    }
    let least = Lattice.leastScale * power.squareRoot()
    var scale = covering / unit * Lattice.step
    for _ in 0..<Self.candidateLimit where scale > least && best.error > 0 {
      guard consider(scale) else { break }
      scale *= Lattice.step
    }
    for _ in 0..<Self.refinementLimit {
      let candidate = stored(promising.refined)
      guard candidate > 0, candidate < .infinity else { break }
      let found = measure(candidate)
      let isBetter = found.error < promising.error
      if found.error < best.error { best = found }
      guard isBetter else { break }
      promising = found
    }
    return best.scale * unit
  }

  /// The squared error at a scale, and what least squares make of its levels.
  private struct Measurement {
    var scale: Float
    var error: Float
    /// Σ h·l·(|x| − l·s).
    var gradient: Float
    /// Σ h·l².
    var curvature: Float

    var refined: Float { curvature > 0 ? scale + gradient / curvature : scale }
    var refinedError: Float {
      curvature > 0 ? error - gradient * gradient / curvature : error
    }
  }

  private func measure(_ scale: Float) -> Measurement {
    let scales = Lane(repeating: scale)
    let inverse = Lane(repeating: 1 / scale)
    var error = Lane.zero
    var gradient = Lane.zero
    var curvature = Lane.zero
    for index in magnitudes.indices {
      let magnitude = magnitudes[index]
      let level = Lattice.level(magnitude * inverse)
      let difference = magnitude - level * scales
      let weighted = importance[index] * difference
      error += weighted * difference
      gradient += weighted * level
      curvature += importance[index] * level * level
    }
    return Measurement(
      scale: scale, error: error.total, gradient: gradient.total, curvature: curvature.total)
  }

  /// Fills both arrays; returns the mean square.
  private mutating func load(
    _ x: UnsafeBufferPointer<Float>, _ weights: UnsafeBufferPointer<Float>?, over unit: Float
  ) -> Float {
    let laneCount = (x.count + 7) / 8
    if magnitudes.count != laneCount {
      magnitudes = [Lane](repeating: .zero, count: laneCount)
      importance = [Lane](repeating: .zero, count: laneCount)
    }
    let factor = 1 / unit
    var squares: Float = 0
    var count: Float = 0
    for lane in 0..<laneCount {
      var magnitude = Lane.zero
      var weight = Lane.zero
      for index in 0..<min(8, x.count - lane * 8) {
        unsafe magnitude[index] = x[lane * 8 + index].magnitude * factor
        weight[index] = unsafe weights.map { unsafe $0[lane * 8 + index] } ?? 1
      }
      magnitudes[lane] = magnitude
      importance[lane] = weight
      squares += (weight * magnitude * magnitude).total
      count += weight.total
    }
    return squares / count
  }
}

extension SIMD8<Float> {
  /// The sum of the lanes, always in the same order.
  @inline(__always) var total: Float {
    let half = lowHalf + highHalf
    let quarter = half.lowHalf + half.highHalf
    return quarter[0] + quarter[1]
  }
}
