extension QuantizationOptions {
  /// The importance of the columns over the largest of them, as the fits take it; nil where all
  /// columns count alike.
  ///
  /// None is below 2^-40, so that groups whose columns hardly matter keep sums that are normal
  /// numbers.
  func relativeImportance(columnCount: Int) -> [Float]? {
    guard let importance else { return nil }
    precondition(
      importance.count == columnCount,
      "\(importance.count) importances for \(columnCount) columns")
    var largest: Float = 0
    for value in importance {
      precondition(value > 0 && value < .infinity, "an importance is not positive and finite")
      largest = max(largest, value)
    }
    return importance.map { max($0 / largest, 0x1p-40) }
  }
}
