import KernelChecks
import PackedFormats
import QuantKernels
import TensorCore
import Testing

/// The run-time layout and its way back.
struct PackedMatrixTests {
  static let formats = WeightFormat.allCases.filter(PackedMatrix.supports)

  /// Random planes whose unused bits are zero.
  static func planes(_ format: WeightFormat, _ rows: Int, _ columns: Int) -> [Plane: [UInt8]] {
    var random = Sequence64(state: 11)
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
