import PackedFormats
import TensorCore
import TestSupport

/// A stored tensor that owns its planes, for tests.
struct PackedTensor {
  let format: WeightFormat
  let rowCount: Int
  let columnCount: Int
  var codes: [UInt8]
  var scales: [UInt8]
  var minimums: [UInt8]

  /// Planes of zero bytes.
  init(zero format: WeightFormat, rowCount: Int, columnCount: Int) {
    func bytes(_ plane: Plane) -> [UInt8] {
      let count = format.byteCount(of: plane, rows: rowCount, columns: columnCount)
      return [UInt8](repeating: 0, count: count ?? 0)
    }
    self.format = format
    self.rowCount = rowCount
    self.columnCount = columnCount
    codes = bytes(.codes)
    scales = bytes(.scales)
    minimums = bytes(.minimums)
  }

  /// Quantizes weights, a given number of rows at a time.
  init(
    _ weights: [Float], format: WeightFormat, rowCount: Int, columnCount: Int, step: Int? = nil,
    options: QuantizationOptions = QuantizationOptions()
  ) throws(PackedFormatError) {
    self.init(zero: format, rowCount: 0, columnCount: columnCount)
    var row = 0
    while row < rowCount {
      let count = min(step ?? rowCount, rowCount - row)
      let part = Array(weights[row * columnCount..<(row + count) * columnCount])
      var planes = Plane.allCases.map { plane in
        // Filled with ones, so that a byte that is not written shows.
        [UInt8](
          repeating: 0xFF,
          count: format.byteCount(of: plane, rows: count, columns: columnCount) ?? 0)
      }
      try Self.quantize(part, format, count, columnCount, row, options, &planes)
      codes += planes[0]
      if format.axis(of: .scales) == .tensor { scales = [] }
      scales += planes[1]
      minimums += planes[2]
      row += count
    }
    self = .init(
      format: format, rowCount: rowCount, columnCount: columnCount, codes: codes, scales: scales,
      minimums: minimums)
  }

  private init(
    format: WeightFormat, rowCount: Int, columnCount: Int, codes: [UInt8], scales: [UInt8],
    minimums: [UInt8]
  ) {
    self.format = format
    self.rowCount = rowCount
    self.columnCount = columnCount
    self.codes = codes
    self.scales = scales
    self.minimums = minimums
  }

  /// What quantizing reports, and what it gives.
  static func quantized(
    _ weights: [Float], format: WeightFormat, rowCount: Int, columnCount: Int,
    options: QuantizationOptions
  ) throws(PackedFormatError) -> (outcome: QuantizationOutcome, tensor: PackedTensor) {
    var tensor = PackedTensor(zero: format, rowCount: rowCount, columnCount: columnCount)
    var planes = [tensor.codes, tensor.scales, tensor.minimums]
    let outcome = try quantize(weights, format, rowCount, columnCount, 0, options, &planes)
    (tensor.codes, tensor.scales, tensor.minimums) = (planes[0], planes[1], planes[2])
    return (outcome, tensor)
  }

  @discardableResult
  private static func quantize(
    _ weights: [Float], _ format: WeightFormat, _ rowCount: Int, _ columnCount: Int,
    _ firstRow: Int, _ options: QuantizationOptions, _ planes: inout [[UInt8]]
  ) throws(PackedFormatError) -> QuantizationOutcome {
    var codes = AlignedStorage(byteCount: planes[0].count)
    var scales = AlignedStorage(byteCount: planes[1].count)
    var minimums = AlignedStorage(byteCount: planes[2].count)
    fill(&codes)
    fill(&scales)
    fill(&minimums)
    var spans = MutablePackedPlanes(
      codes: codes.mutableBytes, scales: scales.mutableBytes,
      minimums: minimums.mutableBytes)
    let outcome = try format.quantize(
      weights.span, rowCount: rowCount, columnCount: columnCount, firstRow: firstRow,
      options: options, into: &spans)
    planes = [bytes(codes), bytes(scales), bytes(minimums)]
    return outcome
  }

  private static func fill(_ storage: inout AlignedStorage) {
    var bytes = storage.mutableBytes
    // Any byte will do.
    unsafe bytes.withUnsafeMutableBytes { buffer in
      _ = unsafe buffer.initializeMemory(as: UInt8.self, repeating: 0xFF)
    }
  }

  private static func bytes(_ storage: borrowing AlignedStorage) -> [UInt8] {
    // The copy outlives the borrow.
    unsafe storage.bytes.withUnsafeBytes { unsafe Array($0) }
  }

  /// Lends the planes.
  func withPlanes<Result, Failure: Error>(
    _ body: (borrowing PackedPlanes) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // Bytes have no padding; the arrays outlive the call.
    let planes = unsafe PackedPlanes(
      codes: codes.span.bytes, scales: scales.span.bytes, minimums: minimums.span.bytes)
    return try body(planes)
  }

  func dequantized() -> [Float] {
    var values = [Float](repeating: .nan, count: rowCount * columnCount)
    withPlanes { planes in
      var output = values.mutableSpan
      format.dequantize(planes, rowCount: rowCount, columnCount: columnCount, into: &output)
    }
    return values
  }

  func validate(firstRow: Int = 0) throws(PackedFormatError) {
    try withPlanes { planes throws(PackedFormatError) in
      try format.validate(
        planes, rowCount: rowCount, columnCount: columnCount, firstRow: firstRow)
    }
  }
}

/// Standard normal numbers from a seed.
func gaussian(_ count: Int, seed: UInt64) -> [Float] {
  var generator = SeededGenerator(seed: seed)
  return (0..<count).map { _ in
    // Marsaglia's polar method.
    while true {
      let x = Double.random(in: -1..<1, using: &generator)
      let y = Double.random(in: -1..<1, using: &generator)
      let r = x * x + y * y
      guard r > 0, r < 1 else { continue }
      return Float(x * (-2 * logarithm(r) / r).squareRoot())
    }
  }
}
