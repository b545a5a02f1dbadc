import PackedFormats
import TensorCore

extension LoadedTensor {
  /// Rows in units that can be validated by themselves: tiles, or single rows.
  var validationUnitCount: Int {
    layout == .canonical
      ? shape.rowCount
      : (shape.rowCount + RowTileLayout.tileRowCount - 1) / RowTileLayout.tileRowCount
  }

  /// Holds the values of some units against the rules of format and layout.
  func validate(_ units: Range<Int>) throws(InputError) {
    if layout == .astcTiles { return try validateASTCTiles(units) }
    do {
      switch layout {
      case .canonical:
        try format.validate(
          planes.rows(units, columnCount: shape.columnCount, format: format),
          rowCount: units.count, columnCount: shape.columnCount, firstRow: units.lowerBound)
      case .rowTiles:
        guard
          let tiles = RowTileLayout(
            format: format, rows: shape.rowCount, columns: shape.columnCount)
        else { preconditionFailure("tiles of a format without them") }
        try tiles.validate(codes: codes, scales: scales, tiles: units)
      case .astcTiles: preconditionFailure("validated above")
      }
    } catch {
      throw fault(error)
    }
  }

  /// The tensor with its planes as its format defines them: itself where they are so already, else a
  /// copy. One pass on the calling thread.
  public func inCanonicalLayout() -> LoadedTensor {
    if layout == .astcTiles { return fromASTCTiles() }
    guard
      layout == .rowTiles,
      let tiles = RowTileLayout(format: format, rows: shape.rowCount, columns: shape.columnCount)
    else { return self }
    let counts = Plane.allCases.map {
      format.byteCount(of: $0, rows: shape.rowCount, columns: shape.columnCount) ?? 0
    }
    let storage = TensorStorage(byteCount: counts.reduce(0) { $0 + ($1 + 63) / 64 * 64 })
    var memory = [Memory?](repeating: nil, count: counts.count)
    var position = 0
    for plane in format.planes {
      let byteCount = counts[Int(plane.rawValue)]
      // The storage has room for all planes; this object keeps the tiles alive.
      let destination = unsafe UnsafeMutableRawBufferPointer(
        start: storage.storage.baseAddress + position, count: byteCount)
      for tile in 0..<tiles.tileCount {
        switch plane {
        case .codes:
          unsafe tiles.deinterleaveCodes(address(of: .codes), into: destination, tile: tile)
        case .scales, .minimums:
          unsafe tiles.deinterleaveScales(
            address(of: .scales), part: plane == .scales ? 0 : 1, into: destination, tile: tile)
        }
      }
      memory[Int(plane.rawValue)] = unsafe Memory(
        address: storage.storage.baseAddress + position, byteCount: byteCount)
      position += (byteCount + 63) / 64 * 64
    }
    return LoadedTensor(description, layout: .canonical, memory: memory, owner: storage)
  }
}
