import KernelChecks
import PackedFormats
import QuantKernels
import TensorCore
import TestSupport
import Testing

/// The run-time layout and its way back.
struct PackedMatrixTests {
  static let formats = WeightFormat.allCases.filter { PackedMatrix.supports($0) && !$0.isASTC }

  /// Random planes whose unused bits are zero.
  static func planes(_ format: WeightFormat, _ rows: Int, _ columns: Int) -> [Plane: [UInt8]] {
    var random = SeededGenerator(seed: 11)
    var planes: [Plane: [UInt8]] = [:]
    for plane in Plane.allCases {
      let count = format.byteCount(of: plane, rows: rows, columns: columns) ?? 0
      planes[plane] = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }
    let bits = columns * (format.codeBitCount ?? 0)
    let rowBytes = (bits + 7) / 8
    let used = (bits - 1) % 8 + 1
    for row in 1...rows {
      planes[.codes, default: []][row * rowBytes - 1] &= UInt8((1 << used) - 1)
    }
    return planes
  }

  static func matrix(
    _ format: WeightFormat, _ rows: Int, _ columns: Int, _ planes: [Plane: [UInt8]],
    pool: ThreadPool? = nil
  ) throws -> PackedMatrix {
    let codes = planes[.codes] ?? []
    let scales = planes[.scales] ?? []
    let minimums = planes[.minimums] ?? []
    // Bytes of trivial elements, for the duration of the call.
    return try unsafe PackedMatrix(
      format: format, rows: rows, columns: columns, codes: codes.span.bytes,
      scales: scales.span.bytes, minimums: minimums.span.bytes, pool: pool)
  }

  @Test(arguments: formats)
  func planesComeBackAsTheyWere(_ format: WeightFormat) throws {
    for rows in [1, 2, 15, 16, 17, 33] {
      for columns in Array(1...40) + [63, 64, 65, 127, 129, 255, 257] {
        let planes = Self.planes(format, rows, columns)
        let pool = ThreadPool(threadCount: 2, allowOversubscription: true)
        let matrix = try Self.matrix(format, rows, columns, planes, pool: rows == 33 ? pool : nil)
        for plane in Plane.allCases {
          #expect(matrix.unpackCanonical(plane) == planes[plane], "\(rows)x\(columns) \(plane)")
        }
      }
    }
  }

  @Test(arguments: formats)
  func rowsHaveTheValuesOfTheFormat(_ format: WeightFormat) throws {
    for columns in [1, 31, 64, 100, 257] {
      let data = try ProductData(
        ProductCase(format: format, rows: 18, columns: columns, tokens: 1, fill: .random, seed: 9))
      for row in [0, 15, 16, 17] {
        var values = [Float](repeating: .nan, count: columns)
        var span = values.mutableSpan
        data.matrix.dequantizeRow(row, into: &span)
        for column in 0..<columns {
          #expect(values[column] == data.reference.value(row: row, column: column))
        }
      }
    }
  }

  @Test(arguments: formats)
  func realShapesCostAtMostTwoPercent(_ format: WeightFormat) throws {
    for (rows, columns) in [(576, 1536), (192, 576), (2048, 2048)] {
      let planes = Self.planes(format, rows, columns)
      let matrix = try Self.matrix(format, rows, columns, planes)
      // The one scale of a tensor is repeated for every row.
      let repeated = format.axis(of: .scales) == .tensor ? (rows - 1) * 4 : 0
      let canonical = planes.values.reduce(repeated) { $0 + $1.count }
      #expect(matrix.byteCount * 100 <= canonical * 102)
    }
  }

  /// ASTC: what went in comes out, rows have the values of the format, and those that products take
  /// are as near to them as the contract says.
  @Test(arguments: [WeightFormat.astc6x6LDR, .astc6x6HDR])
  func blocksComeBackAsTheyWere(_ format: WeightFormat) throws {
    for (rows, columns) in [(1, 36), (18, 72), (35, 360)] {
      let data = try ProductData(
        ProductCase(
          format: format, rows: rows, columns: columns, tokens: 1, fill: .random, seed: 10))
      var planes: [Plane: [UInt8]] = [:]
      for plane in Plane.allCases { planes[plane] = data.matrix.unpackCanonical(plane) }
      let again = try Self.matrix(format, rows, columns, planes)
      for plane in Plane.allCases { #expect(again.unpackCanonical(plane) == planes[plane]) }
      let (codes, scales) = (planes[.codes] ?? [], planes[.scales] ?? [])
      let minimums = planes[.minimums] ?? []
      var expected = [Float](repeating: .nan, count: rows * columns)
      var span = expected.mutableSpan
      // Bytes of trivial elements, for the duration of the call.
      unsafe format.dequantize(
        PackedPlanes(
          codes: codes.span.bytes, scales: scales.span.bytes, minimums: minimums.span.bytes),
        rowCount: rows, columnCount: columns, into: &span)
      for row in 0..<rows {
        var values = [Float](repeating: .nan, count: columns)
        var output = values.mutableSpan
        again.dequantizeRow(row, into: &output)
        #expect(values[...] == expected[row * columns..<(row + 1) * columns])
        let scale = Self.scale(scales, row: format == .astc6x6LDR ? row : 0)
        for column in 0..<columns {
          let value = values[column]
          // LDR rounds C to an integer, HDR to a binary16; and a block of logarithms has 7 bits for
          // what it spans, of which its columns' values are the most part.
          let block = values[column / 36 * 36..<column / 36 * 36 + 36]
          let span = (block.max() ?? 0) - (block.min() ?? 0)
          let tolerance =
            format == .astc6x6LDR ? 0.51 * scale : scale * 0x1p-9 + 1.5 * span / 127
          #expect(abs(data.reference.value(row: row, column: column) - value) <= tolerance)
        }
      }
    }
  }

  private static func scale(_ bytes: [UInt8], row: Int) -> Float {
    Float(bitPattern: (0..<4).reduce(0) { $0 | UInt32(bytes[4 * row + $1]) << UInt32(8 * $1) })
  }

  @Test func blocksThatTilesDoNotHoldAreErrors() {
    // A block of zeros is not one of the weight modes.
    let bytes = [UInt8](repeating: 0, count: 16)
    #expect(throws: InputError.self) {
      try Self.matrix(.astc6x6LDR, 1, 36, [.codes: bytes, .scales: [0, 0, 0, 0]])
    }
  }

  @Test func wrongSizesAreErrors() {
    let bytes = [UInt8](repeating: 0, count: 64)
    func make(_ format: WeightFormat, _ rows: Int, _ columns: Int) throws -> PackedMatrix {
      // Bytes of trivial elements, for the duration of the call.
      try unsafe PackedMatrix(
        format: format, rows: rows, columns: columns, codes: bytes.span.bytes,
        scales: bytes.span.bytes)
    }
    for (format, rows, columns) in [
      (WeightFormat.u2c, 16, 17), (.u2c, 0, 16), (.u2c, 16, -1), (.s8c, 1, 1 << 40),
      (.s8c, .max, 64), (.f32, 1, 16), (.u4g32, 2, 64), (.s8c, 1, 64),
    ] {
      #expect(throws: InputError.self) { try make(format, rows, columns) }
    }
    #expect(throws: Never.self) { try make(.u2c, 16, 16) }
  }
}
