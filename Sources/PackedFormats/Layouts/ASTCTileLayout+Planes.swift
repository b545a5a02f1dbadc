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
    var tileCodes = [UInt8](repeating: 0, count: byteCount(of: .codes))
    var tileScales = [UInt8](repeating: 0, count: byteCount(of: .scales))
    for band in 0..<bandCount {
      let rows = band * 16..<band * 16 + rowCount(band: band)
      do {
        var span = tileCodes.mutableSpan
        // Bytes have no padding. A band of the tiles, and its rows of planes whose byte counts were
        // checked.
        var output = unsafe span.mutableBytes
        var part = output._mutatingExtracting(band * bandByteCount..<(band + 1) * bandByteCount)
        let blocks = unsafe Self.rows(rows, of: codes.span.bytes, byteCount: rowByteCount)
        let numbers = unsafe Self.rows(rows, of: minimums.span.bytes, byteCount: minimumBytes)
        try unsafe part.withUnsafeMutableBytes { part throws(Refusal) in
          try unsafe blocks.withUnsafeBytes { blocks throws(Refusal) in
            try unsafe numbers.withUnsafeBytes { numbers throws(Refusal) in
              try unsafe writeBand(band, blocks: blocks, minimums: numbers, into: part)
            }
          }
        }
      }
      unsafe tileScales.withUnsafeMutableBytes { placed in
        unsafe scales.withUnsafeBytes { unsafe writeScales($0, band: band, into: placed) }
      }
    }
    return (tileCodes, tileScales)
  }

  @_lifetime(copy plane)
  private static func rows(_ rows: Range<Int>, of plane: RawSpan, byteCount: Int) -> RawSpan {
    plane.extracting(rows.lowerBound * byteCount..<rows.upperBound * byteCount)
  }
}
