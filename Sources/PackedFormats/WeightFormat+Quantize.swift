import TensorCore

extension WeightFormat {
  /// Chooses scales and codes for some rows of weights and writes them into the planes.
  ///
  /// A tensor may be packed a few rows at a time: rows do not depend on each other, except for the
  /// scale of a per-tensor format, which `options.tensorScale` has to give then. How scales are
  /// chosen stands on the page of each format family. The same input gives the same bytes on every
  /// machine.
  ///
  /// - Parameters:
  ///   - weights: rowCount × columnCount values, row-major.
  ///   - firstRow: the tensor row that the first of these rows is, for errors.
  ///   - planes: exactly the bytes of these rows, `byteCount(of:rows:columns:)` each; every byte of
  ///     them is written unless an error is thrown.
  ///   - options: importances, where given, are one a column, positive and finite.
  /// - Throws: where a weight is NaN, infinite, above ``largestWeight`` or too large for the scales
  ///   of the format, with row and column.
  /// - Returns: how many weights were outside the range that the options ask for.
  ///
  /// Allocates a few scratch rows for the call. Rates stand on the pages.
  @discardableResult
  public func quantize(
    _ weights: Span<Float>, rowCount: Int, columnCount: Int, firstRow: Int = 0,
    options: QuantizationOptions = QuantizationOptions(),
    into planes: inout MutablePackedPlanes
  ) throws(PackedFormatError) -> QuantizationOutcome {
    precondition(rowCount >= 0 && columnCount >= 0, "negative dimensions")
    precondition(weights.count == rowCount * columnCount, "weights do not fill the rows")
    for plane in Plane.allCases {
      let found =
        switch plane {
        case .codes: planes.codes.byteCount
        case .scales: planes.scales.byteCount
        case .minimums: planes.minimums.byteCount
        }
      let expected = requiredByteCount(of: plane, rows: rowCount, columns: columnCount)
      precondition(found == expected, "plane \(plane) has \(found) bytes instead of \(expected)")
    }
    guard rowCount > 0, columnCount > 0 else { return QuantizationOutcome() }

    var quantizer = try RowQuantizer(
      format: self, columnCount: columnCount, options: options,
      tensorScale: tensorScale(weights, columnCount: columnCount, firstRow: firstRow, options))
    var outcome = QuantizationOutcome()
    // The pointers below stay inside the spans: the counts were checked above, and each row's
    // offset is its index times the row's byte count.
    try unsafe weights.withUnsafeBufferPointer { input throws(PackedFormatError) in
      try unsafe planes.codes.withUnsafeMutableBytes { codes throws(PackedFormatError) in
        try unsafe planes.scales.withUnsafeMutableBytes { scales throws(PackedFormatError) in
          try unsafe planes.minimums.withUnsafeMutableBytes {
            minimums throws(PackedFormatError) in
            let output = unsafe RowQuantizer.Output(
              codes: codes, scales: scales, minimums: minimums)
            for row in 0..<rowCount {
              do throws(PackedFormatError) {
                let x = unsafe UnsafeBufferPointer(
                  rebasing: input[row * columnCount..<(row + 1) * columnCount])
                try unsafe outcome.add(quantizer.quantize(x, to: output, row: row))
              } catch {
                var placed = error
                placed.row = firstRow + row
                throw placed
              }
            }
          }
        }
      }
    }
    return outcome
  }

  /// The one scale of a per-tensor format, from the options or from these rows; nil for the others.
  private func tensorScale(
    _ weights: Span<Float>, columnCount: Int, firstRow: Int, _ options: QuantizationOptions
  ) throws(PackedFormatError) -> Float? {
    guard axis(of: .scales) == .tensor else { return nil }
    if let scale = options.tensorScale {
      precondition(
        scale >= 0 && (1.5 * scale).isFinite, "a tensor scale that is negative or not finite")
      return scale
    }
    var survey = TensorSurvey(options: options)
    try survey.add(weights, columnCount: columnCount, firstRow: firstRow)
    return try survey.tensorScale(for: self)
  }
}
