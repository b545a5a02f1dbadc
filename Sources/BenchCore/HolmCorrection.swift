/// Holm's correction for several tests: the chance of any false finding stays below the level at which
/// the corrected probabilities are read.
package enum HolmCorrection {
  /// The corrected probabilities, in the order of the given ones (Holm 1979). O(n log n).
  package static func adjust(_ probabilities: [Double]) -> [Double] {
    let order = probabilities.indices.sorted { probabilities[$0] < probabilities[$1] }
    var adjusted = probabilities
    var largest = 0.0
    for (rank, index) in order.enumerated() {
      let scaled = probabilities[index] * Double(probabilities.count - rank)
      largest = max(largest, min(1, scaled))
      adjusted[index] = largest
    }
    return adjusted
  }
}
