import PackedFormats
import TensorCore

/// How the rows of one tensor are packed.
struct TensorPlan: @unchecked Sendable {
  var tensor: SourceTensor
  /// The tensor's place in its source.
  var index: Int
  // A source may be read by several threads at once, as its protocol says.
  var source: any ModelSource
  var format: WeightFormat
  var options: QuantizationOptions
  /// Subtracted from the rows first: the planes hold what it leaves.
  var adapter: LowRankFactors?

  /// The rows as they are in the source, in `values`, and what is to be quantized, in `residual`:
  /// nil where that is the same.
  func read(
    _ rows: Range<Int>
  ) throws(InputError) -> (values: [Float], residual: [Float]?) {
    var values = [Float](repeating: 0, count: rows.count * tensor.shape.columnCount)
    var output = values.mutableSpan
    try source.readRows(rows, ofTensor: index, into: &output)
    guard let adapter else { return (values, nil) }
    var residual = values
    var span = residual.mutableSpan
    adapter.subtract(rows: rows, from: &span)
    return (values, residual)
  }
}

/// A few packed rows of a tensor, and how far they are from the rows they were made of.
struct PackedPiece: Sendable {
  private let stored: PlaneBytes
  private(set) var sums = ErrorSums()
  private(set) var outcome: QuantizationOutcome

  /// Reads, quantizes and measures rows.
  init(rows: Range<Int>, of plan: TensorPlan) throws(InputError) {
    let columnCount = plan.tensor.shape.columnCount
    let format = plan.format
    let (values, residual) = try plan.read(rows)
    let weights = residual ?? values
    do throws(PackedFormatError) {
      var outcome = QuantizationOutcome()
      // The writer has refused tensors whose planes are too large to address.
      stored = try PlaneBytes(
        format: format, rowCount: rows.count, columnCount: columnCount
      ) { planes throws(PackedFormatError) in
        outcome = try format.quantize(
          weights.span, rowCount: rows.count, columnCount: columnCount,
          firstRow: rows.lowerBound, options: plan.options, into: &planes)
      }
      self.outcome = outcome
    } catch {
      throw InputError(place: "tensor \(plan.tensor.name)", reason: error.description)
    }
    if format != .f32 || residual != nil {
      sums = measured(values, residual: weights, rowCount: rows.count, plan)
    }
  }

  /// The packed bytes of a plane.
  @_lifetime(borrow self)
  func bytes(of plane: Plane) -> RawSpan { stored.bytes(of: plane) }

  private func measured(
    _ values: [Float], residual: [Float], rowCount: Int, _ plan: TensorPlan
  ) -> ErrorSums {
    let columnCount = values.count / rowCount
    var packed = [Float](repeating: 0, count: values.count)
    var output = packed.mutableSpan
    plan.format.dequantize(
      stored.planes, rowCount: rowCount, columnCount: columnCount, into: &output)
    var sums = ErrorSums()
    for row in 0..<rowCount {
      for column in 0..<columnCount {
        let index = row * columnCount + column
        let value = Double(values[index])
        let difference = Double(residual[index]) - Double(packed[index])
        let weight = plan.options.importance.map { Double($0[column]) } ?? 1
        sums.squaredError += difference * difference
        sums.squaredValue += value * value
        sums.weightedSquaredError += weight * difference * difference
        sums.weightedSquaredValue += weight * value * value
      }
    }
    return sums
  }
}

extension PackedPiece {
  /// Brings rows that the source holds packed as they are, checked against the rules of their
  /// format; they are no distance from what they were.
  init(keeping rows: Range<Int>, of plan: TensorPlan) throws(InputError) {
    let columnCount = plan.tensor.shape.columnCount
    let format = plan.format
    outcome = QuantizationOutcome()
    // The writer has refused tensors whose planes are too large to address.
    stored = try PlaneBytes(
      format: format, rowCount: rows.count, columnCount: columnCount
    ) { planes throws(InputError) in
      try plan.source.readPlanes(rows, ofTensor: plan.index, into: &planes)
    }
    do throws(PackedFormatError) {
      try format.validate(
        stored.planes, rowCount: rows.count, columnCount: columnCount, firstRow: rows.lowerBound)
    } catch {
      throw InputError(place: "tensor \(plan.tensor.name)", reason: error.description)
    }
  }
}

/// Sums over the elements of a tensor, in binary64.
struct ErrorSums: Sendable {
  var squaredError = 0.0
  var squaredValue = 0.0
  /// The same with each square times the importance of its column.
  var weightedSquaredError = 0.0
  var weightedSquaredValue = 0.0

  mutating func add(_ other: ErrorSums) {
    squaredError += other.squaredError
    squaredValue += other.squaredValue
    weightedSquaredError += other.weightedSquaredError
    weightedSquaredValue += other.weightedSquaredValue
  }

  /// Root of the mean squared error over the root mean square of the values; 0 without an error.
  var relativeError: Double {
    squaredError == 0 ? 0 : (squaredError / squaredValue).squareRoot()
  }

  /// The same with weighted squares.
  var weightedRelativeError: Double {
    weightedSquaredError == 0 ? 0 : (weightedSquaredError / weightedSquaredValue).squareRoot()
  }
}
