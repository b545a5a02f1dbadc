extension ASTCTileLayout {
  /// A block that the layout cannot hold.
  package struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The row of the tensor.
    package var row: Int
    /// The block's number in its row.
    package var block: Int
    package var reason: ASTCWeightBlock.Refusal

    /// `row 3, block 5: its mode is not one that the layout has`.
    package var description: String { "row \(row), block \(block): \(reason)" }
  }

  /// Writes a band: all of its bytes, padding too.
  ///
  /// - Parameters:
  ///   - blocks: the canonical blocks of the band's rows, `rowByteCount` bytes each.
  ///   - minimums: their minimums in HDR, two bytes a block; else anything.
  ///   - output: `bandByteCount` bytes.
  /// - Throws: the first block by column, then row, that is not of the layout's modes; what is
  ///   written then means nothing.
  ///
  /// Bands do not depend on each other. Allocates nothing that outlives the call.
  package func writeBand(
    _ band: Int, blocks: UnsafeRawBufferPointer, minimums: UnsafeRawBufferPointer,
    into output: UnsafeMutableRawBufferPointer
  ) throws(Refusal) {
    let count = rowCount(band: band)
    precondition(blocks.count == count * rowByteCount, "not the band's blocks")
    precondition(output.count == bandByteCount, "not a band's room")
    precondition(
      format != .astc6x6HDR || minimums.count == count * blockCount * 2, "not the band's minimums")
    guard let base = output.baseAddress else { return }
    // Kinds and every tile are written below; the padding behind both is cleared here.
    unsafe clear(output, kindByteCount: blockCount)
    let profile = profile
    // Room for a tile's 16 blocks, all of them written before they are read.
    let parts = UnsafeMutableBufferPointer<ASTCWeightBlock>.allocate(capacity: 16)
    unsafe parts.initialize(repeating: .padding)
    defer { unsafe parts.deallocate() }
    for tile in 0..<blockCount {
      var modes: UInt8 = 0
      for row in 0..<count {
        let offset = row &* rowByteCount &+ tile &* 16
        do throws(ASTCWeightBlock.Refusal) {
          // Inside `blocks`, whose count was checked.
          let part = try unsafe ASTCWeightBlock(ASTCBlock(blocks, at: offset), profile: profile)
          unsafe parts[row] = part
          modes |= 1 &<< part.mode.rawValue
        } catch {
          throw Refusal(row: band * 16 + row, block: tile, reason: error)
        }
      }
      let kind = TileKind(modes: modes)
      unsafe output[tile] = kind.rawValue
      let (codes, side) = offsets(tile: tile)
      // Tiles lie inside the band by the layout's arithmetic.
      unsafe Self.write(
        UnsafeBufferPointer(parts), kind: kind, codes: base + codes, side: base + side)
      guard format == .astc6x6HDR else { continue }
      for row in 0..<16 {
        let bits =
          row < count
          ? unsafe minimums.loadUnaligned(
            fromByteOffset: (row * blockCount + tile) * 2, as: UInt16.self) : 0
        unsafe (base + (side + 56 + 2 * row)).storeBytes(of: bits, as: UInt16.self)
      }
      var logarithmicRows: UInt64 = 0
      for row in 0..<count where unsafe kind == .oneOrHDR && parts[row].mode == .oneHDR {
        logarithmicRows |= 1 << UInt64(row)
      }
      unsafe (base + (side + 88)).storeBytes(of: logarithmicRows.littleEndian, as: UInt64.self)
    }
  }

  /// Zeros behind the kinds and behind the tiles.
  private func clear(_ output: UnsafeMutableRawBufferPointer, kindByteCount used: Int) {
    for index in used..<kindByteCount { unsafe output[index] = 0 }
    let end = kindByteCount + blockCount * (Self.codeByteCount + sideByteCount)
    for index in end..<bandByteCount { unsafe output[index] = 0 }
  }

  /// Writes a band's scales: 16 binary32, zeros where there is no row.
  ///
  /// - Parameters:
  ///   - scales: the canonical plane of the whole tensor.
  ///   - output: the layout's plane of the whole tensor.
  package func writeScales(
    _ scales: UnsafeRawBufferPointer, band: Int, into output: UnsafeMutableRawBufferPointer
  ) {
    let isShared = format == .astc6x6HDR
    precondition(scales.count == (isShared ? 4 : rows * 4), "not the tensor's scales")
    precondition(output.count == byteCount(of: .scales), "not the layout's room")
    for row in band * 16..<band * 16 + 16 {
      // Inside both planes, whose byte counts were checked.
      let bits =
        row < rows
        ? unsafe scales.loadUnaligned(fromByteOffset: isShared ? 0 : row * 4, as: UInt32.self) : 0
      unsafe output.storeBytes(of: bits, toByteOffset: row * 4, as: UInt32.self)
    }
  }

  /// The way back: canonical blocks and minimums of a band that is valid.
  ///
  /// Throws what `validateBand` would, where the bytes are not those of a band.
  package func readBand(
    _ band: Int, from input: UnsafeRawBufferPointer,
    blocks: UnsafeMutableRawBufferPointer, minimums: UnsafeMutableRawBufferPointer
  ) throws(ASTCLayoutError) {
    let count = rowCount(band: band)
    precondition(input.count == bandByteCount, "not a band")
    precondition(blocks.count == count * rowByteCount, "not the band's blocks")
    precondition(
      format != .astc6x6HDR || minimums.count == count * blockCount * 2, "not the band's minimums")
    for row in 0..<count {
      for tile in 0..<blockCount {
        let part = try unsafe part(row: row, tile: tile, band: band, in: input)
        unsafe part.block.store(to: blocks, at: row * rowByteCount + tile * 16)
        guard format == .astc6x6HDR else { continue }
        let bits = unsafe minimumBits(row: row, tile: tile, in: input)
        unsafe minimums.storeBytes(
          of: bits.littleEndian, toByteOffset: (row * blockCount + tile) * 2, as: UInt16.self)
      }
    }
  }

  /// One block of a band; `row` counts in the band.
  func part(
    row: Int, tile: Int, band: Int, in input: UnsafeRawBufferPointer
  ) throws(ASTCLayoutError) -> ASTCWeightBlock {
    guard let base = input.baseAddress, let kind = unsafe TileKind(rawValue: input[tile]) else {
      throw ASTCLayoutError(.kind, band: band, tile: tile)
    }
    guard kind != .oneOrHDR || format == .astc6x6HDR else {
      throw ASTCLayoutError(.kind, band: band, tile: tile)
    }
    let (codes, side) = offsets(tile: tile)
    let part: ASTCWeightBlock
    do throws(Fault) {
      // Tiles lie inside the band by the layout's arithmetic, whose byte count the callers checked.
      part = try unsafe Self.read(row: row, kind: kind, codes: base + codes, side: base + side)
    } catch {
      throw ASTCLayoutError(.block(error.rawValue), band: band, tile: tile, row: row)
    }
    guard part.mode != .oneHDR || profile.hasHDR else {
      throw ASTCLayoutError(
        .block(ASTCWeightBlock.Refusal.otherProfile.description), band: band, tile: tile, row: row)
    }
    return part
  }

  /// The binary16 bits of a block's minimum, in HDR.
  func minimumBits(row: Int, tile: Int, in input: UnsafeRawBufferPointer) -> UInt16 {
    let offset = offsets(tile: tile).side + 56 + 2 * row
    return unsafe UInt16(
      littleEndian: input.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }
}
