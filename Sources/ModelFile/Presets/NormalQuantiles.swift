/// The normal distribution's quantiles as a table of straight lines, computed with additions,
/// products, quotients and square roots only: IEEE 754 fixes their results, so that the table has the
/// same bits on every machine.
///
/// Half of the distribution is cut at 2⁻³², 2⁻³¹, … ½, and each octave into 32 equal parts. A part's
/// line goes through the quantiles of its two ends. 1,024 lines, 8 KiB; the largest quantile is 6.2,
/// and a line misses the curve by at most 4e-5.
struct NormalQuantiles: Sendable {
  /// A part's line: quantile = start + slope · r, for a tail probability r / 2³².
  struct Line: Sendable {
    var start: Float
    var slope: Float
  }

  /// The lines of r = 1 ..< 2³¹, by exponent and five bits of fraction of r as a binary32.
  let lines: [Line]

  /// The table; takes about a millisecond to make.
  static let shared = NormalQuantiles()

  private init() {
    var lines: [Line] = []
    lines.reserveCapacity(1024)
    var x = 0.0
    // From the middle outwards, so that each search begins at its neighbour's result.
    var ends: [Double] = []
    for octave in (0..<32).reversed() {
      for part in (0..<32).reversed() {
        let r = Double(1 << octave) * (1 + Double(part) / 32)
        if octave == 31 {
          if part == 0 { ends.append(0) }
          continue
        }
        x = Self.quantile(tail: r / 4_294_967_296, near: x)
        ends.append(x)
      }
    }
    // ends[k] is the quantile at the k-th boundary counted down from r = 2³¹.
    ends.reverse()
    for index in 0..<ends.count - 1 {
      let octave = index / 32
      let low = Double(1 << octave) * (1 + Double(index % 32) / 32)
      let width = Double(1 << octave) / 32
      let slope = (ends[index + 1] - ends[index]) / width
      lines.append(Line(start: Float(ends[index] - slope * low), slope: Float(slope)))
    }
    // Rounding to binary32 takes the largest r to 2³¹ itself: the middle, zero.
    lines += Array(repeating: Line(start: 0, slope: 0), count: 1024 - lines.count)
    self.lines = lines
  }

  /// x ≥ 0 for which a normal value exceeds x with that probability, by Newton's method.
  private static func quantile(tail: Double, near start: Double) -> Double {
    var x = start
    for _ in 0..<64 {
      // Far from the root the tail is convex: a step never jumps beyond it by more than its size.
      let step = (upperTail(x) - tail) / density(x)
      x = x + step
      if step.magnitude < 1e-13 { break }
    }
    return x
  }

  /// exp(−x²/2) / √(2π).
  private static func density(_ x: Double) -> Double {
    // exp(−h) = (exp(−h/1024))^1024, the inner one by its series.
    let h = x * x / 2048
    var term = 1.0
    var sum = 1.0
    for k in 1...12 {
      term = term * -h / Double(k)
      sum += term
    }
    for _ in 0..<10 { sum = sum * sum }
    return sum * 0.398_942_280_401_432_7
  }

  /// The probability of a normal value above x ≥ 0: ½ − φ(x)·(x + x³/3 + x⁵/15 + …) below 2.5,
  /// beyond it the continued fraction φ(x) / (x + 1/(x + 2/(x + 3/(x + …)))).
  private static func upperTail(_ x: Double) -> Double {
    if x < 2.5 {
      var term = x
      var sum = x
      var k = 3.0
      while term > 1e-18 {
        term = term * x * x / k
        sum += term
        k += 2
      }
      return 0.5 - density(x) * sum
    }
    var fraction = x
    for k in (1...80).reversed() { fraction = x + Double(k) / fraction }
    return density(x) / fraction
  }
}
