import Foundation
import PackedFormats

/// The formulas of the formats, an element at a time, straight from the doc comments.
extension PackedTensor {
  /// The code of an element: the bits from column · codeBitCount on, least significant first.
  func referenceCode(row: Int, column: Int) -> Int {
    let rowBytes = codes.count / rowCount
    var code = 0
    for bit in 0..<format.codeBitCount {
      let position = column * format.codeBitCount + bit
      let byte = codes[row * rowBytes + position / 8]
      if byte & (1 << (position % 8)) != 0 { code += 1 << bit }
    }
    return format == .s8c && code >= 128 ? code - 256 : code
  }

  func referenceScale(row: Int, column: Int) -> Float {
    number(scales, row: row, column: column)
  }

  func referenceMinimum(row: Int, column: Int) -> Float {
    number(minimums, row: row, column: column)
  }

  private func number(_ plane: [UInt8], row: Int, column: Int) -> Float {
    guard let groupSize = format.groupSize else {
      let bytes = plane[row * 4..<row * 4 + 4]
      return Float(bitPattern: bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) })
    }
    let groups = (columnCount + groupSize - 1) / groupSize
    let offset = (row * groups + column / groupSize) * 2
    return Float(Float16(bitPattern: UInt16(plane[offset]) | UInt16(plane[offset + 1]) << 8))
  }

  func referenceValue(row: Int, column: Int) -> Float {
    let code = referenceCode(row: row, column: column)
    switch format {
    case .f32: return Float(bitPattern: UInt32(code))
    case .f16: return Float(Float16(bitPattern: UInt16(code)))
    case .s8c: return Float(code) * referenceScale(row: row, column: column)
    case .u4g32:
      let product = Float(code) * referenceScale(row: row, column: column)
      return referenceMinimum(row: row, column: column) + product
    case .u2c, .u2g64: return (Float(code) - 1.5) * referenceScale(row: row, column: column)
    }
  }

  func referenceDequantized() -> [Float] {
    (0..<rowCount).flatMap { row in
      (0..<columnCount).map { referenceValue(row: row, column: $0) }
    }
  }
}

func logarithm(_ value: Double) -> Double { log(value) }

/// √(Σ(a − b)² / Σa²).
func relativeRMS(_ a: some Sequence<Float>, _ b: some Sequence<Float>) -> Double {
  var error = 0.0
  var power = 0.0
  for (x, y) in zip(a, b) {
    error += (Double(x) - Double(y)) * (Double(x) - Double(y))
    power += Double(x) * Double(x)
  }
  return (error / power).squareRoot()
}

func squaredError(_ a: some Sequence<Float>, _ b: some Sequence<Float>) -> Double {
  zip(a, b).reduce(0) { $0 + (Double($1.0) - Double($1.1)) * (Double($1.0) - Double($1.1)) }
}
