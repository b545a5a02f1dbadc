import KernelContract
import PackedFormats

/// The scalar twin of `PackedProductFunction` for one matrix.
package protocol ProductReference: Sendable {
  /// The result of one row and token, whose activations are grouped as the format requires.
  func multiply(row: Int, _ token: QuantizedToken) -> Float
  /// The value of one element, as products take it.
  func value(row: Int, column: Int) -> Float
}

/// The scalar twin of `PackedProductFunction`, over canonical planes: slow, obvious, allocating.
package struct PackedProductReference: ProductReference {
  package let format: WeightFormat
  package let rows: Int
  package let columns: Int
  /// Row-major codes; signed for s8c and s8g32.
  package let codes: [Int32]
  /// Row-major over rows × groups; one in all where per-tensor.
  package let scales: [Float]
  package let minimums: [Float]

  package init(
    format: WeightFormat, rows: Int, columns: Int, codes: [UInt8], scales: [UInt8],
    minimums: [UInt8]
  ) {
    self.format = format
    self.rows = rows
    self.columns = columns
    guard let bitCount = format.codeBitCount else {
      preconditionFailure("\(format.name) has no codes")
    }
    let rowBytes = (columns * bitCount + 7) / 8
    var unpacked: [Int32] = []
    for row in 0..<rows {
      for column in 0..<columns {
        let bit = column * bitCount
        let byte = codes[row * rowBytes + bit / 8]
        let code = (byte >> UInt8(bit % 8)) & UInt8((1 << bitCount) - 1)
        unpacked.append(bitCount == 8 ? Int32(Int8(bitPattern: code)) : Int32(code))
      }
    }
    self.codes = unpacked
    func half(_ bytes: [UInt8], _ i: Int) -> Float {
      Float(Float16(bitPattern: UInt16(bytes[2 * i]) | UInt16(bytes[2 * i + 1]) << 8))
    }
    func single(_ bytes: [UInt8], _ i: Int) -> Float {
      Float(bitPattern: (0..<4).reduce(0) { $0 | UInt32(bytes[4 * i + $1]) << UInt32(8 * $1) })
    }
    self.scales =
      format.groupSize == nil
      ? (0..<scales.count / 4).map { single(scales, $0) }
      : (0..<scales.count / 2).map { half(scales, $0) }
    self.minimums = (0..<minimums.count / 2).map { half(minimums, $0) }
  }

  /// Σ c·x over a range of columns of one row.
  private func sum(_ row: Int, _ range: Range<Int>, _ token: QuantizedToken) -> Int32 {
    range.reduce(0) { $0 + codes[row * columns + $1] * Int32(token.activations[$1]) }
  }

  /// The result of one row and token, whose activations are grouped as the format requires.
  package func multiply(row: Int, _ token: QuantizedToken) -> Float {
    precondition(token.grouping == .required(by: format), "activations of another grouping")
    if format == .u2c || format == .u2t {
      let integer = 2 * sum(row, 0..<columns, token) - 3 * token.sum
      return Float(integer) * scale(row: row, group: 0) * (0.5 * token.scales[0])
    }
    // Columns that are summed before a scale enters: the weights' group, for u4c that of u4g32, or
    // the chunk.
    let length = format == .u4c ? 32 : format.groupSize ?? ActivationGrouping.chunkColumns
    let groupCount = format.groupCount(columns: columns)
    var total: Float = 0
    for (group, begin) in stride(from: 0, to: columns, by: length).enumerated() {
      let range = begin..<min(columns, begin + length)
      let products = Float(sum(row, range, token))
      let activations = Float(range.reduce(0) { $0 + Int32(token.activations[$1]) })
      let part: Float
      switch format {
      case .s8c: part = products
      case .u4c: part = products - 7.5 * activations
      case .s8g32: part = scale(row: row, group: group) * products
      case .u2g64: part = scale(row: row, group: group) * (products - 1.5 * activations)
      case .u4g32:
        part =
          scale(row: row, group: group) * products
          + minimums[row * groupCount + group] * activations
      default: preconditionFailure("\(format.name) has no kernels that read chunks")
      }
      total += token.scales[begin / ActivationGrouping.chunkColumns] * part
    }
    return format.groupSize == nil ? total * scale(row: row, group: 0) : total
  }

  /// The scale of a group; of the row or the tensor where groups have none.
  private func scale(row: Int, group: Int) -> Float {
    switch format.axis(of: .scales) {
    case .tensor: scales[0]
    case .group: scales[row * format.groupCount(columns: columns) + group]
    default: scales[row]
    }
  }

  /// The value of one element.
  package func value(row: Int, column: Int) -> Float {
    let code = Float(codes[row * columns + column])
    let group = format.groupSize.map { column / $0 } ?? 0
    let scale = scale(row: row, group: group)
    switch format {
    case .u2c, .u2g64, .u2t: return (code - 1.5) * scale
    case .u4c: return (code - 7.5) * scale
    case .u4g32: return minimums[row * format.groupCount(columns: columns) + group] + code * scale
    default: return code * scale
    }
  }
}
