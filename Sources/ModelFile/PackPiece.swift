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
  private var codes: [UInt8]
  private var scales: [UInt8]
  private var minimums: [UInt8]
  private(set) var sums = ErrorSums()
  private(set) var outcome: QuantizationOutcome

  /// Reads, quantizes and measures rows.
  init(rows: Range<Int>, of plan: TensorPlan) throws(InputError) {
    let columnCount = plan.tensor.shape.columnCount
    let format = plan.format
    func room(_ plane: Plane) -> [UInt8] {
      // The writer has refused tensors whose planes are too large to address.
      let count = format.byteCount(of: plane, rows: rows.count, columns: columnCount) ?? 0
      return [UInt8](repeating: 0, count: count)
    }
    var codes = room(.codes)
    var scales = room(.scales)
    var minimums = room(.minimums)
    let (values, residual) = try plan.read(rows)
    let weights = residual ?? values
    do {
      var codeSpan = codes.mutableSpan
      var scaleSpan = scales.mutableSpan
      var minimumSpan = minimums.mutableSpan
      // Bytes have no padding, and every value is a valid one.
      var planes = unsafe MutablePackedPlanes(
        codes: codeSpan.mutableBytes, scales: scaleSpan.mutableBytes,
        minimums: minimumSpan.mutableBytes)
      outcome = try format.quantize(
        weights.span, rowCount: rows.count, columnCount: columnCount,
        firstRow: rows.lowerBound, options: plan.options, into: &planes)
    } catch {
      throw InputError(place: "tensor \(plan.tensor.name)", reason: error.description)
    }
    self.codes = codes
    self.scales = scales
    self.minimums = minimums
    if format != .f32 || residual != nil {
      sums = measured(values, residual: weights, rowCount: rows.count, plan)
    }
  }

  /// The packed bytes of a plane.
  @_lifetime(borrow self)
  func bytes(of plane: Plane) -> RawSpan {
    // Bytes have no padding.
    switch plane {
    case .codes: unsafe codes.span.bytes
    case .scales: unsafe scales.span.bytes
    case .minimums: unsafe minimums.span.bytes
    }
  }

  private func measured(
    _ values: [Float], residual: [Float], rowCount: Int, _ plan: TensorPlan
  ) -> ErrorSums {
    let columnCount = values.count / rowCount
    var packed = [Float](repeating: 0, count: values.count)
    var output = packed.mutableSpan
    let planes = PackedPlanes(
      codes: bytes(of: .codes), scales: bytes(of: .scales), minimums: bytes(of: .minimums))
    plan.format.dequantize(planes, rowCount: rowCount, columnCount: columnCount, into: &output)
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
    func room(_ plane: Plane) -> [UInt8] {
      // The writer has refused tensors whose planes are too large to address.
      let count = format.byteCount(of: plane, rows: rows.count, columns: columnCount) ?? 0
      return [UInt8](repeating: 0, count: count)
    }
    var codes = room(.codes)
    var scales = room(.scales)
    var minimums = room(.minimums)
    do {
      var codeSpan = codes.mutableSpan
      var scaleSpan = scales.mutableSpan
      var minimumSpan = minimums.mutableSpan
      // Bytes have no padding, and every value is a valid one.
      var planes = unsafe MutablePackedPlanes(
        codes: codeSpan.mutableBytes, scales: scaleSpan.mutableBytes,
        minimums: minimumSpan.mutableBytes)
      try plan.source.readPlanes(rows, ofTensor: plan.index, into: &planes)
    }
    self.codes = codes
    self.scales = scales
    self.minimums = minimums
    do throws(PackedFormatError) {
      let planes = PackedPlanes(
        codes: bytes(of: .codes), scales: bytes(of: .scales), minimums: bytes(of: .minimums))
      try format.validate(
        planes, rowCount: rows.count, columnCount: columnCount, firstRow: rows.lowerBound)
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
