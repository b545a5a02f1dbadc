/// Whole planes at once: for writers and tests; a loader goes band by band.
extension ASTCTileLayout {
  /// The planes of a tensor in tiles.
  ///
  /// - Parameters: canonical planes of the byte counts that the format gives; minimums are empty in
  ///   LDR.
  /// - Throws: the first block that the layout does not hold.
  package func tiles(
    codes: [UInt8], scales: [UInt8], minimums: [UInt8] = []
  ) throws(Refusal) -> (codes: [UInt8], scales: [UInt8]) {
    let minimumBytes = format == .astc6x6HDR ? blockCount * 2 : 0
    precondition(
      codes.count == rows * rowByteCount && minimums.count == rows * minimumBytes,
      "not the tensor's planes")
    var tiles = (
      codes: [UInt8](repeating: 0, count: byteCount(of: .codes)),
      scales: [UInt8](repeating: 0, count: byteCount(of: .scales))
    )
    for band in 0..<bandCount {
      let rows = band * 16..<band * 16 + rowCount(band: band)
      // A band of the plane of tiles, and its rows of planes whose byte counts were checked.
      try unsafe tiles.codes.withUnsafeMutableBytes { tiles throws(Refusal) in
        try unsafe codes.withUnsafeBytes { codes throws(Refusal) in
          try unsafe minimums.withUnsafeBytes { minimums throws(Refusal) in
            try unsafe writeBand(
              band,
              blocks: Self.rows(rows, of: codes, byteCount: rowByteCount),
              minimums: Self.rows(rows, of: minimums, byteCount: minimumBytes),
              into: UnsafeMutableRawBufferPointer(
                rebasing: tiles[band * bandByteCount..<(band + 1) * bandByteCount]))
          }
        }
      }
      unsafe tiles.scales.withUnsafeMutableBytes { placed in
        unsafe scales.withUnsafeBytes { unsafe writeScales($0, band: band, into: placed) }
      }
    }
    return tiles
  }

  private static func rows(
    _ rows: Range<Int>, of plane: UnsafeRawBufferPointer, byteCount: Int
  ) -> UnsafeRawBufferPointer {
    // The caller has checked that the plane has so many bytes for every row.
    unsafe UnsafeRawBufferPointer(
      rebasing: plane[rows.lowerBound * byteCount..<rows.upperBound * byteCount])
  }
}
