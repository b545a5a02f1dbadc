import PackedFormats
import TensorCore

/// Matrices in ASTC tiles.
extension PackedMatrix {
  /// Makes tiles of canonical planes, on the calling thread.
  convenience init(
    _ layout: ASTCTileLayout, codes: RawSpan, scales: RawSpan, minimums: RawSpan
  ) throws(InputError) {
    let memory = ASTCTileMemory(layout)
    do {
      try memory.write(layout, codes: codes, scales: scales, minimums: minimums)
    } catch {
      throw InputError(place: "codes", reason: "\(error)")
    }
    do {
      // Blocks are whole once they are written; scales and minimums have to be finite.
      try memory.validate(layout)
    } catch {
      throw InputError(place: "scales", reason: error.description)
    }
    // The planes are the memory's, which lives as long as the matrix.
    unsafe self.init(
      layout, codes: UnsafeRawPointer(memory.codes.baseAddress),
      scales: UnsafeRawPointer(memory.scales.baseAddress), owner: memory)
  }

  /// A canonical plane out of tiles.
  func unpackBlocks(_ plane: Plane) -> [UInt8] {
    guard case .astcTiles(let layout) = layout else { preconditionFailure("no ASTC tiles") }
    let blockCount = layout.blockCount
    let minimumBytes = format == .astc6x6HDR ? blockCount * 2 : 0
    var blocks = [UInt8](repeating: 0, count: rowCount * blockCount * 16)
    var minimums = [UInt8](repeating: 0, count: rowCount * minimumBytes)
    unsafe blocks.withUnsafeMutableBytes { blocks in
      unsafe minimums.withUnsafeMutableBytes { minimums in
        for band in 0..<layout.bandCount {
          let rows = band * 16..<min(band * 16 + 16, rowCount)
          // A band of the plane, and its rows of arrays that hold all of them.
          let bytes = unsafe UnsafeRawBufferPointer(
            start: codes + band * codeTileBytes, count: codeTileBytes)
          let blockRows = unsafe UnsafeMutableRawBufferPointer(
            rebasing: blocks[
              rows.lowerBound * blockCount * 16..<rows.upperBound * blockCount * 16])
          let minimumRows = unsafe UnsafeMutableRawBufferPointer(
            rebasing: minimums[
              rows.lowerBound * minimumBytes..<rows.upperBound * minimumBytes])
          do {
            try unsafe layout.readBand(
              band, from: bytes, blocks: blockRows, minimums: minimumRows)
          } catch {
            preconditionFailure("tiles that were validated: \(error)")
          }
        }
      }
    }
    switch plane {
    case .codes: return blocks
    case .minimums: return minimums
    case .scales:
      let byteCount = format.byteCount(of: .scales, rows: rowCount, columns: columnCount) ?? 0
      // A number a row from the first on, or the first row's alone.
      return unsafe [UInt8](UnsafeRawBufferPointer(start: scales, count: byteCount))
    }
  }

  /// Writes a row's `columnCount` values.
  func dequantize(
    row: Int, of layout: ASTCTileLayout, into output: UnsafeMutablePointer<Float>
  ) {
    // The planes have the layout's byte counts, and the output `columnCount` floats.
    let codes = unsafe RawSpan(
      _unsafeStart: self.codes, byteCount: layout.byteCount(of: .codes))
    let scales = unsafe RawSpan(
      _unsafeStart: self.scales, byteCount: layout.byteCount(of: .scales))
    var values = unsafe MutableSpan(_unsafeStart: output, count: columnCount)
    do {
      try layout.dequantize(row: row, codes: codes, scales: scales, into: &values)
    } catch {
      // The tiles were validated, but a mapped file can change after that.
      for column in 0..<columnCount { values[column] = .nan }
    }
  }
}

/// Memory for both planes of tiles.
private final class ASTCTileMemory: Sendable {
  let codes: AlignedStorage
  let scales: AlignedStorage

  init(_ layout: ASTCTileLayout) {
    codes = AlignedStorage(byteCount: layout.byteCount(of: .codes), prefersHugePages: true)
    scales = AlignedStorage(byteCount: layout.byteCount(of: .scales))
  }

  /// Holds what was written against the rules of the layout.
  func validate(_ layout: ASTCTileLayout) throws(ASTCLayoutError) {
    // The planes are this object's, which outlives the call.
    let (codeStart, scaleStart) = unsafe (
      UnsafeRawPointer(codes.baseAddress), UnsafeRawPointer(scales.baseAddress)
    )
    let codeBytes = unsafe UnsafeRawBufferPointer(
      start: codeStart, count: layout.byteCount(of: .codes))
    let scaleBytes = unsafe UnsafeRawBufferPointer(
      start: scaleStart, count: layout.byteCount(of: .scales))
    try unsafe layout.validate(codes: codeBytes.bytes, scales: scaleBytes.bytes)
  }

  /// Writes both planes, all bands.
  func write(
    _ layout: ASTCTileLayout, codes: RawSpan, scales: RawSpan, minimums: RawSpan
  ) throws(ASTCTileLayout.Refusal) {
    // The byte counts of the canonical planes were checked; every range below is inside of them.
    let rowBytes = layout.rowByteCount
    let minimumBytes = layout.format == .astc6x6HDR ? layout.blockCount * 2 : 0
    for band in 0..<layout.bandCount {
      let rows = band * 16..<min(band * 16 + 16, layout.rows)
      let blocks = codes.extracting(rows.lowerBound * rowBytes..<rows.upperBound * rowBytes)
      let numbers = minimums.extracting(
        rows.lowerBound * minimumBytes..<rows.upperBound * minimumBytes)
      let output = unsafe UnsafeMutableRawBufferPointer(
        start: self.codes.baseAddress + band * layout.bandByteCount, count: layout.bandByteCount)
      try unsafe blocks.withUnsafeBytes { blocks throws(ASTCTileLayout.Refusal) in
        try unsafe numbers.withUnsafeBytes { numbers throws(ASTCTileLayout.Refusal) in
          try unsafe layout.writeBand(band, blocks: blocks, minimums: numbers, into: output)
        }
      }
      let placed = unsafe UnsafeMutableRawBufferPointer(
        start: self.scales.baseAddress, count: layout.byteCount(of: .scales))
      unsafe scales.withUnsafeBytes { unsafe layout.writeScales($0, band: band, into: placed) }
    }
  }
}
