/// Whole planes at once: for writers and tests; a loader goes piece by piece.
extension RowTileLayout {
  /// The tiles of a matrix.
  ///
  /// - Parameters: canonical planes; minimums are empty where the format has none.
  /// - Throws: a plane of another byte count, or nonzero bits behind the last code of a row.
  public func interleaved(
    codes: [UInt8], scales: [UInt8], minimums: [UInt8] = []
  ) throws(PackedFormatError) -> (codes: [UInt8], scales: [UInt8]) {
    for (plane, found) in [
      (Plane.codes, codes.count), (.scales, scales.count), (.minimums, minimums.count),
    ] {
      let expected = format.byteCount(of: plane, rows: rows, columns: columns) ?? 0
      guard found == expected else {
        throw PackedFormatError(.planeByteCount(found: found, expected: expected), plane: plane)
      }
    }
    var tiles = (
      codes: [UInt8](repeating: 0, count: byteCount(of: .codes)),
      scales: [UInt8](repeating: 0, count: byteCount(of: .scales))
    )
    var fault: Int?
    // Planes and tiles have the byte counts that format and layout give.
    unsafe tiles.codes.withUnsafeMutableBytes { tiles in
      unsafe codes.withUnsafeBytes { codes in
        guard let base = tiles.baseAddress else { return }
        fault = unsafe interleaveCodes(codes, at: 0, into: base)
      }
    }
    unsafe tiles.scales.withUnsafeMutableBytes { tiles in
      guard let base = tiles.baseAddress else { return }
      unsafe scales.withUnsafeBytes {
        unsafe interleaveScales($0, of: .scales, at: 0, into: base)
      }
      unsafe minimums.withUnsafeBytes {
        unsafe interleaveScales($0, of: .minimums, at: 0, into: base)
      }
    }
    if let fault {
      throw PackedFormatError(.nonzeroPadding, plane: .codes, row: fault, column: columns)
    }
    return tiles
  }

  /// The canonical planes of a matrix: what `interleaved` was given.
  ///
  /// - Throws: a plane of another byte count.
  public func canonical(
    codes: [UInt8], scales: [UInt8]
  ) throws(PackedFormatError) -> [Plane: [UInt8]] {
    for (plane, found) in [(Plane.codes, codes.count), (.scales, scales.count)] {
      guard found == byteCount(of: plane) else {
        throw PackedFormatError(
          .planeByteCount(found: found, expected: byteCount(of: plane)), plane: plane)
      }
    }
    var planes: [Plane: [UInt8]] = [:]
    for plane in format.planes {
      let count = format.byteCount(of: plane, rows: rows, columns: columns) ?? 0
      var bytes = [UInt8](repeating: 0, count: count)
      // Planes and tiles have the byte counts that format and layout give.
      unsafe bytes.withUnsafeMutableBytes { bytes in
        unsafe (plane == .codes ? codes : scales).withUnsafeBytes { tiles in
          guard let base = tiles.baseAddress else { return }
          for tile in 0..<tileCount {
            switch plane {
            case .codes: unsafe deinterleaveCodes(base, into: bytes, tile: tile)
            case .scales, .minimums:
              unsafe deinterleaveScales(
                base, part: plane == .scales ? 0 : 1, into: bytes, tile: tile)
            }
          }
        }
      }
      planes[plane] = bytes
    }
    return planes
  }
}
