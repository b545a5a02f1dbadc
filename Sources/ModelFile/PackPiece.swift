import PackedFormats
import TensorCore

/// A few packed rows of a tensor, and how far they are from the rows they were made of.
struct PackedPiece: Sendable {
  private var codes: [UInt8]
  private var scales: [UInt8]
  private var minimums: [UInt8]
  private(set) var sums = ErrorSums()

  /// Reads, quantizes and measures rows.
  init(
    rows: Range<Int>, of tensor: SourceTensor, index: Int, from source: any ModelSource,
    as format: WeightFormat
  ) throws(InputError) {
    let columnCount = tensor.shape.columnCount
    func room(_ plane: Plane) -> [UInt8] {
      // The writer has refused tensors whose planes are too large to address.
      let count = format.byteCount(of: plane, rows: rows.count, columns: columnCount) ?? 0
      return [UInt8](repeating: 0, count: count)
    }
    var codes = room(.codes)
    var scales = room(.scales)
    var minimums = room(.minimums)
    var values = [Float](repeating: 0, count: rows.count * columnCount)
    var output = values.mutableSpan
    try source.readRows(rows, ofTensor: index, into: &output)
    do {
      var codeSpan = codes.mutableSpan
      var scaleSpan = scales.mutableSpan
      var minimumSpan = minimums.mutableSpan
      // Bytes have no padding, and every value is a valid one.
      var planes = unsafe MutablePackedPlanes(
        codes: codeSpan.mutableBytes, scales: scaleSpan.mutableBytes,
        minimums: minimumSpan.mutableBytes)
      try format.quantize(
        values.span, rowCount: rows.count, columnCount: columnCount, firstRow: rows.lowerBound,
        into: &planes)
    } catch {
      throw InputError(place: "tensor \(tensor.name)", reason: error.description)
    }
    self.codes = codes
    self.scales = scales
    self.minimums = minimums
    if format != .f32 { sums = measured(values, rowCount: rows.count, format: format) }
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
    _ values: [Float], rowCount: Int, format: WeightFormat
  ) -> ErrorSums {
    var packed = [Float](repeating: 0, count: values.count)
    var output = packed.mutableSpan
    let planes = PackedPlanes(
      codes: bytes(of: .codes), scales: bytes(of: .scales), minimums: bytes(of: .minimums))
    format.dequantize(
      planes, rowCount: rowCount, columnCount: values.count / rowCount, into: &output)
    var sums = ErrorSums()
    for index in values.indices {
      let value = Double(values[index])
      let difference = value - Double(packed[index])
      sums.squaredError += difference * difference
      sums.squaredValue += value * value
    }
    return sums
  }
}

extension PackedPiece {
  /// Brings rows that the source holds packed as they are, checked against the rules of their
  /// format; they are no distance from what they were.
  init(
    keeping rows: Range<Int>, of tensor: SourceTensor, index: Int, from source: any ModelSource
  ) throws(InputError) {
    guard let format = tensor.stored else { preconditionFailure("the tensor is not packed") }
    let columnCount = tensor.shape.columnCount
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
      try source.readPlanes(rows, ofTensor: index, into: &planes)
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
      throw InputError(place: "tensor \(tensor.name)", reason: error.description)
    }
  }
}

/// Sums over the elements of a tensor, in binary64.
struct ErrorSums: Sendable {
  var squaredError = 0.0
  var squaredValue = 0.0

  mutating func add(_ other: ErrorSums) {
    squaredError += other.squaredError
    squaredValue += other.squaredValue
  }

  /// Root of the mean squared error over the root mean square of the values; 0 without an error.
  var relativeError: Double {
    squaredError == 0 ? 0 : (squaredError / squaredValue).squareRoot()
  }
}
