extension ASTCTileLayout {
  /// Checks planes that come from outside: whatever passes is what `write` makes of canonical
  /// blocks, and reads back as them.
  ///
  /// Throws the first fault by band and tile. About as slow as writing.
  ///
  /// - Parameter bands: which ones; all where nil.
  public func validate(
    codes: RawSpan, scales: RawSpan, bands: Range<Int>? = nil
  ) throws(ASTCLayoutError) {
    for (plane, found) in [(Plane.codes, codes.byteCount), (.scales, scales.byteCount)] {
      let expected = byteCount(of: plane)
      guard found == expected else {
        throw ASTCLayoutError(.byteCount(plane: plane, found: found, expected: expected))
      }
    }
    let bands = bands ?? 0..<bandCount
    precondition(0 <= bands.lowerBound && bands.upperBound <= bandCount, "no such bands")
    for band in bands {
      let bytes = codes.extracting(band * bandByteCount..<(band + 1) * bandByteCount)
      // The buffers live for the calls.
      try unsafe bytes.withUnsafeBytes { bytes throws(ASTCLayoutError) in
        try unsafe validateBand(band, bytes)
      }
      try unsafe scales.withUnsafeBytes { bytes throws(ASTCLayoutError) in
        try unsafe validateScales(bytes, band: band)
      }
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
      // What is found here gets its place and reason from the blocks themselves.
      if unsafe count < 16 || !isWhole(tile: tile, kind: kind, in: bytes) {
        try unsafe validateBlocks(tile: tile, kind: kind, band: band, in: bytes)
      }
      if format == .astc6x6HDR {
        try unsafe validateMinimums(tile: tile, kind: kind, band: band, in: bytes)
      }
    }
  }

  /// Checks a tile block by block.
  private func validateBlocks(
    tile: Int, kind: TileKind, band: Int, in bytes: UnsafeRawBufferPointer
  ) throws(ASTCLayoutError) {
    let count = rowCount(band: band)
    var modes: UInt8 = 0
    for row in 0..<count {
      modes |= try unsafe 1 << part(row: row, tile: tile, band: band, in: bytes).mode.rawValue
    }
    guard TileKind(modes: modes) == kind else {
      throw ASTCLayoutError(.needlessKind, band: band, tile: tile)
    }
    for row in count..<16 {
      let part = try unsafe part(row: row, tile: tile, band: band, in: bytes)
      guard part == .padding else {
        throw ASTCLayoutError(.padding, band: band, tile: tile, row: row)
      }
    }
  }

  /// Checks what an HDR tile has beside its blocks.
  private func validateMinimums(
    tile: Int, kind: TileKind, band: Int, in bytes: UnsafeRawBufferPointer
  ) throws(ASTCLayoutError) {
    let offset = offsets(tile: tile).side + 88
    // Eight bytes at the end of the tile's side record.
    let rows = unsafe UInt64(
      littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    guard rows >> (kind == .oneOrHDR ? 16 : 0) == 0 else {
      throw ASTCLayoutError(.padding, band: band, tile: tile)
    }
    for row in 0..<16 {
      let bits = unsafe minimumBits(row: row, tile: tile, in: bytes)
      guard bits & 0x7C00 != 0x7C00 else {
        throw ASTCLayoutError(.number, band: band, tile: tile, row: row)
      }
      guard row < rowCount(band: band) || bits == 0 else {
        throw ASTCLayoutError(.padding, band: band, tile: tile, row: row)
      }
    }
  }

  /// Whether a tile of 16 rows is without fault: the same rules, many codes at a time.
  private func isWhole(
    tile: Int, kind: TileKind, in bytes: UnsafeRawBufferPointer
  ) -> Bool {
    guard let base = bytes.baseAddress, kind != .oneOrHDR || profile.hasHDR else { return false }
    let (codes, side) = offsets(tile: tile)
    guard kind.isOfOne else {
      // Tiles lie inside the band by the layout's arithmetic.
      return unsafe hasWholeTriples(kind: kind, codes: base + codes, side: base + side)
    }
    /// A code of 6 or 7 has its upper two bits set. Of 192 bits of codes, the upper bits of the
    /// fields stand at 3k + 2.
    func hasLargeCode(_ offset: Int, stride: Int) -> Bool {
      let words = (
        unsafe word(base, offset), unsafe word(base, offset &+ stride),
        unsafe word(base, offset &+ 2 &* stride)
      )
      let found =
        words.0 & words.0 &<< 1 & 0x4924_9249_2492_4924
        | words.1 & (words.1 &<< 1 | words.0 &>> 63) & 0x2492_4924_9249_2492
        | words.2 & (words.2 &<< 1 | words.1 &>> 63) & 0x9249_2492_4924_9249
      return found != 0
    }
    // The kind below would do where no row needs this one.
    if unsafe kind == .oneOrHDR && Self.logarithmicRows(base + side) & 0xFFFF == 0 { return false }
    for lane in 0..<8 where hasLargeCode(codes &+ lane &* 8, stride: 64) { return false }
    return !hasLargeCode(side &+ 32, stride: 8)
  }

  /// The same for a tile of triples; its kind must be the one that its blocks need.
  private func hasWholeTriples(
    kind: TileKind, codes: UnsafeRawPointer, side: UnsafeRawPointer
  ) -> Bool {
    let tables = ASTCLayoutTables.shared
    var modes: UInt8 = 0
    for row in 0..<16 {
      let endpoints =
        unsafe UInt32(side.load(fromByteOffset: row, as: UInt8.self))
        | UInt32(side.load(fromByteOffset: 16 &+ row, as: UInt8.self)) &<< 8
      // Twelve bits from bit 12 · row on, in two bytes.
      let pair = unsafe UInt16(
        littleEndian: side.loadUnaligned(
          fromByteOffset: 32 &+ (row &* 3) / 2, as: UInt16.self))
      let tag = UInt64(pair &>> (row & 1 == 0 ? 0 : 4) & 0xFFF)
      guard let block = try? ASTCWeightBlock(tag: tag, sixteenBits: endpoints) else {
        return false
      }
      guard block.mode != .oneHDR || profile.hasHDR else { return false }
      modes |= 1 &<< block.mode.rawValue
      var flags: UInt8 = 0xFF
      for vector in 0..<3 {
        let word = unsafe UInt32(
          littleEndian: codes.loadUnaligned(
            fromByteOffset: vector &* 64 &+ row &* 4, as: UInt32.self))
        if block.mode.partitionCount == 3 {
          let high = word &>> 6
          let number = high & 3 | (high &>> 6) & 12 | (high &>> 12) & 16
          guard number < 20, high & 0x0302_0000 == 0 else { return false }
        } else {
          // 256 entries.
          unsafe flags &= tables.triples[Int(word & 0xFF)] & tables.triples[Int(word &>> 8 & 0xFF)]
          unsafe flags &= tables.triples[Int(word &>> 16 & 0xFF)] & tables.triples[Int(word &>> 24)]
        }
      }
      switch block.mode.partitionCount {
      case 1: guard flags & 1 != 0 else { return false }
      case 2:
        guard flags & 2 != 0 else { return false }
        for index in 0..<4 where block.number(index) > 11 { return false }
      default: for index in 0..<3 where block.number(index) > 19 { return false }
      }
    }
    return TileKind(modes: modes) == kind
  }

  @inline(__always)
  private func word(_ base: UnsafeRawPointer, _ offset: Int) -> UInt64 {
    unsafe UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// Checks a band's 16 scales; in HDR that of the tensor stands in every row.
  private func validateScales(
    _ bytes: UnsafeRawBufferPointer, band: Int
  ) throws(ASTCLayoutError) {
    func bits(_ row: Int) -> UInt32 {
      // Four bytes for every row of every band: the plane's byte count was checked.
      unsafe UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: row * 4, as: UInt32.self))
    }
    for row in band * 16..<band * 16 + 16 {
      let scale = Float(bitPattern: bits(row))
      let isWrong =
        row < rows
        ? scale.sign == .minus || !(scale <= format.largestScale)
          || (format == .astc6x6HDR && bits(row) != bits(0))
        : bits(row) != 0
      if isWrong {
        throw ASTCLayoutError(row < rows ? .number : .padding, band: row / 16, row: row % 16)
      }
    }
  }
}
