/// The run-time layout of ASTC 6×6 weights: the parts of 16 rows' blocks side by side, so that a
/// kernel unpacks a code of each with one instruction. Specified in <doc:ASTCTiles>.
///
/// A *tile* holds 16 rows × 36 columns: one block of each row. Tiles of the same 16 rows follow one
/// another in *runs* of eight (fewer at the end of a row); all tiles of 16 rows are a *band*:
///
/// | bytes | of a band |
/// | --- | --- |
/// | blocks, padded to 64 | the kind of each tile |
/// | 192 · n | of each run of n tiles: the code vectors of its tiles |
/// | 56 · n (88 · n) | its tiles' side records: endpoints and tails, and minimums in HDR |
/// | 0–63 | padding |
///
/// Only blocks of the six ``ASTCWeightMode``s can be in it, and each comes back bit for bit; a
/// tensor with any other block stays canonical. 248 bytes a tile are 3.44 bits per weight, 288 in
/// HDR 4.00.
public struct ASTCTileLayout: Hashable, Sendable {
  /// `astc6x6LDR` or `astc6x6HDR`.
  public let format: WeightFormat
  /// The output channels.
  public let rows: Int
  /// The input channels.
  public let columns: Int

  /// Rows of a tile and of a band.
  public static let tileRowCount = 16
  /// Tiles of a run, but for the last of a band.
  public static let runTileCount = 8
  /// Bytes of a tile's three vectors of codes.
  static let codeByteCount = 192

  /// Nil for another format, a dimension that is not positive, or byte counts that do not fit an
  /// `Int`.
  public init?(format: WeightFormat, rows: Int, columns: Int) {
    guard format.isASTC, rows > 0, columns > 0 else { return nil }
    // A band has at most 354 bytes a block beside 126 of padding.
    let bytes = (columns / 36 &+ 2).multipliedReportingOverflow(by: 512)
    let total = bytes.partialValue.multipliedReportingOverflow(by: rows / 16 &+ 1)
    guard !bytes.overflow, !total.overflow else { return nil }
    self.format = format
    self.rows = rows
    self.columns = columns
  }

  /// Bands of 16 rows.
  public var bandCount: Int { rows / 16 + (rows % 16 == 0 ? 0 : 1) }
  /// Tiles of a band: blocks of a row.
  public var blockCount: Int { columns / 36 + (columns % 36 == 0 ? 0 : 1) }
  /// Bytes of a band of codes.
  public var bandByteCount: Int {
    Self.padded(kindByteCount + blockCount * (Self.codeByteCount + sideByteCount))
  }

  /// Bytes of a plane; minimums lie among the codes and have none of their own.
  public func byteCount(of plane: Plane) -> Int {
    switch plane {
    case .codes: bandCount * bandByteCount
    case .scales: bandCount * 64
    case .minimums: 0
    }
  }

  /// Codes and scales over the elements.
  public var totalBitsPerWeight: Double {
    Double(byteCount(of: .codes) + byteCount(of: .scales)) * 8 / (Double(rows) * Double(columns))
  }

  var profile: ASTCProfile { format == .astc6x6HDR ? .hdr : .ldr }
  /// Bytes of a tile's side record.
  var sideByteCount: Int { format == .astc6x6HDR ? 96 : 56 }
  /// Bytes of a band's kinds.
  var kindByteCount: Int { Self.padded(blockCount) }
  /// Bytes of a canonical row of blocks.
  package var rowByteCount: Int { blockCount * 16 }

  private static func padded(_ count: Int) -> Int { (count + 63) / 64 * 64 }

  /// Rows of a band that are not padding.
  func rowCount(band: Int) -> Int { min(16, rows - band * 16) }

  /// Where the codes and the side record of a tile begin in its band.
  @inline(__always)
  func offsets(tile: Int) -> (codes: Int, side: Int) {
    let first = tile / 8 * 8
    let count = min(8, blockCount - first)
    let run = kindByteCount + first * (Self.codeByteCount + sideByteCount)
    return (
      run + (tile - first) * Self.codeByteCount,
      run + count * Self.codeByteCount + (tile - first) * sideByteCount
    )
  }

  /// How the codes of a tile are stored.
  enum TileKind: UInt8 {
    /// All blocks are of mode `one`: codes of three bits.
    case one = 0
    /// Blocks of one partition, `oneHDR` among them: codes of three bits.
    case oneOrHDR = 1
    /// Blocks of at most two partitions: three codes a byte.
    case upToTwo = 2
    /// Blocks of any mode: three codes a byte.
    case any = 3

    /// The kind that a tile with blocks of these modes (bit 1 << raw value each) must have.
    init(modes: UInt8) {
      let one: UInt8 = 1 << ASTCWeightMode.one.rawValue
      let hdr: UInt8 = 1 << ASTCWeightMode.oneHDR.rawValue
      let three: UInt8 =
        1 << ASTCWeightMode.three.rawValue | 1 << ASTCWeightMode.threeOffset.rawValue
      self =
        modes == one
        ? .one : modes & ~(one | hdr) == 0 ? .oneOrHDR : modes & three == 0 ? .upToTwo : .any
    }

    /// Whether all blocks have one partition.
    var isOfOne: Bool { self == .one || self == .oneOrHDR }
  }
}
