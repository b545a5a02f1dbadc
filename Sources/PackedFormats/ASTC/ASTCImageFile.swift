import TensorCore

/// An image in an `.astc` file: a header of 16 bytes, then its 6×6 blocks, row-major.
///
/// | offset | bytes | content |
/// | --- | --- | --- |
/// | 0 | 4 | `13 AB A1 5C` |
/// | 4 | 3 | texels of a block in x, y and z: 6, 6, 1 |
/// | 7 | 9 | texels of the image in x, y and z, three bytes each, little-endian; z is 1 |
///
/// Where 6 does not divide a dimension, the last blocks have texels outside the image.
package struct ASTCImageFile: Hashable, Sendable {
  /// Texels in a row.
  package let width: Int
  /// Texels in a column.
  package let height: Int

  package static let headerByteCount = 16
  /// The largest width and height: 24 bits.
  package static let sideLimit = 1 << 24 - 1
  private static let magic: [UInt8] = [0x13, 0xAB, 0xA1, 0x5C]

  package var blockColumnCount: Int { (width + 5) / 6 }
  package var blockRowCount: Int { (height + 5) / 6 }
  package var blockCount: Int { blockColumnCount * blockRowCount }
  /// Bytes of the whole file.
  package var byteCount: Int { Self.headerByteCount + blockCount * ASTCBlock.byteCount }

  /// An image of 1 to `sideLimit` texels each way.
  package init(width: Int, height: Int) {
    precondition(
      1...Self.sideLimit ~= width && 1...Self.sideLimit ~= height, "no such .astc image")
    self.width = width
    self.height = height
  }

  /// Reads the header; `fileByteCount` is what the file has in all.
  ///
  /// - Throws: where it is no `.astc` file of 6×6 blocks, or not as long as its header says.
  package init(header: [UInt8], fileByteCount: Int) throws(InputError) {
    guard header.count >= Self.headerByteCount else {
      throw InputError(
        offset: header.count, reason: "\(header.count) bytes are no .astc file")
    }
    guard header.starts(with: Self.magic) else {
      throw InputError(offset: 0, reason: "not an .astc file")
    }
    let block = header[4..<7].map { Int($0) }
    guard block == [6, 6, 1] else {
      throw InputError(
        offset: 4, reason: "blocks of \(block[0])x\(block[1])x\(block[2]) texels instead of 6x6x1")
    }
    func number(_ offset: Int) -> Int {
      (0..<3).reduce(0) { $0 | Int(header[offset + $1]) << (8 * $1) }
    }
    guard number(7) > 0, number(10) > 0, number(13) == 1 else {
      throw InputError(
        offset: 7,
        reason: "an image of \(number(7))x\(number(10))x\(number(13)) texels")
    }
    width = number(7)
    height = number(10)
    guard fileByteCount == byteCount else {
      throw InputError(
        offset: min(fileByteCount, byteCount),
        reason: "\(fileByteCount) bytes instead of \(byteCount)")
    }
  }

  /// The 16 bytes of the header.
  package var header: [UInt8] {
    func bytes(_ number: Int) -> [UInt8] {
      (0..<3).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
    return Self.magic + [6, 6, 1] + bytes(width) + bytes(height) + bytes(1)
  }
}

/// The first component of an image's texels, a row of blocks at a time.
package struct ASTCImageReader: ~Copyable {
  private let image: ASTCImageFile
  private let unpacker: ASTCUnpacker
  /// What whole blocks are illegal of, by kind.
  package private(set) var faults: [ASTCBlockFault: Int] = [:]
  /// Blocks that are legal, of which an HDR endpoint mode makes texels magenta.
  package private(set) var hdrEndpointBlockCount = 0
  /// The first illegal block, in the order of the file.
  package private(set) var firstFault: (block: Int, fault: ASTCBlockFault)?

  package init(_ image: ASTCImageFile, profile: ASTCProfile) {
    self.image = image
    unpacker = ASTCUnpacker(profile: profile)
  }

  /// Unpacks the blocks of block row `row`.
  ///
  /// - Parameter blocks: the row's blocks, 16 bytes each.
  /// - Returns: up to 6 rows of `width` results, NaN for the texels of illegal blocks.
  package mutating func firstComponents(row: Int, blocks: [UInt8]) -> [Float] {
    let columns = image.blockColumnCount
    precondition(blocks.count == columns * ASTCBlock.byteCount, "not a row of blocks")
    precondition(0..<image.blockRowCount ~= row, "no such row of blocks")
    let rows = min(6, image.height - row * 6)
    var output = [Float](repeating: .nan, count: rows * image.width)
    var texels = [SIMD4<Float>](repeating: SIMD4(), count: ASTCBlock.texelCount)
    for column in 0..<columns {
      // Block `column` lies in the row, whose byte count was checked.
      let block = unsafe blocks.withUnsafeBytes { unsafe ASTCBlock($0, at: column * 16) }
      do throws(ASTCBlockFault) {
        try unsafe texels.withUnsafeMutableBufferPointer { texels throws(ASTCBlockFault) in
          // 36 texels.
          guard let base = texels.baseAddress else { return }
          try unsafe unpacker.unpackFloats(block, into: base)
        }
        if !unpacker.profile.hasHDR, !block.isVoidExtent, try ASTCBlockHeader(block).hasHDREndpoints {
          hdrEndpointBlockCount += 1
        }
      } catch {
        faults[error, default: 0] += 1
        if firstFault == nil { firstFault = (row * columns + column, error) }
        continue
      }
      for y in 0..<rows {
        for x in 0..<min(6, image.width - column * 6) {
          output[y * image.width + column * 6 + x] = texels[y * 6 + x].x
        }
      }
    }
    return output
  }
}
