import CQuantKernels
import PackedFormats

extension MatrixMemory {
  /// Zeroes the tiles: packing leaves their padding alone.
  fileprivate func clear(_ tiles: Range<Int>) {
    let (codeBytes, scaleBytes) = (layout.codeTileBytes, layout.scaleTileBytes)
    unsafe (codes + tiles.lowerBound * codeBytes).initializeMemory(
      as: UInt8.self, repeating: 0, count: tiles.count * codeBytes)
    unsafe (scales + tiles.lowerBound * scaleBytes).initializeMemory(
      as: UInt8.self, repeating: 0, count: tiles.count * scaleBytes)
  }

  /// Brings planes of whole rows, that begin with a tile, to their places.
  fileprivate func interleave(
    _ layout: RowTileLayout, firstRow: Int, codes canonical: UnsafeRawBufferPointer,
    scales: UnsafeRawBufferPointer, minimums: UnsafeRawBufferPointer
  ) {
    let format = layout.format
    func offset(_ plane: Plane) -> Int {
      // Below the plane's byte count, which fits.
      format.byteCount(of: plane, rows: firstRow, columns: layout.columns) ?? 0
    }
    _ = unsafe layout.interleaveCodes(canonical, at: offset(.codes), into: codes)
    unsafe layout.interleaveScales(scales, of: .scales, at: offset(.scales), into: self.scales)
    unsafe layout.interleaveScales(
      minimums, of: .minimums, at: offset(.minimums), into: self.scales)
  }

  /// Lays blocks of whole bands out as tiles. What a band holds after an error means nothing.
  fileprivate func layOut(
    _ layout: ASTCTileLayout, _ bands: Range<Int>, blocks: UnsafeRawBufferPointer,
    scales: UnsafeRawBufferPointer, minimums: UnsafeRawBufferPointer
  ) throws(CallError) {
    let isShared = layout.format == .astc6x6HDR
    for band in bands {
      let first = (band - bands.lowerBound) * 16
      let count = min(16, layout.rows - band * 16)
      // The band's rows of planes that were checked to have them, and its place in the memory.
      func part(_ plane: UnsafeRawBufferPointer, _ rowBytes: Int) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(
          rebasing: plane[first * rowBytes..<(first + count) * rowBytes])
      }
      let output = unsafe UnsafeMutableRawBufferPointer(
        start: codes + band * layout.bandByteCount, count: layout.bandByteCount)
      do throws(ASTCTileLayout.Refusal) {
        try unsafe layout.writeBand(
          band, blocks: part(blocks, layout.blockCount * 16),
          minimums: part(minimums, isShared ? layout.blockCount * 2 : 0), into: output)
      } catch {
        throw .blocks
      }
      for row in 0..<count {
        let offset = isShared ? 0 : (first + row) * 4
        let bits = unsafe scales.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        unsafe (self.scales + (band * 64 + row * 4)).storeBytes(of: bits, as: UInt32.self)
      }
    }
  }

  /// Bytes of a plane of some rows.
  fileprivate func byteCount(of plane: Plane, rows: Int) -> Int {
    // At most the rows of the layout, whose byte counts fit.
    layout.format.byteCount(of: plane, rows: rows, columns: layout.columns) ?? 0
  }
}

/// Planes of one tile, before they are interleaved.
private struct TilePlanes {
  let codes: [UInt8]
  let scales: [UInt8]
  let minimums: [UInt8]

  /// Quantizes some rows.
  init(
    _ weights: UnsafeBufferPointer<Float>, rows: Int, as format: WeightFormat, columns: Int,
    _ options: QuantizationOptions
  ) throws(CallError) {
    func room(_ plane: Plane) -> [UInt8] {
      // At most 16 rows of a matrix, all of which fit.
      let count = format.byteCount(of: plane, rows: rows, columns: columns) ?? 0
      return [UInt8](repeating: 0, count: count)
    }
    var codes = room(.codes)
    var scales = room(.scales)
    var minimums = room(.minimums)
    do throws(PackedFormatError) {
      var codeSpan = codes.mutableSpan
      var scaleSpan = scales.mutableSpan
      var minimumSpan = minimums.mutableSpan
      // Any bytes are valid elements.
      var planes = unsafe MutablePackedPlanes(
        codes: codeSpan.mutableBytes, scales: scaleSpan.mutableBytes,
        minimums: minimumSpan.mutableBytes)
      try unsafe format.quantize(
        weights.span, rowCount: rows, columnCount: columns, options: options, into: &planes)
    } catch {
      throw .weight
    }
    self.codes = codes
    self.scales = scales
    self.minimums = minimums
  }
}

/// A caller's options.
private func quantizationOptions(
  _ options: UnsafePointer<afm_pack_options>?, columns: Int
) throws(CallError) -> QuantizationOptions {
  var chosen = QuantizationOptions()
  guard let options = unsafe options?.pointee else { return chosen }
  switch unsafe options.fit {
  case 0: break
  case 1: chosen.scaleFit = .absoluteMaximum
  case 2: chosen.scaleFit = .meanSquare
  default: throw .option
  }
  guard let importance = unsafe options.importance else { return chosen }
  let range = try unsafe MemoryRange(
    importance, byteCount: options.importance_bytes, needed: columns * 4, alignment: 4)
  var values = [Float](repeating: 0, count: columns)
  for column in 0..<columns {
    let value = unsafe range.base.load(fromByteOffset: column * 4, as: Float.self)
    guard value > 0, value < .infinity else { throw .option }
    values[column] = value
  }
  chosen.importance = values
  return chosen
}

@c @implementation
package func afm_pack(
  _ matrix: UnsafePointer<afm_matrix>?, _ rowBegin: Int64, _ rowEnd: Int64,
  _ weights: UnsafePointer<Float>?, _ weightsBytes: Int,
  _ options: UnsafePointer<afm_pack_options>?
) -> afm_error {
  result { () throws(CallError) in
    let matrix = try unsafe MatrixMemory(matrix)
    // The encoder of ASTC blocks is not in this library.
    guard case .rowTiles(let layout) = matrix.layout else { throw .format }
    let tiles = try matrix.tiles(rowBegin, rowEnd)
    let rowCount = Int(truncatingIfNeeded: rowEnd - rowBegin)
    // At most 2^31 · 2^17 floats.
    let source = try unsafe MemoryRange(
      weights, byteCount: weightsBytes, needed: rowCount * layout.columns * 4, alignment: 4)
    try source.requireDisjoint(from: matrix.range)
    let options = try unsafe quantizationOptions(options, columns: layout.columns)
    matrix.clear(tiles)
    for tile in tiles {
      let rows = min(16, layout.rows - tile * 16)
      // The tile's rows of the source, which the check above covers.
      let start = unsafe source.base + (tile - tiles.lowerBound) * 16 * layout.columns * 4
      let floats = unsafe UnsafeBufferPointer(
        start: start.assumingMemoryBound(to: Float.self), count: rows * layout.columns)
      let planes = try unsafe TilePlanes(
        floats, rows: rows, as: layout.format, columns: layout.columns, options)
      unsafe planes.codes.withUnsafeBytes { codes in
        unsafe planes.scales.withUnsafeBytes { scales in
          unsafe planes.minimums.withUnsafeBytes { minimums in
            unsafe matrix.interleave(
              layout, firstRow: tile * 16, codes: codes, scales: scales, minimums: minimums)
          }
        }
      }
    }
  }
}

@c @implementation
package func afm_pack_planes(
  _ matrix: UnsafePointer<afm_matrix>?, _ rowBegin: Int64, _ rowEnd: Int64,
  _ planes: UnsafePointer<afm_planes>?
) -> afm_error {
  result { () throws(CallError) in
    let matrix = try unsafe MatrixMemory(matrix)
    let layout = matrix.layout
    let tiles = try matrix.tiles(rowBegin, rowEnd)
    guard let planes = unsafe planes?.pointee else { throw .null }
    let rowCount = Int(truncatingIfNeeded: rowEnd - rowBegin)
    func plane(
      _ plane: Plane, _ pointer: UnsafeRawPointer?, _ byteCount: Int
    ) throws(CallError) -> UnsafeRawBufferPointer {
      let needed = matrix.byteCount(of: plane, rows: rowCount)
      if needed == 0 { return unsafe UnsafeRawBufferPointer(start: nil, count: 0) }
      let range = try unsafe MemoryRange(
        pointer, byteCount: byteCount, needed: needed, alignment: 1)
      try range.requireDisjoint(from: matrix.range)
      return unsafe UnsafeRawBufferPointer(start: range.base, count: needed)
    }
    let codes = try unsafe plane(.codes, planes.codes, planes.codes_bytes)
    let scales = try unsafe plane(.scales, planes.scales, planes.scales_bytes)
    let minimums = try unsafe plane(.minimums, planes.minimums, planes.minimums_bytes)
    do throws(PackedFormatError) {
      // The buffers outlive the call.
      try unsafe layout.format.validate(
        PackedPlanes(codes: codes.bytes, scales: scales.bytes, minimums: minimums.bytes),
        rowCount: rowCount, columnCount: layout.columns)
    } catch {
      throw .planes
    }
    matrix.clear(tiles)
    switch layout {
    case .rowTiles(let layout):
      unsafe matrix.interleave(
        layout, firstRow: tiles.lowerBound * 16, codes: codes, scales: scales, minimums: minimums)
    case .astcTiles(let layout):
      try unsafe matrix.layOut(layout, tiles, blocks: codes, scales: scales, minimums: minimums)
    }
  }
}
