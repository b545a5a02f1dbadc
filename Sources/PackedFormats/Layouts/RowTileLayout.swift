/// The run-time layout of 2-, 4- and 8-bit codes: where every code and scale of a matrix lies, and
/// the conversions from and to canonical planes. Specified in <doc:RowTiles>.
///
/// Rows are interleaved in tiles of 16. Of a tile, 64 bytes hold 4 columns of its 16 rows, one
/// byte a code: byte 4·r + c is row r, column c. An 8-bit code lies there plus 128. Two 4-bit codes
/// share a byte, those of columns c and c + 4 (lowest bits first), and four 2-bit codes, those of
/// columns c, c + 4, c + 8 and c + 12. Rows are padded to 16, columns to 64.
///
/// Per-channel scales follow as 16 binary32 a tile, a per-tensor scale stands in the place of every
/// row's; per-group ones lie as 16 binary16 a tile and group, each followed by the 16 minimums where
/// the format has them. Padding is zero.
///
/// Pointers of the package's functions: the callers pass planes and storage of the byte counts that
/// the format and this layout give for the matrix; every address below is computed from a row, a
/// tile and a column inside.
public struct RowTileLayout: Hashable, Sendable {
  /// How the elements are stored.
  public let format: WeightFormat
  /// The output channels.
  public let rows: Int
  /// The input channels.
  public let columns: Int
  /// Bits of one code.
  let codeBitCount: Int

  /// Rows of a tile.
  public static let tileRowCount = 16

  /// Whether the layout holds a format: any with codes of 2, 4 or 8 bits.
  public static func holds(_ format: WeightFormat) -> Bool {
    format.codeBitCount.map { $0 <= 8 } ?? false
  }

  /// Nil where the layout does not hold the format, a dimension is not positive, or a byte count
  /// does not fit an `Int`.
  public init?(format: WeightFormat, rows: Int, columns: Int) {
    guard Self.holds(format), let codeBitCount = format.codeBitCount, rows > 0, columns > 0
    else { return nil }
    // With padding a row has at most 64 columns more, a tile 15 rows; a column takes at most one
    // byte of codes and four of scales and minimums.
    let paddedRows = rows.addingReportingOverflow(15)
    let paddedColumns = columns.addingReportingOverflow(63)
    let bytes = (paddedColumns.partialValue &+ 64).multipliedReportingOverflow(
      by: paddedRows.partialValue)
    guard !paddedRows.overflow, !paddedColumns.overflow, !bytes.overflow,
      bytes.partialValue < Int.max / 8, paddedColumns.partialValue < Int.max / 8
    else { return nil }
    self.format = format
    self.rows = rows
    self.columns = columns
    self.codeBitCount = codeBitCount
  }

  /// Tiles of 16 rows.
  public var tileCount: Int { (rows + 15) / 16 }
  /// Columns in units of 64.
  public var chunkCount: Int { (columns + 63) / 64 }
  /// Bytes of a tile's codes: 256, 512 or 1,024 for every 64 columns.
  public var codeTileBytes: Int { chunkCount * 64 * 16 * codeBitCount / 8 }
  /// Bytes of a tile's scales and minimums.
  public var scaleTileBytes: Int { groupCount * groupBytes }

  /// Bytes of a plane; minimums lie among the scales and have none of their own.
  public func byteCount(of plane: Plane) -> Int {
    switch plane {
    case .codes: tileCount * codeTileBytes
    case .scales: tileCount * scaleTileBytes
    case .minimums: 0
    }
  }

  /// Groups of a row with its padding; 1 where the scale is per-channel or per-tensor.
  var groupCount: Int { format.groupSize.map { chunkCount * 64 / $0 } ?? 1 }
  /// Groups of a row without padding.
  var usedGroupCount: Int { format.groupCount(columns: columns) }
  var hasMinimums: Bool { format.planes.contains(.minimums) }
  /// Bytes of one scale.
  var scaleBytes: Int { format.groupSize == nil ? 4 : 2 }
  /// Bytes of one group's scales (and minimums) of a tile.
  var groupBytes: Int { 16 * scaleBytes * (hasMinimums ? 2 : 1) }

  /// Bytes of a canonical row of codes.
  package var rowBytes: Int { (columns * codeBitCount + 7) / 8 }
  /// Words of a canonical row that codes fill.
  var wordCount: Int { columns * codeBitCount / 32 }

  /// The bits of a row's last, partial word that hold codes; 0 where rows end with a whole word.
  var lastWordMask: UInt32 {
    let bits = columns * codeBitCount - wordCount * 32
    return (1 << UInt32(bits)) - 1
  }

  package func deinterleaveCodes(
    _ storage: UnsafeRawPointer, into codes: UnsafeMutableRawBufferPointer, tile: Int
  ) {
    let base = unsafe storage + tile * codeTileBytes
    let permutation = CodePermutation(codeBitCount: codeBitCount)
    for r in 0..<min(16, rows - tile * 16) {
      let begin = (tile * 16 + r) * rowBytes
      for word in 0..<(rowBytes + 3) / 4 {
        let stored = unsafe (base + r * 4).load(fromByteOffset: word * 64, as: UInt32.self)
        var canonical = permutation.inverse(UInt32(littleEndian: stored))
        if word == wordCount { canonical &= lastWordMask }
        for byte in 0..<min(4, rowBytes - word * 4) {
          unsafe codes[begin + word * 4 + byte] = UInt8(
            truncatingIfNeeded: canonical >> UInt32(8 * byte))
        }
      }
    }
  }

  /// Part 0 are the scales, part 1 the minimums.
  package func deinterleaveScales(
    _ storage: UnsafeRawPointer, part: Int, into plane: UnsafeMutableRawBufferPointer, tile: Int
  ) {
    let base = unsafe storage + (tile * scaleTileBytes + part * 16 * scaleBytes)
    let count = usedGroupCount
    // A per-tensor scale is the first row's.
    let isShared = format.axis(of: .scales) == .tensor
    for r in 0..<min(isShared ? (tile == 0 ? 1 : 0) : 16, rows - tile * 16) {
      for group in 0..<count {
        let from = group * groupBytes + r * scaleBytes
        let to = ((tile * 16 + r) * count + group) * scaleBytes
        for byte in 0..<scaleBytes {
          unsafe plane[to + byte] = base.load(fromByteOffset: from + byte, as: UInt8.self)
        }
      }
    }
  }

  package func dequantize(
    row: Int, codes: UnsafeRawPointer, scales: UnsafeRawPointer,
    into output: UnsafeMutablePointer<Float>
  ) {
    let words = unsafe codes + (row / 16 * codeTileBytes + row % 16 * 4)
    let scaleRow = unsafe scales + (row / 16 * scaleTileBytes + row % 16 * scaleBytes)
    let bitCount = codeBitCount
    let permutation = CodePermutation(codeBitCount: bitCount)
    let codesPerWord = 32 / bitCount
    let codeMask: UInt32 = (1 << UInt32(bitCount)) - 1
    let zeroPoint: Float = bitCount == 2 ? 1.5 : format == .u4c ? 7.5 : 0
    let groupSize = format.groupSize ?? columns
    var column = 0
    while column < columns {
      let group = unsafe scaleRow + column / groupSize * groupBytes
      let scale =
        unsafe scaleBytes == 4
        ? group.load(as: Float.self) : HalfPrecision.float(bits: group.load(as: UInt16.self))
      let minimum =
        unsafe hasMinimums
        ? HalfPrecision.float(bits: (group + 32).load(as: UInt16.self)) : 0
      let end = min(columns, (column / groupSize + 1) * groupSize)
      // A group begins with a word: its columns are a multiple of 32.
      while column < end {
        let stored = unsafe words.load(
          fromByteOffset: column / codesPerWord * 64, as: UInt32.self)
        var word = permutation.inverse(UInt32(littleEndian: stored))
        for _ in 0..<min(codesPerWord, end - column) {
          let code = word & codeMask
          let number =
            bitCount == 8
            ? Float(Int8(truncatingIfNeeded: code)) : Float(Int32(code)) - zeroPoint
          unsafe output[column] = hasMinimums ? minimum + number * scale : number * scale
          word = bitCount == 8 ? word >> 8 : word >> UInt32(bitCount)
          column += 1
        }
      }
    }
  }
}
