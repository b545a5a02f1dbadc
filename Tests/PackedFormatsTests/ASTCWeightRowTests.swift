import PackedFormats
import TestSupport
import Testing

/// Rows of weights in ASTC blocks.
@Suite struct ASTCWeightRowTests {
  /// One row of blocks through the public interface.
  private func row(
    _ blocks: [ASTCBlock], _ format: WeightFormat, columns: Int, scale: Float, minimum: Float = 0
  ) -> [Float] {
    let codes = ASTCBlocks.bytes(blocks)
    let scales = (0..<4).map { UInt8(truncatingIfNeeded: scale.bitPattern >> (8 * UInt32($0))) }
    let half = HalfPrecision.bits(minimum)
    let one = [UInt8(truncatingIfNeeded: half), UInt8(truncatingIfNeeded: half >> 8)]
    let minimums = format == .astc6x6HDR ? blocks.flatMap { _ in one } : []
    var values = [Float](repeating: 0, count: columns)
    // Bytes have no padding; the arrays outlive the call.
    let planes = unsafe PackedPlanes(
      codes: codes.span.bytes, scales: scales.span.bytes, minimums: minimums.span.bytes)
    var output = values.mutableSpan
    format.dequantize(planes, rowCount: 1, columnCount: columns, into: &output)
    return values
  }

  private func fault(_ block: ASTCBlock, _ format: WeightFormat) -> ASTCBlockFault? {
    let codes = block.bytes
    let numbers = [UInt8](repeating: 0, count: 4)
    let minimums = [UInt8](repeating: 0, count: format == .astc6x6HDR ? 2 : 0)
    // As above.
    let planes = unsafe PackedPlanes(
      codes: codes.span.bytes, scales: numbers.span.bytes, minimums: minimums.span.bytes)
    do throws(PackedFormatError) {
      try format.validate(planes, rowCount: 1, columnCount: 36)
      return nil
    } catch {
      guard case .illegalBlock(let fault) = error.reason else { return nil }
      return fault
    }
  }

  /// The first component of every texel, for blocks of all kinds; NaN exactly where validation
  /// refuses the block.
  @Test func valuesAreTheFirstComponents() {
    let unpacker = ASTCUnpacker(profile: .hdr)
    let low = ASTCUnpacker(profile: .ldr)
    let subset = ASTCWeightMode.allCases.flatMap { ASTCBlocks.random(2_000, mode: $0, seed: 78) }
    for block in ASTCBlocks.random(20_000, seed: 77) + subset {
      let values = row([block], .astc6x6HDR, columns: 36, scale: 0.5, minimum: -3)
      if fault(block, .astc6x6HDR) != nil {
        #expect(values.allSatisfy { $0.isNaN })
      } else if case .success(let texels) = unpacker.floats(block) {
        #expect(values == texels.map { (-3 + $0.x) * 0.5 }, "\(block.bytes)")
      } else {
        Issue.record("validation let an illegal block pass: \(block.bytes)")
      }
      let centred = row([block], .astc6x6LDR, columns: 36, scale: 1)
      if fault(block, .astc6x6LDR) != nil {
        #expect(centred.allSatisfy { $0.isNaN })
      } else if case .success(let texels) = low.floats(block) {
        for (value, texel) in zip(centred, texels) {
          // C itself, of which the texel is the part that a binary16 holds.
          let c = value + 32767.5
          let rounded = Float(bitPattern: c.bitPattern & 0xFFFF_E000) / 65536
          #expect(c == c.rounded() && texel.x == (c == 65535 ? 1 : rounded), "\(block.bytes)")
        }
      } else {
        Issue.record("validation let an illegal block pass: \(block.bytes)")
      }
    }
  }

  @Test(arguments: [1, 35, 36, 37, 100])
  func rowsOfAnyLengthAreCutFromWholeBlocks(columns: Int) {
    let blocks = ASTCBlocks.random((columns + 35) / 36, seed: 5)
    let values = row(blocks, .astc6x6HDR, columns: columns, scale: 1)
    let whole = row(blocks, .astc6x6HDR, columns: blocks.count * 36, scale: 1)
    #expect(values.map(\.bitPattern) == whole.prefix(columns).map(\.bitPattern))
  }

  /// The example of the page in PackedFormats.docc.
  @Test func workedExample() throws {
    let field = try #require(ASTCBlockMode.field(width: 6, height: 6, range: .levels6))
    let codes = (0..<36).map { UInt8($0 % 6) }
    var weights = ASTCBlock()
    ASTCSequenceTests.pack(codes, range: .levels6, into: &weights, at: 0)
    var block = weights.bitReversed
    block.insert(UInt64(field), at: 0, count: 11)
    block.insert(64, at: 17, count: 8)
    block.insert(192, at: 25, count: 8)
    #expect(block.bytes == Self.example, "\(block.bytes)")
    let values = row([block], .astc6x6LDR, columns: 36, scale: 0x1p-15)
    let c: [Float] = [16448, 49344, 22616, 43176, 29298, 36494]
    let expected: [Float] = (0..<36).map { (c[$0 % 6] - 32767.5) * 0x1p-15 }
    #expect(values == expected)
  }

  static let example: [UInt8] = [
    0x0C, 0x01, 0x80, 0x80, 0xB5, 0x47, 0xAC, 0x47,
    0x9A, 0x27, 0x9C, 0x23, 0xCD, 0x12, 0xED, 0x11,
  ]

  @Test func faultsOfWeights() {
    // A constant of infinity, and an HDR endpoint mode.
    let infinite = ASTCBlock(low: ~0xFFF | 0xC00 | 0x200 | 0x1FC, high: 0x7C00)
    #expect(fault(infinite, .astc6x6HDR) == .nonFiniteConstant)
    #expect(fault(infinite, .astc6x6LDR) == .hdrVoidExtent)
    let zero = ASTCBlock(low: ~0xFFF | 0xC00 | 0x1FC, high: 0)
    #expect(fault(zero, .astc6x6LDR) == nil)
    #expect(row([zero], .astc6x6LDR, columns: 36, scale: 2).allSatisfy { $0 == -65535 })
    let logarithmic = ASTCBlock(low: 0x10C | 2 << 13)
    #expect(fault(logarithmic, .astc6x6LDR) == .hdrEndpointMode)
    #expect(fault(logarithmic, .astc6x6HDR) == nil)
  }

  @Test func imageHeaders() throws {
    let image = ASTCImageFile(width: 7, height: 13)
    #expect(image.header == [0x13, 0xAB, 0xA1, 0x5C, 6, 6, 1, 7, 0, 0, 13, 0, 0, 1, 0, 0])
    #expect(image.blockCount == 6 && image.byteCount == 112)
    #expect(try ASTCImageFile(header: image.header, fileByteCount: 112) == image)
    for count in [0, 15, 16, 111, 113] {
      #expect(throws: (any Error).self) {
        try ASTCImageFile(header: Array(image.header.prefix(count)), fileByteCount: count)
      }
    }
    for (offset, value) in [(0, 0x14), (4, 5), (6, 2), (7, 0), (13, 2)] as [(Int, UInt8)] {
      var header = image.header
      header[offset] = value
      #expect(throws: (any Error).self) {
        try ASTCImageFile(header: header, fileByteCount: 112)
      }
    }
    var reader = ASTCImageReader(image, profile: .ldr)
    let bad = [UInt8](repeating: 0, count: 32)
    #expect(reader.firstComponents(row: 2, blocks: bad).count == 7)
    #expect(reader.faults == [.reservedBlockMode: 2])
    #expect(reader.firstFault?.block == 4)
  }
}
