import PackedFormats
import TestSupport

/// A tensor of random blocks of the weight modes, and its planes in both layouts.
struct ASTCTileSample {
  let layout: ASTCTileLayout
  var blocks: [UInt8]
  var scales: [UInt8]
  var minimums: [UInt8]

  /// Random blocks; `modes` are those that a block is drawn from.
  init(
    _ format: WeightFormat, rows: Int, columns: Int, modes: [ASTCWeightMode], seed: UInt64
  ) throws {
    guard let layout = ASTCTileLayout(format: format, rows: rows, columns: columns) else {
      throw Failure(description: "no layout of \(rows) x \(columns)")
    }
    self.layout = layout
    var generator = SeededGenerator(seed: seed)
    blocks = []
    minimums = []
    scales = []
    for _ in 0..<rows * layout.blockCount {
      blocks += ASTCWeightBlock.random(modes, using: &generator).block.bytes
      let minimum = Float16(Float.random(in: -2...2, using: &generator)).bitPattern
      if format == .astc6x6HDR { minimums += [UInt8(minimum & 255), UInt8(minimum >> 8)] }
    }
    for row in 0..<(format == .astc6x6HDR ? 1 : rows) {
      scales += (Float(row + 1) * 0x1p-20).bytes
    }
  }

  struct Failure: Error, CustomStringConvertible { var description: String }

  private func rows(of band: Int) -> Range<Int> { band * 16..<min(band * 16 + 16, layout.rows) }

  /// The planes in the layout.
  func written() throws -> (codes: [UInt8], scales: [UInt8]) {
    try layout.tiles(codes: blocks, scales: scales, minimums: minimums)
  }

  /// The canonical planes again.
  func read(_ codes: [UInt8]) throws -> (blocks: [UInt8], minimums: [UInt8]) {
    var allBlocks: [UInt8] = []
    var allMinimums: [UInt8] = []
    for band in 0..<layout.bandCount {
      let count = rows(of: band).count
      var blocks = [UInt8](repeating: 0xEE, count: count * layout.rowByteCount)
      var minimums = [UInt8](
        repeating: 0xEE,
        count: layout.format == .astc6x6HDR ? count * layout.blockCount * 2 : 0)
      try unsafe codes.withUnsafeBytes { codes in
        try unsafe blocks.withUnsafeMutableBytes { blocks in
          try unsafe minimums.withUnsafeMutableBytes { minimums in
            let size = layout.bandByteCount
            try unsafe layout.readBand(
              band, from: .init(rebasing: codes[band * size..<(band + 1) * size]), blocks: blocks,
              minimums: minimums)
          }
        }
      }
      allBlocks += blocks
      allMinimums += minimums
    }
    return (allBlocks, allMinimums)
  }

  /// Why planes are not those of the layout, or nil.
  func fault(_ codes: [UInt8], _ scales: [UInt8]) -> ASTCLayoutError? {
    do throws(ASTCLayoutError) {
      // Bytes have no padding.
      try unsafe layout.validate(codes: codes.span.bytes, scales: scales.span.bytes)
      return nil
    } catch {
      return error
    }
  }
}

extension ASTCWeightBlock {
  /// Any block of one of the modes.
  static func random(
    _ modes: [ASTCWeightMode], using generator: inout SeededGenerator
  ) -> ASTCWeightBlock {
    let mode = modes.randomElement(using: &generator) ?? .one
    var block = ASTCWeightBlock(mode: mode)
    if mode.partitionCount > 1 { block.seed = .random(in: 0..<1024, using: &generator) }
    let width: UInt32 = mode.partitionCount == 1 ? 8 : 5
    for index in 0..<UInt32(2 * mode.partitionCount) {
      let number = Int.random(in: 0..<mode.endpointRange.levelCount, using: &generator)
      block.numbers |= UInt32(number) << (width * index)
    }
    for column in 0..<36 {
      let code = UInt64(Int.random(in: 0..<mode.codeRange.levelCount, using: &generator))
      if column < 20 {
        block.lowCodes |= code << UInt64(3 * column)
      } else {
        block.highCodes |= code << UInt64(3 * (column - 20))
      }
    }
    return block
  }
}

extension Float {
  fileprivate var bytes: [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: bitPattern >> (8 * $0)) }
  }
}
