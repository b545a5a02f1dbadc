#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What is asked of a row of logits.
package enum LogitStatistics {
  /// The largest logits, largest first, the lower id first among equals.
  package static func largest(
    _ count: Int, of logits: Span<Float>
  ) -> [(token: Int32, logit: Float)] {
    var best: [(token: Int32, logit: Float)] = []
    best.reserveCapacity(count + 1)
    for index in logits.indices {
      let logit = logits[index]
      if best.count == count, let last = best.last, logit <= last.logit { continue }
      let place = best.firstIndex { $0.logit < logit } ?? best.count
      best.insert((Int32(index), logit), at: place)
      if best.count > count { best.removeLast() }
    }
    return best
  }

  /// log Σ exp(logit), in double precision.
  package static func logSumExp(_ logits: Span<Float>) -> Double {
    var largest = -Double.infinity
    for index in logits.indices { largest = max(largest, Double(logits[index])) }
    guard largest.isFinite else { return .nan }
    var sum = 0.0
    for index in logits.indices { sum += exp(Double(logits[index]) - largest) }
    return largest + log(sum)
  }
}
