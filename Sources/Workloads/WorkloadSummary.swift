/// What is usually published of a request trace.
package struct WorkloadSummary: Hashable, Sendable {
  package var requestCount: Int
  /// From the first to the last arrival.
  package var seconds: Double
  /// Values below which the shares of `shares` lie.
  package var inputCounts: [Double]
  package var outputCounts: [Double]
  /// Microseconds between arrivals.
  package var arrivalGaps: [Double]
  /// The shares, in percent, that the arrays above are for.
  package static let percentages: [Double] = [10, 25, 50, 75, 90, 95, 99]

  package init(_ workload: Workload) {
    let requests = workload.requests
    let arrivals = requests.map { Double($0.arrivalNanoseconds) / 1_000 }
    requestCount = requests.count
    seconds = ((arrivals.last ?? 0) - (arrivals.first ?? 0)) / 1e6
    inputCounts = Self.percentiles(requests.map { Double($0.inputCount) })
    outputCounts = Self.percentiles(requests.map { Double($0.outputCount) })
    arrivalGaps = Self.percentiles(zip(arrivals.dropFirst(), arrivals).map { $0 - $1 })
  }

  /// Linear between order statistics.
  package static func percentiles(_ values: [Double]) -> [Double] {
    guard !values.isEmpty else { return [] }
    let ordered = values.sorted()
    return percentages.map { percent in
      let place = percent / 100 * Double(ordered.count - 1)
      let low = Int(place)
      let high = min(low + 1, ordered.count - 1)
      return ordered[low] + (ordered[high] - ordered[low]) * (place - Double(low))
    }
  }
}
