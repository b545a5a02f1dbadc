import CQuantKernels
import PackedFormats

/// The memory of a matrix, and how the matrix lies in it.
@safe struct MatrixMemory {
  let layout: MatrixLayout
  let range: MemoryRange

  /// A caller's matrix, if it is one.
  init(_ matrix: UnsafePointer<afm_matrix>?) throws(CallError) {
    guard let matrix = unsafe matrix?.pointee else { throw .null }
    unsafe layout = try Self.layout(matrix.format, matrix.rows, matrix.columns)
    unsafe range = try MemoryRange(
      matrix.memory, byteCount: matrix.memory_bytes, needed: Self.byteCount(layout),
      alignment: 64)
  }

  /// Where codes and scales of a matrix lie.
  static func layout(
    _ format: afm_format, _ rows: Int64, _ columns: Int64
  ) throws(CallError) -> MatrixLayout {
    let format = try WeightFormat(format)
    let rows = try checked(rows, atMost: Limits.rows)
    let columns = try checked(columns, atMost: Limits.columns)
    guard let layout = MatrixLayout(format: format, rows: rows, columns: columns) else {
      throw .tooLarge
    }
    return layout
  }

  static func byteCount(_ layout: MatrixLayout) -> Int {
    // Tiles of codes are multiples of 64 bytes; both planes have less than 2^50 bytes.
    layout.byteCount(of: .codes) + roundedToLine(layout.byteCount(of: .scales))
  }

  var codes: UnsafeMutableRawPointer { unsafe range.mutableBase }
  var scales: UnsafeMutableRawPointer {
    unsafe range.mutableBase + layout.byteCount(of: .codes)
  }

  /// Rows that are whole tiles, the last one apart, as tiles.
  func tiles(_ begin: Int64, _ end: Int64) throws(CallError) -> Range<Int> {
    let rows = Int64(layout.rows)
    guard begin >= 0, begin <= end, end <= rows, begin % 16 == 0 || begin == rows,
      end % 16 == 0 || end == rows
    else { throw .rows }
    let last = Int(truncatingIfNeeded: end + 15) / 16
    return min(Int(truncatingIfNeeded: begin + 15) / 16, last)..<last
  }
}

@c @implementation
package func afm_matrix_bytes(
  _ format: afm_format, _ rows: Int64, _ columns: Int64, _ bytes: UnsafeMutablePointer<Int>?
) -> afm_error {
  result { () throws(CallError) in
    guard let bytes = unsafe bytes else { throw .null }
    let layout = try MatrixMemory.layout(format, rows, columns)
    unsafe bytes.pointee = MatrixMemory.byteCount(layout)
  }
}

@c @implementation
package func afm_plane_bytes(
  _ format: afm_format, _ rows: Int64, _ columns: Int64, _ planes: UnsafeMutablePointer<afm_planes>?
) -> afm_error {
  result { () throws(CallError) in
    guard let planes = unsafe planes else { throw .null }
    let layout = try MatrixMemory.layout(format, rows, columns)
    func byteCount(_ plane: Plane) throws(CallError) -> Int {
      let count = layout.format.byteCount(of: plane, rows: layout.rows, columns: layout.columns)
      guard let count else { throw .tooLarge }
      return count
    }
    unsafe planes.pointee.codes_bytes = try byteCount(.codes)
    unsafe planes.pointee.scales_bytes = try byteCount(.scales)
    unsafe planes.pointee.minimums_bytes = try byteCount(.minimums)
  }
}

@c @implementation
package func afm_dequantize_row(
  _ matrix: UnsafePointer<afm_matrix>?, _ row: Int64, _ output: UnsafeMutablePointer<Float>?,
  _ outputBytes: Int
) -> afm_error {
  result { () throws(CallError) in
    let matrix = try unsafe MatrixMemory(matrix)
    let layout = matrix.layout
    guard row >= 0, row < layout.rows else { throw .rows }
    let place = try unsafe MemoryRange(
      output, byteCount: outputBytes, needed: layout.columns * 4, alignment: 4)
    try place.requireDisjoint(from: matrix.range)
    let number = Int(truncatingIfNeeded: row)
    let floats = unsafe place.mutableBase.assumingMemoryBound(to: Float.self)
    switch layout {
    case .rowTiles(let layout):
      // A row of the matrix, and room for its columns.
      unsafe layout.dequantize(
        row: number, codes: matrix.codes, scales: matrix.scales, into: floats)
    case .astcTiles(let layout):
      // The same; both planes are as long as the layout says.
      let codes = unsafe RawSpan(
        _unsafeStart: UnsafeRawPointer(matrix.codes), byteCount: layout.byteCount(of: .codes))
      let scales = unsafe RawSpan(
        _unsafeStart: UnsafeRawPointer(matrix.scales), byteCount: layout.byteCount(of: .scales))
      var output = unsafe MutableSpan(_unsafeStart: floats, count: layout.columns)
      do throws(ASTCLayoutError) {
        try layout.dequantize(row: number, codes: codes, scales: scales, into: &output)
      } catch {
        throw .planes
      }
    }
  }
}

@c @implementation
package func afm_check_matrix(
  _ matrix: UnsafePointer<afm_matrix>?, _ rowBegin: Int64, _ rowEnd: Int64
) -> afm_error {
  result { () throws(CallError) in
    let matrix = try unsafe MatrixMemory(matrix)
    let tiles = try matrix.tiles(rowBegin, rowEnd)
    let layout = matrix.layout
    // Both planes are as long as the layout says, and the caller's for the call.
    let codes = unsafe RawSpan(
      _unsafeStart: UnsafeRawPointer(matrix.codes), byteCount: layout.byteCount(of: .codes))
    let scales = unsafe RawSpan(
      _unsafeStart: UnsafeRawPointer(matrix.scales), byteCount: layout.byteCount(of: .scales))
    switch layout {
    case .rowTiles(let layout):
      do throws(PackedFormatError) {
        try layout.validate(codes: codes, scales: scales, tiles: tiles)
      } catch {
        throw .planes
      }
    case .astcTiles(let layout):
      do throws(ASTCLayoutError) {
        try layout.validate(codes: codes, scales: scales, bands: tiles)
      } catch {
        throw .planes
      }
    }
  }
}
