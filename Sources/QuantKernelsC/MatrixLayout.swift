import PackedFormats

/// How a matrix lies in its memory: its rows' codes in tiles of 16, and behind them, at the next
/// multiple of 64, their scales.
enum MatrixLayout {
  case rowTiles(RowTileLayout)
  /// A tile of the rows is a band of ASTC tiles.
  case astcTiles(ASTCTileLayout)

  /// Nil where byte counts do not fit.
  init?(format: WeightFormat, rows: Int, columns: Int) {
    if let layout = ASTCTileLayout(format: format, rows: rows, columns: columns) {
      self = .astcTiles(layout)
    } else if let layout = RowTileLayout(format: format, rows: rows, columns: columns) {
      self = .rowTiles(layout)
    } else {
      return nil
    }
  }

  var format: WeightFormat {
    switch self {
    case .rowTiles(let layout): layout.format
    case .astcTiles(let layout): layout.format
    }
  }

  var rows: Int {
    switch self {
    case .rowTiles(let layout): layout.rows
    case .astcTiles(let layout): layout.rows
    }
  }

  var columns: Int {
    switch self {
    case .rowTiles(let layout): layout.columns
    case .astcTiles(let layout): layout.columns
    }
  }

  /// Tiles of 16 rows.
  var tileCount: Int {
    switch self {
    case .rowTiles(let layout): layout.tileCount
    case .astcTiles(let layout): layout.bandCount
    }
  }

  /// Columns in units that share a scale of the activations.
  var chunkCount: Int {
    switch self {
    case .rowTiles(let layout): layout.chunkCount
    case .astcTiles(let layout): layout.blockCount
    }
  }

  var codeTileBytes: Int {
    switch self {
    case .rowTiles(let layout): layout.codeTileBytes
    case .astcTiles(let layout): layout.bandByteCount
    }
  }

  var scaleTileBytes: Int {
    switch self {
    case .rowTiles(let layout): layout.scaleTileBytes
    case .astcTiles: 64
    }
  }

  func byteCount(of plane: Plane) -> Int {
    switch self {
    case .rowTiles(let layout): layout.byteCount(of: plane)
    case .astcTiles(let layout): layout.byteCount(of: plane)
    }
  }
}
