/// Why bytes are not those of an ``ASTCTileLayout``.
public struct ASTCLayoutError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong.
  public enum Reason: Hashable, Sendable {
    /// A plane that is not as long as its dimensions say.
    case byteCount(plane: Plane, found: Int, expected: Int)
    /// A kind of tile that does not exist, or not in this profile.
    case kind
    /// A kind of tile that its blocks do not need.
    case needlessKind
    /// A block that is not of the layout's modes, in words.
    case block(String)
    /// Bytes of padding that are not zero.
    case padding
    /// A scale that is not finite, negative, too large, or not that of its tensor; or a minimum
    /// that is not finite.
    case number
  }

  /// What is wrong.
  public var reason: Reason
  /// The 16 rows it is in; nil where a whole plane is meant.
  public var band: Int?
  /// The 36 columns it is in; nil where a whole band is meant.
  public var tile: Int?
  /// The row of the band; nil where a whole tile is meant.
  public var row: Int?

  init(_ reason: Reason, band: Int? = nil, tile: Int? = nil, row: Int? = nil) {
    self.reason = reason
    self.band = band
    self.tile = tile
    self.row = row
  }

  /// One line: `row 35, block 2: a code outside its range`.
  public var description: String {
    let words: String =
      switch reason {
      case .byteCount(let plane, let found, let expected):
        "plane \(plane) has \(found) bytes instead of \(expected)"
      case .kind: "an unknown kind of tile"
      case .needlessKind: "a kind of tile that its blocks do not need"
      case .block(let words): words
      case .padding: "padding that is not zero"
      case .number: "a scale or minimum that the format forbids"
      }
    guard let band else { return words }
    let rows = row.map { "row \(band * 16 + $0)" } ?? "rows \(band * 16) to \(band * 16 + 15)"
    return (tile.map { "\(rows), block \($0)" } ?? rows) + ": " + words
  }
}
