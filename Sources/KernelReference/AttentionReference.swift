/// The scalar twins of the contracts of attention and of the cache's elements: slow, obvious,
/// allocating.
package enum AttentionReference {
  /// A row of an online softmax.
  package struct SoftmaxRow {
    package var maximum: Double
    package var sum: Double

    package init() { (maximum, sum) = (-.infinity, 0) }

    /// `BlockSoftmaxFunction` for one row, with exact exponentials.
    package mutating func add(
      _ scores: [Float], seeing columns: Range<Int>
    ) -> (weights: [Double], decay: Double) {
      let seen = scores[columns].map(Double.init)
      let old = maximum
      maximum = seen.filter { !$0.isNaN }.reduce(old, max)
      let decay = maximum == -.infinity ? 1 : FloatReference.exponential(old - maximum)
      var weights = [Double](repeating: 0, count: scores.count)
      for column in columns where scores[column] != -.infinity || maximum == .infinity {
        weights[column] = FloatReference.exponential(Double(scores[column]) - maximum)
      }
      sum = sum * decay + weights[columns].reduce(0, +)
      return (weights, decay)
    }
  }

  /// `RowCodesFunction` for one row.
  package static func rowCodes(
    _ values: [Float], columnScales: [Float]?, factor: Float
  ) -> (codes: [Int16], scale: Float) {
    let scaled = columnScales.map { zip(values, $0).map { $0 * $1 } } ?? values
    let (codes, scale) = FloatReference.toS16(scaled)
    return (codes, scale * factor)
  }

  /// `NibbleFunction` with rows.
  package static func nibbleRows(_ packed: [UInt8], byteCount: Int) -> [UInt8] {
    stride(from: 0, to: packed.count, by: 2 * byteCount).flatMap { begin in
      let first = nibblePairs(Array(packed[begin..<begin + byteCount]))
      let rest = packed[(begin + byteCount)...].prefix(byteCount)
      let second = rest.isEmpty ? first : nibblePairs(Array(rest))
      return zip(first, second).flatMap { [$0, $1] }
    }
  }

  /// `NibbleFunction` with pairs.
  package static func nibblePairs(_ packed: [UInt8]) -> [UInt8] {
    packed.flatMap { [$0 % 16, $0 / 16] }
  }

  /// `CacheVectorFunction` to s8.
  package static func cacheS8(_ values: [Float], scale: Float) -> [Int8] {
    values.map { value in
      let quotient = (value / scale).rounded(.toNearestOrEven)
      return quotient.isNaN ? 0 : Int8(max(-127, min(127, quotient)))
    }
  }

  /// `CacheVectorFunction` to u4g32.
  package static func cacheU4(
    _ values: [Float]
  ) -> (bytes: [UInt8], scales: [Float16], minimums: [Float16]) {
    let limit = Float(Float16.greatestFiniteMagnitude)
    let values = values.map { $0.isNaN ? 0 : max(-limit, min(limit, $0)) }
    var codes: [UInt8] = []
    var (scales, minimums): ([Float16], [Float16]) = ([], [])
    for begin in stride(from: 0, to: values.count, by: 32) {
      let group = values[begin..<min(begin + 32, values.count)]
      let (smallest, largest) = group.reduce((Float.infinity, -Float.infinity)) {
        (min($0.0, $1), max($0.1, $1))
      }
      var minimum = Float16(smallest)
      if Float(minimum) > smallest { minimum = minimum.nextDown }
      let scale = Float16((largest - Float(minimum)) / 15)
      codes += group.map { value in
        let quotient = ((value - Float(minimum)) / Float(scale)).rounded(.toNearestOrEven)
        return quotient.isNaN ? 0 : UInt8(max(0, min(15, quotient)))
      }
      scales.append(scale)
      minimums.append(minimum)
    }
    let bytes = stride(from: 0, to: codes.count, by: 2).map { codes[$0] | codes[$0 + 1] << 4 }
    return (bytes, scales, minimums)
  }
}
