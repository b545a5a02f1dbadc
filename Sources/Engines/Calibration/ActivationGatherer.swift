import ModelFile

/// Adds up squared activations of every input column while a session runs, each token's scaled to a
/// mean square of 1.
///
/// Used by the one thread that drives the session. Sums of a call are taken in the order of the
/// tokens, in binary64: the same activations give the same statistics.
final class ActivationGatherer: InputObserver {
  private struct Sums {
    var names: [String]
    var squares: [Double]
    var rowCount = 0
  }

  /// By the first layer of a group: the layers of a group always read the same rows.
  private var sums: [ObjectIdentifier: Sums] = [:]

  @unsafe func observe(
    _ rows: UnsafePointer<Float>, tokens: Int, columns: Int, layers: [Linear]
  ) {
    guard let first = layers.first else { return }
    let key = ObjectIdentifier(first)
    var group =
      sums.removeValue(forKey: key)
      ?? Sums(names: layers.map(\.name), squares: [Double](repeating: 0, count: columns))
    precondition(group.squares.count == columns, "a layer of another width")
    var squares = group.squares.mutableSpan
    for token in 0..<tokens {
      // The caller's rows have `columns` elements each.
      let row = unsafe rows + token * columns
      var total = 0.0
      for column in 0..<columns { total += unsafe Double(row[column]) * Double(row[column]) }
      // A row of zeros says nothing about its columns. One that is not finite makes sums that are
      // not, which whoever takes the means refuses.
      guard total != 0 else { continue }
      let factor = Double(columns) / total
      for column in 0..<columns {
        let value = unsafe Double(row[column])
        squares[column] += value * value * factor
      }
    }
    group.rowCount += tokens
    sums[key] = group
  }

  /// Mean squares by tensor name; not finite where an activation was not.
  var meanSquares: [String: [Float]] {
    var result: [String: [Float]] = [:]
    for group in sums.values where group.rowCount > 0 {
      let means = group.squares.map { Float($0 / Double(group.rowCount)) }
      for name in group.names { result[name] = means }
    }
    return result
  }
}
