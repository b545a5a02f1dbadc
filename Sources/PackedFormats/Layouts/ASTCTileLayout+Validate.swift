extension ASTCTileLayout {
  /// Checks planes that come from outside: whatever passes is what `write` makes of canonical
  /// blocks, and reads back as them.
  ///
  /// Throws the first fault by band and tile. About as slow as writing.
  public func validate(codes: RawSpan, scales: RawSpan) throws(ASTCLayoutError) {
    for (plane, found) in [(Plane.codes, codes.byteCount), (.scales, scales.byteCount)] {
      let expected = byteCount(of: plane)
      guard found == expected else {
        throw ASTCLayoutError(.byteCount(plane: plane, found: found, expected: expected))
      }
    }
    for band in 0..<bandCount {
      let bytes = codes.extracting(band * bandByteCount..<(band + 1) * bandByteCount)
      // The buffer lives for the call.
      try unsafe bytes.withUnsafeBytes { bytes throws(ASTCLayoutError) in
        try unsafe validateBand(band, bytes)
      }
    }
    try unsafe scales.withUnsafeBytes { bytes throws(ASTCLayoutError) in
      try unsafe validateScales(bytes)
    }
  }

  /// Checks the `bandByteCount` bytes of a band.
  package func validateBand(
    _ band: Int, _ bytes: UnsafeRawBufferPointer
  ) throws(ASTCLayoutError) {
    precondition(bytes.count == bandByteCount, "not a band")
    let end = kindByteCount + blockCount * (Self.codeByteCount + sideByteCount)
    for range in [blockCount..<kindByteCount, end..<bandByteCount] {
      for index in range where unsafe bytes[index] != 0 {
        throw ASTCLayoutError(.padding, band: band)
      }
    }
    let count = rowCount(band: band)
    for tile in 0..<blockCount {
      guard let kind = unsafe TileKind(rawValue: bytes[tile]) else {
        throw ASTCLayoutError(.kind, band: band, tile: tile)
      }
      var modes: UInt8 = 0
      for row in 0..<count {
        modes |= try unsafe 1 << part(row: row, tile: tile, band: band, in: bytes).mode.rawValue
      }
      guard TileKind(modes: modes) == kind else {
        throw ASTCLayoutError(.needlessKind, band: band, tile: tile)
      }
      let empty = ASTCWeightBlock(mode: kind.paddingMode)
      for row in count..<16 {
        let part = try unsafe part(row: row, tile: tile, band: band, in: bytes)
        guard part == empty else {
          throw ASTCLayoutError(.padding, band: band, tile: tile, row: row)
        }
      }
      guard format == .astc6x6HDR else { continue }
      for row in 0..<16 {
        let bits = unsafe minimumBits(row: row, tile: tile, in: bytes)
        guard bits & 0x7C00 != 0x7C00 else {
          throw ASTCLayoutError(.number, band: band, tile: tile, row: row)
        }
        guard row < count || bits == 0 else {
          throw ASTCLayoutError(.padding, band: band, tile: tile, row: row)
        }
      }
    }
  }

  /// Checks all scales: 16 binary32 a band, in HDR that of the tensor in every row.
  private func validateScales(_ bytes: UnsafeRawBufferPointer) throws(ASTCLayoutError) {
    func bits(_ row: Int) -> UInt32 {
      // Four bytes for every row of every band: the plane's byte count was checked.
      unsafe UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: row * 4, as: UInt32.self))
    }
    for row in 0..<bandCount * 16 {
      let scale = Float(bitPattern: bits(row))
      let isWrong =
        row < rows
        ? !scale.isFinite || scale.sign == .minus || (format == .astc6x6HDR && bits(row) != bits(0))
        : bits(row) != 0
      if isWrong {
        throw ASTCLayoutError(row < rows ? .number : .padding, band: row / 16, row: row % 16)
      }
    }
  }
}
