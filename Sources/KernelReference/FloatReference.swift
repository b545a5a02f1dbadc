/// The scalar twins of the float contracts, in the order of their formulas and in f64 where a
/// tolerance exists: slow, obvious, allocating.
package enum FloatReference {
  /// `NormFunction`.
  package static func rmsNorm(_ input: [Float], _ weight: [Float], epsilon: Float) -> [Double] {
    let squares = input.reduce(0.0) { $0 + Double($1) * Double($1) }
    let root = (squares / Double(input.count) + Double(epsilon)).squareRoot()
    return zip(input, weight).map { Double($0) * Double($1) / root }
  }

  /// silu(gate) · up, `ElementwiseFunction`.
  package static func swiglu(_ gate: Float, _ up: Float) -> Double {
    gate == -.infinity
      ? 0 * Double(up) : Double(gate) / (1 + exponential(-Double(gate))) * Double(up)
  }

  /// `SoftmaxFunction`.
  package static func softmax(_ values: [Float], factor: Float) -> [Double] {
    guard let maximum = values.max(), maximum > -.infinity else { return values.map { _ in 0 } }
    let e = values.map { exponential((Double($0) - Double(maximum)) * Double(factor)) }
    let sum = e.reduce(0, +)
    return e.map { $0 / sum }
  }

  /// f32 to s8 with a scale, `ConversionFunction`.
  package static func toS8(_ values: [Float]) -> (codes: [Int8], scale: Float) {
    let token = QuantizedToken(values, .perToken)
    return (token.activations, token.scales[0])
  }

  /// f32 to s16 with a scale, `ConversionFunction`.
  package static func toS16(_ values: [Float]) -> (codes: [Int16], scale: Float) {
    let zeros = [Int16](repeating: 0, count: values.count)
    if values.contains(where: { !$0.isFinite }) { return (zeros, .nan) }
    let magnitude = values.reduce(0) { max($0, $1.magnitude) }
    if magnitude < 0x1p-110 { return (zeros, 0) }
    let factor = 32767 / magnitude
    return (values.map { Int16(($0 * factor).rounded(.toNearestOrEven)) }, magnitude / 32767)
  }

  /// One element of `CodePanelFunction`, before it is added to what stands there.
  package static func codeProduct(
    _ a: [Int16], _ b: [Int8], rowScale: Float, columnScale: Float?
  ) -> Float {
    let sum = zip(a, b).reduce(0) { $0 + Int($1.0) * Int($1.1) }
    let scaled = Float(sum) * rowScale
    return columnScale.map { scaled * $0 } ?? scaled
  }

  /// `RotationFunction` for one head; pair i is at (first(i), second(i)).
  package static func rotate(
    _ head: [Float], _ cosines: [Float], _ sines: [Float], adjacent: Bool
  ) -> [Double] {
    var result = head.map(Double.init)
    for pair in cosines.indices {
      let first = adjacent ? 2 * pair : pair
      let second = adjacent ? 2 * pair + 1 : pair + cosines.count
      let (x, y) = (Double(head[first]), Double(head[second]))
      let (c, s) = (Double(cosines[pair]), Double(sines[pair]))
      result[first] = x * c - y * s
      result[second] = y * c + x * s
    }
    return result
  }

  /// `SearchFunction`.
  package static func argMax(_ values: [Float]) -> Int {
    var best = 0
    for (index, value) in values.enumerated() {
      if value.isNaN { return -1 }
      if value > values[best] { best = index }
    }
    return best
  }

  /// `TopKFunction`; nil where a value is NaN.
  package static func topK(_ values: [Float], k: Int) -> [Int32]? {
    if values.contains(where: \.isNaN) { return nil }
    let order = values.indices.sorted { (values[$0], $1) > (values[$1], $0) }
    return order.prefix(k).map { Int32($0) }
  }

  /// Σ a·b and Σ |a·b|, for products and panels.
  package static func dot(_ a: [Float], _ b: [Float]) -> (sum: Double, magnitude: Double) {
    zip(a, b).reduce((0.0, 0.0)) {
      let product = Double($1.0) * Double($1.1)
      return ($0.0 + product, $0.1 + abs(product))
    }
  }

  /// e^x by halving the argument, a Taylor series and repeated squaring; relative error < 1e-14.
  package static func exponential(_ x: Double) -> Double {
    if x.isNaN { return x }
    if x > 800 { return .infinity }
    if x < 0 { return 1 / exponential(-x) }
    let halvings = 12
    let r = x / Double(1 << halvings)
    var term = 1.0
    // e^r − 1, so that squaring does not lose its small part.
    var sum = 0.0
    for n in 1...12 {
      term *= r / Double(n)
      sum += term
    }
    for _ in 0..<halvings { sum = sum * (2 + sum) }
    return 1 + sum
  }
}
