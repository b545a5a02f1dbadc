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
  /// Whole words of a canonical row of codes.
  var wordCount: Int { rowBytes / 4 }

  /// 32 bits of canonical codes to the four bytes of a row in a vector.
  @inline(__always) func interleave(_ word: UInt32) -> UInt32 {
    switch codeBitCount {
    case 8: word ^ 0x8080_8080
    case 4: swap(swap(word, 8, 0x0000_FF00), 4, 0x00F0_00F0)
    default: swap(swap(word, 6, 0x00CC_00CC), 12, 0x0000_F0F0)
    }
  }

  /// The way back.
  @inline(__always) func deinterleave(_ word: UInt32) -> UInt32 {
    switch codeBitCount {
    case 8: word ^ 0x8080_8080
    case 4: swap(swap(word, 4, 0x00F0_00F0), 8, 0x0000_FF00)
    default: swap(swap(word, 12, 0x0000_F0F0), 6, 0x00CC_00CC)
    }
  }

  /// Exchanges the bits under `mask` with those `distance` above them.
  @inline(__always)
  private func swap(_ word: UInt32, _ distance: UInt32, _ mask: UInt32) -> UInt32 {
    let difference = (word ^ (word >> distance)) & mask
    return word ^ difference ^ (difference << distance)
  }

  /// The last bytes of a canonical row that fill no word; the bits after the last code are zero.
  private func lastWord(_ row: UnsafeRawPointer) -> UInt32 {
    var word: UInt32 = 0
    for byte in wordCount * 4..<rowBytes {
      word |= unsafe UInt32(row.load(fromByteOffset: byte, as: UInt8.self)) << (8 * (byte % 4))
    }
    return word & lastWordMask
  }

  var lastWordMask: UInt32 {
    let bits = columns * codeBitCount - wordCount * 32
    return (1 << UInt32(bits)) - 1
  }

  package func interleaveCodes(
    _ codes: UnsafeRawBufferPointer, into storage: UnsafeMutableRawPointer, tile: Int
  ) {
    guard let codes = codes.baseAddress else { return }
    let base = unsafe storage + tile * codeTileBytes
    for r in 0..<min(16, rows - tile * 16) {
      let row = unsafe codes + (tile * 16 + r) * rowBytes
      let to = unsafe base + r * 4
      for word in 0..<wordCount {
        let canonical = unsafe row.loadUnaligned(fromByteOffset: word &* 4, as: UInt32.self)
        unsafe to.storeBytes(
          of: interleave(UInt32(littleEndian: canonical)).littleEndian,
          toByteOffset: word &* 64, as: UInt32.self)
      }
      if wordCount * 4 < rowBytes {
        unsafe to.storeBytes(
          of: interleave(lastWord(row)).littleEndian, toByteOffset: wordCount * 64,
          as: UInt32.self)
      }
    }
  }

  package func deinterleaveCodes(
    _ storage: UnsafeRawPointer, into codes: UnsafeMutableRawBufferPointer, tile: Int
  ) {
    let base = unsafe storage + tile * codeTileBytes
    for r in 0..<min(16, rows - tile * 16) {
      let begin = (tile * 16 + r) * rowBytes
      for word in 0..<(rowBytes + 3) / 4 {
        let stored = unsafe (base + r * 4).load(fromByteOffset: word * 64, as: UInt32.self)
        var canonical = deinterleave(UInt32(littleEndian: stored))
        if word == wordCount { canonical &= lastWordMask }
        for byte in 0..<min(4, rowBytes - word * 4) {
          unsafe codes[begin + word * 4 + byte] = UInt8(
            truncatingIfNeeded: canonical >> UInt32(8 * byte))
        }
      }
    }
  }

  package func interleaveScales(
    _ scales: UnsafeRawBufferPointer, _ minimums: UnsafeRawBufferPointer,
    into storage: UnsafeMutableRawPointer, tile: Int
  ) {
    let base = unsafe storage + tile * scaleTileBytes
    let count = usedGroupCount
    let isShared = format.axis(of: .scales) == .tensor
    for r in 0..<min(16, rows - tile * 16) {
      for group in 0..<count {
        let from = isShared ? 0 : ((tile * 16 + r) * count + group) * scaleBytes
        let to = unsafe base + (group * groupBytes + r * scaleBytes)
        if scaleBytes == 4 {
          unsafe to.storeBytes(
            of: scales.loadUnaligned(fromByteOffset: from, as: UInt32.self), as: UInt32.self)
          continue
        }
        unsafe to.storeBytes(
          of: scales.loadUnaligned(fromByteOffset: from, as: UInt16.self), as: UInt16.self)
        if hasMinimums {
          unsafe (to + 32).storeBytes(
            of: minimums.loadUnaligned(fromByteOffset: from, as: UInt16.self), as: UInt16.self)
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
    let codesPerWord = 32 / bitCount
    let codeMask: UInt32 = (1 << UInt32(bitCount)) - 1
    let zeroPoint: Float = bitCount == 2 ? 1.5 : format == .u4c ? 7.5 : 0
    let groupSize = format.groupSize ?? columns
    var column = 0
    while column < columns {
      let group = unsafe scaleRow + column / groupSize * groupBytes
      let scale =
        unsafe scaleBytes == 4
        ? group.load(as: Float.self) : Float(group.load(as: Float16.self))
      let minimum = unsafe hasMinimums ? Float((group + 32).load(as: Float16.self)) : 0
      let end = min(columns, (column / groupSize + 1) * groupSize)
      // A group begins with a word: its columns are a multiple of 32.
      while column < end {
        let stored = unsafe words.load(
          fromByteOffset: column / codesPerWord * 64, as: UInt32.self)
        var word = deinterleave(UInt32(littleEndian: stored))
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
