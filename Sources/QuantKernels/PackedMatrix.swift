import KernelContract
import PackedFormats
import TensorCore

/// A weight matrix as the kernels read it: in `RowTileLayout`, or `ASTCTileLayout` for ASTC, the same
/// for all instruction sets.
@safe
public final class PackedMatrix: @unchecked Sendable {
  // Immutable after the initialiser, which is why it can be shared between threads.

  /// How the elements are stored: a format that `supports` names.
  public let format: WeightFormat

  /// The output channels.
  public let rowCount: Int

  /// The input channels, at most `columnLimit`.
  public let columnCount: Int

  /// Tiles of 16 rows.
  package let tileCount: Int

  /// Columns in units of those that activations share a scale over: 64, of ASTC 36.
  package let chunkCount: Int

  /// Where codes and scales lie.
  package enum Layout: Sendable {
    case rowTiles(RowTileLayout)
    case astcTiles(ASTCTileLayout)
  }
  package let layout: Layout

  /// Bytes from tile to tile of 16 rows.
  package let codeTileBytes, scaleTileBytes: Int

  // Both addresses are valid, and nobody writes there, as long as `owner` lives.
  private let codeAddress: UnsafeRawPointer
  private let scaleAddress: UnsafeRawPointer
  private let owner: any AnyObject & Sendable

  /// The most columns whose sums fit 32 bits at every instruction set: 131,072.
  public static let columnLimit = 1 << 17

  /// The most rows; above it byte counts could overflow: 2^31.
  public static let rowLimit = 1 << 31

  /// Whether there are kernels that multiply that format without unpacking it first.
  public static func supports(_ format: WeightFormat) -> Bool {
    switch format {
    case .s8c, .s8g32, .u4g32, .u4c, .u2c, .u2g64, .u2t, .astc6x6LDR, .astc6x6HDR: true
    case .f32, .f16: false
    }
  }

  /// Interleaves canonical planes, as `Plane` describes them.
  ///
  /// - Parameters:
  ///   - codes: the plane of codes; unused bits at the end of a row are ignored.
  ///   - scales: binary32 a row where per-channel, one where per-tensor, binary16 a row and group
  ///     where per-group.
  ///   - minimums: binary16 a row and group for u4g32; empty for the others.
  ///   - pool: the threads that share the work; nil for the calling one alone.
  /// - Throws: `InputError` where the format is not packed, a dimension is not positive or too
  ///   large, or a plane's byte count is not the format's; of ASTC also for a block that the tiles
  ///   do not hold (the encoder writes none) and for scales and minimums that are not finite.
  /// - Complexity: one pass over the planes, about 4 GB/s of codes a thread.
  public convenience init(
    format: WeightFormat, rows: Int, columns: Int, codes: RawSpan, scales: RawSpan,
    minimums: RawSpan = RawSpan(), pool: ThreadPool? = nil
  ) throws(InputError) {
    guard Self.supports(format) else {
      throw InputError(reason: "there are no kernels for \(format.name)")
    }
    guard rows > 0, rows <= Self.rowLimit, columns > 0, columns <= Self.columnLimit else {
      throw InputError(
        reason: "\(rows)x\(columns) is outside 1...\(Self.rowLimit) x 1...\(Self.columnLimit)")
    }
    for (plane, bytes) in [
      (Plane.codes, codes.byteCount), (.scales, scales.byteCount),
      (.minimums, minimums.byteCount),
    ] {
      let expected = format.byteCount(of: plane, rows: rows, columns: columns) ?? -1
      guard bytes == expected else {
        throw InputError(
          place: "\(plane)",
          reason: "\(bytes) bytes where \(rows)x\(columns) \(format.name) has \(expected)")
      }
    }
    if let layout = ASTCTileLayout(format: format, rows: rows, columns: columns) {
      try self.init(layout, codes: codes, scales: scales, minimums: minimums)
      return
    }
    guard let layout = RowTileLayout(format: format, rows: rows, columns: columns) else {
      preconditionFailure("the limits above keep byte counts below 2^31 · 2^17 · 2")
    }
    let memory = RowTileMemory(layout)
    // Every thread writes the tiles of its own range; the planes outlive the call.
    let codeBytes = unsafe memory.codes.baseAddress
    let scaleBytes = unsafe memory.scales.baseAddress
    unsafe self.init(
      layout, codes: UnsafeRawPointer(codeBytes), scales: UnsafeRawPointer(scaleBytes),
      owner: memory)
    unsafe codes.withUnsafeBytes { codes in
      func interleave(_ tiles: Range<Int>) {
        let start = tiles.lowerBound * 16 * layout.rowBytes
        let end = min(rows, tiles.upperBound * 16) * layout.rowBytes
        _ = unsafe layout.interleaveCodes(
          UnsafeRawBufferPointer(rebasing: codes[start..<end]), at: start, into: codeBytes)
      }
      if let pool {
        pool.runRanges(layout.tileCount) { tiles, _ in interleave(tiles) }
      } else {
        interleave(0..<layout.tileCount)
      }
    }
    unsafe scales.withUnsafeBytes {
      unsafe layout.interleaveScales($0, of: .scales, at: 0, into: scaleBytes)
    }
    unsafe minimums.withUnsafeBytes {
      unsafe layout.interleaveScales($0, of: .minimums, at: 0, into: scaleBytes)
    }
  }

  /// Takes memory that is in the layout already, such as a mapped file, without copying.
  ///
  /// - Parameters:
  ///   - codes: the layout's plane of codes, at an address that 64 divides.
  ///   - scales: the layout's plane of scales, likewise.
  ///   - owner: what keeps both planes in place and unchanged; held as long as the matrix lives.
  /// - Precondition: there are kernels for the format, and the dimensions are inside the limits.
  @unsafe package convenience init(
    _ layout: RowTileLayout, codes: UnsafeRawPointer, scales: UnsafeRawPointer,
    owner: any AnyObject & Sendable
  ) {
    precondition(Self.supports(layout.format), "there are no kernels for \(layout.format.name)")
    unsafe self.init(
      .rowTiles(layout), of: layout.format, rows: layout.rows, columns: layout.columns,
      tileCount: layout.tileCount, chunkCount: layout.chunkCount,
      codeTileBytes: layout.codeTileBytes, scaleTileBytes: layout.scaleTileBytes, codes: codes,
      scales: scales, owner: owner)
  }

  /// The same of ASTC tiles.
  ///
  /// - Precondition: the tiles are valid, as `ASTCTileLayout.validate` says, and the dimensions are
  ///   inside the limits.
  @unsafe package convenience init(
    _ layout: ASTCTileLayout, codes: UnsafeRawPointer, scales: UnsafeRawPointer,
    owner: any AnyObject & Sendable
  ) {
    unsafe self.init(
      .astcTiles(layout), of: layout.format, rows: layout.rows, columns: layout.columns,
      tileCount: layout.bandCount, chunkCount: layout.blockCount,
      codeTileBytes: layout.bandByteCount, scaleTileBytes: 64, codes: codes, scales: scales,
      owner: owner)
  }

  /// Either layout's planes, checked for what all kernels rely on.
  @unsafe private init(
    _ layout: Layout, of format: WeightFormat, rows: Int, columns: Int, tileCount: Int,
    chunkCount: Int, codeTileBytes: Int, scaleTileBytes: Int, codes: UnsafeRawPointer,
    scales: UnsafeRawPointer, owner: any AnyObject & Sendable
  ) {
    precondition(rows <= Self.rowLimit && columns <= Self.columnLimit, "a matrix too large")
    precondition(
      UInt(bitPattern: codes) % 64 == 0 && UInt(bitPattern: scales) % 64 == 0,
      "planes that are not aligned")
    self.layout = layout
    self.format = format
    rowCount = rows
    columnCount = columns
    self.tileCount = tileCount
    self.chunkCount = chunkCount
    self.codeTileBytes = codeTileBytes
    self.scaleTileBytes = scaleTileBytes
    unsafe codeAddress = codes
    unsafe scaleAddress = scales
    self.owner = owner
  }

  /// The bytes it takes at run time: codes and scales with their padding.
  public var byteCount: Int { tileCount * (codeTileBytes + scaleTileBytes) }

  /// Row tile 0's codes, 64-byte aligned, valid as long as the matrix.
  @unsafe package var codes: UnsafeRawPointer { unsafe codeAddress }

  /// Row tile 0's scales, 64-byte aligned, valid as long as the matrix.
  @unsafe package var scales: UnsafeRawPointer { unsafe scaleAddress }

  /// The bytes of a canonical plane, exactly as they were given (unused bits zero); empty for a
  /// plane that the format does not have. Allocates; for tools and tests.
  public func unpackCanonical(_ plane: Plane) -> [UInt8] {
    let byteCount = format.byteCount(of: plane, rows: rowCount, columns: columnCount) ?? 0
    var bytes = [UInt8](repeating: 0, count: byteCount)
    guard case .rowTiles(let layout) = layout else { return unpackBlocks(plane) }
    unsafe bytes.withUnsafeMutableBytes { bytes in
      for tile in 0..<tileCount where unsafe !bytes.isEmpty {
        switch plane {
        case .codes: unsafe layout.deinterleaveCodes(codes, into: bytes, tile: tile)
        case .scales: unsafe layout.deinterleaveScales(scales, part: 0, into: bytes, tile: tile)
        case .minimums: unsafe layout.deinterleaveScales(scales, part: 1, into: bytes, tile: tile)
        }
      }
    }
    return bytes
  }

  /// The values of one row, as an embedding look-up needs them: value = code · scale,
  /// (code − 1.5) · scale or minimum + code · scale, each operation rounded to binary32; of ASTC those
  /// that the block format gives, without the kernels' own rounding.
  ///
  /// - Precondition: `row` is a row, and `output` holds at least `columnCount` floats.
  public func dequantizeRow(_ row: Int, into output: UnsafeMutablePointer<Float>) {
    precondition(row >= 0 && row < rowCount, "row \(row) of \(rowCount)")
    switch layout {
    case .rowTiles(let layout):
      unsafe layout.dequantize(row: row, codes: codes, scales: scales, into: output)
    case .astcTiles(let layout):
      unsafe dequantize(row: row, of: layout, into: output)
    }
  }

  /// The same into a span, which is at least `columnCount` long.
  public func dequantizeRow(_ row: Int, into output: inout MutableSpan<Float>) {
    precondition(output.count >= columnCount, "\(output.count) floats for \(columnCount) columns")
    unsafe output.withUnsafeMutableBufferPointer { buffer in
      // The precondition leaves no empty buffer: a matrix has a column.
      if let base = buffer.baseAddress { unsafe dequantizeRow(row, into: base) }
    }
  }
}

/// Memory for both planes of a matrix.
private final class RowTileMemory: Sendable {
  let codes: AlignedStorage
  let scales: AlignedStorage

  init(_ layout: RowTileLayout) {
    codes = AlignedStorage(byteCount: layout.byteCount(of: .codes), prefersHugePages: true)
    scales = AlignedStorage(byteCount: layout.byteCount(of: .scales))
  }
}
