import PackedFormats
import TensorCore

/// ASTC tensors between their canonical planes and the run-time layout.
extension LoadedTensor {
  private var tiles: ASTCTileLayout {
    guard
      let tiles = ASTCTileLayout(
        format: format, rows: shape.rowCount, columns: shape.columnCount)
    else { preconditionFailure("tiles of a format without them, or of more than can be addressed") }
    return tiles
  }

  /// Holds bands of tiles against the rules of the layout.
  func validateASTCTiles(_ bands: Range<Int>) throws(InputError) {
    do {
      try tiles.validate(codes: codes, scales: scales, bands: bands)
    } catch {
      throw InputError(
        place: "tensor \(name)", offset: description.stored(.codes)?.fileOffset,
        reason: error.description)
    }
  }

  /// Room for planes of some byte counts, one after the other; zero.
  private static func room(_ counts: [(plane: Plane, byteCount: Int)]) -> (
    TensorStorage, [Memory?]
  ) {
    let storage = TensorStorage(byteCount: counts.reduce(0) { $0 + ($1.byteCount + 63) / 64 * 64 })
    var memory = [Memory?](repeating: nil, count: Plane.allCases.count)
    var position = 0
    for (plane, byteCount) in counts {
      // The storage has room for all planes.
      memory[Int(plane.rawValue)] = unsafe Memory(
        address: storage.storage.baseAddress + position, byteCount: byteCount)
      position += (byteCount + 63) / 64 * 64
    }
    return (storage, memory)
  }

  /// The tensor in tiles, made on several threads of its canonical planes.
  ///
  /// Throws `refusal` with the first row and block that have no place there.
  func inASTCTiles(threads: Int) throws(ASTCTileLayout.Refusal) -> LoadedTensor {
    let tiles = tiles
    let (storage, memory) = Self.room([.codes, .scales].map { ($0, tiles.byteCount(of: $0)) })
    guard let codes = memory[Int(Plane.codes.rawValue)],
      let scales = memory[Int(Plane.scales.rawValue)]
    else { preconditionFailure("the room has both planes") }
    try WorkerGroup.forEach(tiles.bandCount, threads: threads, context: { () }) {
      [self] _, band throws(ASTCTileLayout.Refusal) in
      let rows = band * 16..<min(band * 16 + 16, shape.rowCount)
      // The planes of these rows, of this object, which outlives the call; a band's room, which no
      // other thread writes.
      let planes = planes.rows(rows, columnCount: shape.columnCount, format: format)
      let output = unsafe UnsafeMutableRawBufferPointer(
        start: codes.address + band * tiles.bandByteCount, count: tiles.bandByteCount)
      try unsafe planes.codes.withUnsafeBytes { blocks throws(ASTCTileLayout.Refusal) in
        try unsafe planes.minimums.withUnsafeBytes { minimums throws(ASTCTileLayout.Refusal) in
          try unsafe tiles.writeBand(band, blocks: blocks, minimums: minimums, into: output)
        }
      }
      let placed = unsafe UnsafeMutableRawBufferPointer(
        start: scales.address, count: scales.byteCount)
      unsafe bytes(of: .scales).withUnsafeBytes {
        unsafe tiles.writeScales($0, band: band, into: placed)
      }
    }
    return LoadedTensor(description, layout: .astcTiles, memory: memory, owner: storage)
  }

  /// The tensor with its canonical planes again; its tiles have been validated.
  func fromASTCTiles() -> LoadedTensor {
    let tiles = tiles
    let counts = format.planes.map { plane in
      let byteCount = format.byteCount(
        of: plane, rows: shape.rowCount, columns: shape.columnCount)
      // The tiles are larger than the canonical planes, and could be addressed.
      guard let byteCount else { preconditionFailure("planes too large to address") }
      return (plane, byteCount)
    }
    let (storage, memory) = Self.room(counts)
    func buffer(_ plane: Plane) -> UnsafeMutableRawBufferPointer {
      guard let memory = memory[Int(plane.rawValue)] else {
        return unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
      }
      return unsafe UnsafeMutableRawBufferPointer(start: memory.address, count: memory.byteCount)
    }
    let (blocks, minimums) = unsafe (buffer(.codes), buffer(.minimums))
    for band in 0..<tiles.bandCount {
      let rows = band * 16..<min(band * 16 + 16, shape.rowCount)
      let input = codes.extracting(band * tiles.bandByteCount..<(band + 1) * tiles.bandByteCount)
      // Rows of the planes whose byte counts were asked for above.
      let blockRows = unsafe UnsafeMutableRawBufferPointer(
        rebasing: blocks[
          rows.lowerBound * tiles.rowByteCount..<rows.upperBound * tiles.rowByteCount])
      let minimumBytes = tiles.blockCount * 2
      let minimumRows =
        unsafe minimums.isEmpty
        ? minimums
        : UnsafeMutableRawBufferPointer(
          rebasing: minimums[rows.lowerBound * minimumBytes..<rows.upperBound * minimumBytes])
      unsafe input.withUnsafeBytes { input in
        do {
          try unsafe tiles.readBand(band, from: input, blocks: blockRows, minimums: minimumRows)
        } catch {
          preconditionFailure("tiles that were validated: \(error)")
        }
      }
    }
    let scaleBytes = unsafe buffer(.scales)
    unsafe bytes(of: .scales).withUnsafeBytes { placed in
      // A number a row from the first on, or the first row's alone.
      unsafe scaleBytes.copyMemory(
        from: UnsafeRawBufferPointer(rebasing: placed[..<scaleBytes.count]))
    }
    return LoadedTensor(description, layout: .canonical, memory: memory, owner: storage)
  }
}
