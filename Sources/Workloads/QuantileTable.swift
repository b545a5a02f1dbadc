/// A distribution as its values at fixed percentages.
struct QuantileTable: Hashable, Sendable {
  /// [percentage of `percentages`], ascending.
  let values: [Double]

  init(_ values: [Int]) {
    precondition(values.count == Self.percentages.count, "a value for every percentage")
    self.values = values.map(Double.init)
  }

  /// The value below which the share `share` of the distribution lies, linear between the points.
  func value(share: Double) -> Double {
    let percent = share * 100
    var index = 1
    while index < values.count - 1, Self.percentages[index] < percent { index += 1 }
    let (low, high) = (Self.percentages[index - 1], Self.percentages[index])
    let place = max(0, min(1, (percent - low) / (high - low)))
    return values[index - 1] + (values[index] - values[index - 1]) * place
  }
}
