import PackedFormats
import TensorCore

/// Makes the bytes of some rows of an exported tensor out of a loaded one.
struct ExportConverter {
  let part: ExportPlan.Part
  let tensor: LoadedTensor
  /// A vector, taken as a matrix of one column.
  let isColumn: Bool

  /// The bytes of some rows, little-endian.
  func bytes(of rows: Range<Int>) throws(InputError) -> [UInt8] {
    switch part.source {
    case .values: return try values(rows)
    case .codes: return codes(rows)
    case .plane(let plane): return self.plane(plane, rows)
    case .tokenizer(let bytes): return bytes
    }
  }

  private var columnCount: Int { tensor.shape.columnCount }

  private func plane(_ plane: Plane, _ rows: Range<Int>) -> [UInt8] {
    let planes = tensor.planes.rows(rows, columnCount: columnCount, format: tensor.format)
    return planes.bytes(of: plane).copied
  }

  private func codes(_ rows: Range<Int>) -> [UInt8] {
    let planes = tensor.planes.rows(rows, columnCount: columnCount, format: tensor.format)
    func room(_ plane: Plane) -> Int {
      // The tensor is in memory: the counts of some of its rows fit.
      tensor.format.elementCount(of: plane, rows: rows.count, columns: columnCount) ?? 0
    }
    var codes = [UInt8](repeating: 0, count: room(.codes))
    var scales = [Float](repeating: 0, count: room(.scales))
    var minimums = [Float](repeating: 0, count: room(.minimums))
    var codeSpan = codes.mutableSpan
    var scaleSpan = scales.mutableSpan
    var minimumSpan = minimums.mutableSpan
    tensor.format.unpack(
      planes, rowCount: rows.count, columnCount: columnCount, codes: &codeSpan,
      scales: &scaleSpan, minimums: &minimumSpan)
    return codes
  }

  private func values(_ rows: Range<Int>) throws(InputError) -> [UInt8] {
    var values: [Float]
    if isColumn {
      values = [Float](repeating: 0, count: columnCount)
      var output = values.mutableSpan
      tensor.format.dequantize(
        tensor.planes, rowCount: 1, columnCount: columnCount, into: &output)
      values = Array(values[rows])
    } else {
      values = [Float](repeating: 0, count: rows.count * columnCount)
      var output = values.mutableSpan
      tensor.format.dequantize(
        tensor.planes.rows(rows, columnCount: columnCount, format: tensor.format),
        rowCount: rows.count, columnCount: columnCount, into: &output)
    }
    // Numbers have no padding, and lie in memory as they do in the file.
    switch part.tensor.element {
    case .f32: return unsafe values.span.bytes.copied
    case .f16:
      let halves = values.map(HalfPrecision.bits)
      if let index = halves.firstIndex(where: { $0 & 0x7FFF == 0x7C00 }) {
        throw tooLarge(values[index], rows, index)
      }
      return unsafe halves.span.bytes.copied
    case .bf16:
      // The container holds finite values alone; the sum rounds to nearest, ties to even.
      let halves = values.map { value in
        let bits = value.bitPattern
        return UInt16(truncatingIfNeeded: (bits &+ 0x7FFF &+ (bits >> 16 & 1)) >> 16)
      }
      if let index = halves.firstIndex(where: { $0 & 0x7F80 == 0x7F80 }) {
        throw tooLarge(values[index], rows, index)
      }
      return unsafe halves.span.bytes.copied
    default: preconditionFailure("values are written as floats")
    }
  }

  private func tooLarge(_ value: Float, _ rows: Range<Int>, _ index: Int) -> InputError {
    let columns = isColumn ? 1 : columnCount
    return InputError(
      place: "tensor \(tensor.name)",
      reason:
        "row \(rows.lowerBound + index / columns), column \(index % columns): \(value) is too "
        + "large for \(part.tensor.element.rawValue)")
  }
}

extension RawSpan {
  /// The bytes, copied.
  fileprivate var copied: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(byteCount)
    // The buffer is read within the span's lifetime.
    unsafe withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    return bytes
  }
}
