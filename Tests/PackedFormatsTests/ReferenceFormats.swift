import Foundation
import PackedFormats

/// The formulas of the formats, an element at a time, straight from the doc comments.
extension PackedTensor {
  /// The code of an element: the bits from column · codeBitCount on, least significant first.
  func referenceCode(row: Int, column: Int) -> Int {
    let bitCount = format.codeBitCount ?? 0
    let rowBytes = codes.count / rowCount
    var code = 0
    for bit in 0..<bitCount {
      let position = column * bitCount + bit
      let byte = codes[row * rowBytes + position / 8]
      if byte & (1 << (position % 8)) != 0 { code += 1 << bit }
    }
    return (format == .s8c || format == .s8g32) && code >= 128 ? code - 256 : code
  }

  func referenceScale(row: Int, column: Int) -> Float {
    number(.scales, scales, row: row, column: column)
  }

  func referenceMinimum(row: Int, column: Int) -> Float {
    number(.minimums, minimums, row: row, column: column)
  }

  private func number(_ plane: Plane, _ bytes: [UInt8], row: Int, column: Int) -> Float {
    func single(_ index: Int) -> Float {
      let bytes = bytes[index * 4..<index * 4 + 4]
      return Float(bitPattern: bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) })
    }
    switch format.axis(of: plane) {
    case nil: return 0
    case .tensor: return single(0)
    case .channel: return single(row)
    case .group(let columns):
      let groups = (columnCount + columns - 1) / columns
      let offset = (row * groups + column / columns) * 2
      return Float(Float16(bitPattern: UInt16(bytes[offset]) | UInt16(bytes[offset + 1]) << 8))
    }
  }

  func referenceValue(row: Int, column: Int) -> Float {
    value(code: referenceCode(row: row, column: column), row: row, column: column)
  }

  /// What a code would mean at a place.
  func value(code: Int, row: Int, column: Int) -> Float {
    let scale = referenceScale(row: row, column: column)
    switch format {
    case .f32: return Float(bitPattern: UInt32(code))
    case .f16: return Float(Float16(bitPattern: UInt16(code)))
    case .s8c, .s8g32: return Float(code) * scale
    case .u4g32: return referenceMinimum(row: row, column: column) + Float(code) * scale
    case .u4c: return (Float(code) - 7.5) * scale
    case .u2c, .u2g64, .u2t: return (Float(code) - 1.5) * scale
    case .astc6x6LDR, .astc6x6HDR: preconditionFailure("a packed block has no codes")
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

extension WeightFormat {
  /// The formats that store an element at a time.
  static let elementwise = allCases.filter { !$0.isASTC }
  /// The formats that `pack(codes:)` takes.
  static let coded = allCases.filter { $0.codeRange != nil }
}
