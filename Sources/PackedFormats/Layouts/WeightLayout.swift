/// How the bytes of a tensor's planes are arranged. The raw value is the layout's number in a file.
///
/// The canonical layout is what formats are specified in and what files exchange; the others are
/// lossless rearrangements of it that kernels read without unpacking first.
public enum WeightLayout: UInt16, CaseIterable, Hashable, Sendable {
  /// Planes as `Plane` describes them: rows one after another.
  case canonical = 0
  /// Rows interleaved in tiles of 16: ``RowTileLayout``.
  case rowTiles = 1
  /// The parts of ASTC blocks in tiles of 16 rows: ``ASTCTileLayout``. Blocks that the encoder does
  /// not write have no place in it. Number 2 was another arrangement of them and is no more.
  case astcTiles = 3

  /// The name in listings.
  public var name: String {
    switch self {
    case .canonical: "canonical"
    case .rowTiles: "row-tiles"
    case .astcTiles: "astc-tiles"
    }
  }

  /// The planes of a tensor of that format in this layout, in file order; empty where the layout
  /// does not hold the format.
  public func planes(of format: WeightFormat) -> [Plane] {
    switch self {
    case .canonical: format.planes
    case .rowTiles: RowTileLayout.holds(format) ? [.codes, .scales] : []
    case .astcTiles: format.isASTC ? [.codes, .scales] : []
    }
  }

  /// Bytes of a plane of a rows × columns tensor in this layout, or nil where the layout does not
  /// hold the format or the product does not fit an `Int`. 0 for a plane that it does not have.
  public func byteCount(
    of plane: Plane, format: WeightFormat, rows: Int, columns: Int
  ) -> Int? {
    switch self {
    case .canonical: return format.byteCount(of: plane, rows: rows, columns: columns)
    case .rowTiles:
      guard let layout = RowTileLayout(format: format, rows: rows, columns: columns) else {
        return nil
      }
      return layout.byteCount(of: plane)
    case .astcTiles:
      return ASTCTileLayout(format: format, rows: rows, columns: columns)?.byteCount(of: plane)
    }
  }
}

extension WeightFormat {
  /// The layout that kernels read this format in; nil where it runs, if at all, as it is stored.
  public var kernelLayout: WeightLayout? {
    isASTC ? .astcTiles : RowTileLayout.holds(self) ? .rowTiles : nil
  }
}
