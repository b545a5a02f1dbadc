import PackedFormats
import TestSupport
import Testing

/// The run-time layout of ASTC weights: every block of its modes comes back bit for bit, nothing
/// else goes in, and no bytes trap.
@Suite struct ASTCTileLayoutTests {
  static let modes: [[ASTCWeightMode]] = [
    [.one], [.oneHDR], [.one, .two, .twoOffset], [.three, .threeOffset], [.one, .oneHDR],
    ASTCWeightMode.allCases,
  ]

  private func sample(
    _ modes: [ASTCWeightMode], rows: Int = 19, columns: Int = 36 * 10 + 5, seed: UInt64 = 1
  ) throws -> ASTCTileSample {
    let format: WeightFormat = modes.contains(.oneHDR) ? .astc6x6HDR : .astc6x6LDR
    return try ASTCTileSample(format, rows: rows, columns: columns, modes: modes, seed: seed)
  }

  /// The parts of a block are what the parser of all blocks finds in it, and go back into it.
  @Test(arguments: ASTCWeightMode.allCases)
  func partsAreTheBlock(mode: ASTCWeightMode) throws {
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<2_000 {
      let part = ASTCWeightBlock.random([mode], using: &generator)
      let block = part.block
      #expect(try ASTCWeightBlock(block, profile: .hdr) == part)
      guard case .grid(let parsed) = try ASTCParsedBlock.content(block, profile: .hdr) else {
        Issue.record("a void extent")
        continue
      }
      #expect(parsed.header.partitionCount == mode.partitionCount)
      #expect(parsed.header.partitionSeed == Int(part.seed))
      #expect(Int(parsed.header.endpointModes[0]) == mode.endpointMode)
      #expect(parsed.endpointCodes.map { Int($0) } == parsed.endpointCodes.indices.map(part.number))
      #expect(parsed.gridWeightCodes.map { Int($0) } == (0..<36).map { part.code(column: $0) })
    }
  }

  @Test(arguments: modes, [1, 16, 17, 40])
  func everyBlockComesBack(modes: [ASTCWeightMode], rows: Int) throws {
    for (index, columns) in [1, 35, 36, 37, 288, 289, 320, 576, 36 * 17].enumerated() {
      let sample = try sample(modes, rows: rows, columns: columns, seed: UInt64(index))
      let (codes, scales) = try sample.written()
      #expect(sample.fault(codes, scales) == nil)
      let (blocks, minimums) = try sample.read(codes)
      #expect(blocks == sample.blocks && minimums == sample.minimums, "\(columns) columns")
    }
  }

  /// The values out of the layout are those of the canonical blocks.
  @Test(arguments: modes)
  func valuesAreThoseOfTheBlocks(modes: [ASTCWeightMode]) throws {
    let sample = try sample(modes)
    let layout = sample.layout
    let (codes, scales) = try sample.written()
    var expected = [Float](repeating: 0, count: layout.rows * layout.columns)
    var output = expected.mutableSpan
    // Bytes have no padding.
    let planes = unsafe PackedPlanes(
      codes: sample.blocks.span.bytes, scales: sample.scales.span.bytes,
      minimums: sample.minimums.span.bytes)
    layout.format.dequantize(
      planes, rowCount: layout.rows, columnCount: layout.columns, into: &output)
    let ones = [Float](repeating: 1, count: layout.columns)
    for row in 0..<layout.rows {
      var values = [Float](repeating: .nan, count: layout.columns)
      var span = values.mutableSpan
      try unsafe layout.dequantize(
        row: row, codes: codes.span.bytes, scales: scales.span.bytes, into: &span)
      let wanted = Array(expected[row * layout.columns..<(row + 1) * layout.columns])
      #expect(values == wanted, "row \(row)")
      let sum = try unsafe layout.product(
        row: row, codes: codes.span.bytes, scales: scales.span.bytes, activations: ones.span)
      #expect(sum == wanted.reduce(0, +))
    }
  }

  /// A changed byte is found, or it makes another whole layout that blocks lead to.
  @Test(arguments: modes)
  func changedBytesAreFoundOrMeanOtherBlocks(modes: [ASTCWeightMode]) throws {
    var generator = SeededGenerator(seed: 11)
    let original = try sample(modes, rows: 18, columns: 80)
    let (codes, scales) = try original.written()
    var foundCount = 0
    for _ in 0..<4_000 {
      var changed = codes
      let place = Int.random(in: 0..<codes.count, using: &generator)
      changed[place] ^= UInt8.random(in: 1...255, using: &generator)
      guard original.fault(changed, scales) == nil else {
        foundCount += 1
        continue
      }
      var other = original
      (other.blocks, other.minimums) = try original.read(changed)
      #expect(other.blocks != original.blocks || other.minimums != original.minimums)
      #expect(try other.written().codes == changed, "byte \(place)")
    }
    #expect(foundCount > 400)
  }

  @Test func randomBytesNeverTrap() throws {
    var generator = SeededGenerator(seed: 12)
    for format in [WeightFormat.astc6x6LDR, .astc6x6HDR] {
      let sample = try ASTCTileSample(format, rows: 20, columns: 100, modes: [.one], seed: 1)
      let scales = try sample.written().scales
      for _ in 0..<300 {
        let noise = (0..<sample.layout.byteCount(of: .codes)).map { _ in
          UInt8.random(in: 0...255, using: &generator) & (Bool.random(using: &generator) ? 3 : 255)
        }
        #expect(sample.fault(noise, scales) != nil)
        _ = try? sample.read(noise)
      }
    }
  }

  struct Defect: CustomTestStringConvertible, Sendable {
    var name: String
    var expected: String
    /// Changes codes and scales of a sample of 17 × 72 mixed blocks.
    var change: @Sendable (inout [UInt8], inout [UInt8], ASTCTileLayout) -> Void
    var testDescription: String { name }
  }

  static let defects = [
    Defect(name: "short", expected: "plane codes has") { codes, _, _ in codes.removeLast() },
    Defect(name: "kind", expected: "rows 0 to 15, block 1: an unknown kind") { codes, _, _ in
      codes[1] = 4
    },
    Defect(name: "needless kind", expected: "rows 0 to 15, block 0: a kind of tile that its") {
      codes, _, _ in codes[0] = 3
    },
    Defect(name: "kind padding", expected: "rows 0 to 15: padding") { codes, _, _ in codes[2] = 1 },
    Defect(name: "band padding", expected: "rows 0 to 15: padding") { codes, _, layout in
      codes[layout.bandByteCount - 1] = 1
    },
    Defect(name: "triple", expected: "row 0, block 0: a code outside") { codes, _, _ in
      codes[64] = 216
    },
    Defect(name: "row padding", expected: "row 31, block 0: padding") { codes, _, layout in
      codes[layout.bandByteCount + 64 + 60] = 1
    },
    Defect(name: "tag", expected: "unknown bits") { codes, _, layout in
      // Row 0 becomes a block of one partition with a seed.
      codes[64 + 2 * 192 + 32] = 0xF8
    },
    Defect(name: "scale", expected: "row 1: a scale") { _, scales, _ in scales[7] = 0xFF },
    Defect(name: "scale padding", expected: "row 17: padding") { _, scales, _ in scales[68] = 1 },
  ]

  @Test(arguments: defects)
  func malformedPlanesAreRefused(defect: Defect) throws {
    let sample = try sample([.one, .two], rows: 17, columns: 72)
    var (codes, scales) = try sample.written()
    #expect(sample.fault(codes, scales) == nil && codes[0] == 2)
    defect.change(&codes, &scales, sample.layout)
    let fault = try #require(sample.fault(codes, scales))
    #expect("\(fault)".contains(defect.expected), "\(fault)")
  }

  static let logarithmicDefects = [
    Defect(name: "no logarithmic row", expected: "rows 0 to 15, block 0: a kind of tile that its") {
      codes, _, _ in codes.replaceSubrange(64 + 2 * 192 + 88..<64 + 2 * 192 + 90, with: [0, 0])
    },
    Defect(name: "row padding", expected: "row 17, block 0: padding") { codes, _, layout in
      codes[layout.bandByteCount + 64 + 2 * 192 + 88] |= 2
    },
    Defect(name: "rows of a seventeenth", expected: "rows 0 to 15, block 0: padding") {
      codes, _, _ in codes[64 + 2 * 192 + 90] = 1
    },
    Defect(name: "kind of triples", expected: "row 0, block 0: a code outside") { codes, _, _ in
      codes[0] = 2
    },
  ]

  /// Linear and logarithmic blocks of one partition are one kind of tile; which is which is checked.
  @Test(arguments: logarithmicDefects)
  func malformedLogarithmicRowsAreRefused(defect: Defect) throws {
    let sample = try sample([.one, .oneHDR], rows: 17, columns: 72)
    var (codes, scales) = try sample.written()
    #expect(sample.fault(codes, scales) == nil && codes[0] == 1)
    defect.change(&codes, &scales, sample.layout)
    let fault = try #require(sample.fault(codes, scales))
    #expect("\(fault)".contains(defect.expected), "\(fault)")
  }

  @Test func logarithmicTilesAreUnknownInLDR() throws {
    let sample = try sample([.one], rows: 17, columns: 72)
    var (codes, scales) = try sample.written()
    codes[0] = 1
    let fault = try #require(sample.fault(codes, scales))
    #expect("\(fault)" == "rows 0 to 15, block 0: an unknown kind of tile")
  }

  /// What the layout does not hold is refused with its place.
  @Test func otherBlocksAreRefused() throws {
    var generator = SeededGenerator(seed: 3)
    let one = ASTCWeightBlock.random([.one], using: &generator).block
    let three = ASTCWeightBlock.random([.three], using: &generator).block
    let hdr = ASTCWeightBlock.random([.oneHDR], using: &generator).block
    var unusedBit = one
    unusedBit.low |= 1 << 33
    var unusedBitOfThree = three
    unusedBitOfThree.low |= 1 << 55
    // The last code's two trit bits are both set: the digit 0 in other bits.
    var twin = one
    twin.high &= ~(7 << 34)
    twin.high |= 6 << 34
    let voidExtent = ASTCBlock(low: 0xFFFF_FFFF_FFFF_FDFC, high: 0)
    let cases: [(ASTCBlock, ASTCWeightBlock.Refusal)] = [
      (unusedBit, .otherBits), (unusedBitOfThree, .otherBits), (twin, .otherBits),
      (voidExtent, .otherMode), (ASTCBlock(), .otherMode), (hdr, .otherProfile),
    ]
    for (block, reason) in cases {
      var sample = try sample([.one, .two], rows: 20, columns: 100)
      let place = (18 * sample.layout.blockCount + 2) * 16
      sample.blocks.replaceSubrange(place..<place + 16, with: block.bytes)
      do {
        _ = try sample.written()
        Issue.record("\(reason) was not refused")
      } catch let refusal as ASTCTileLayout.Refusal {
        #expect(refusal.row == 18 && refusal.block == 2 && refusal.reason == reason)
      }
    }
  }

  /// Everything in memory, row scales too, at most 3.56 bits per weight (4.5 in HDR).
  @Test(
    arguments: [
      (576, 3.5556, 4.1111), (896, 3.5357, 4.1071), (1536, 3.5208, 4.0833), (2048, 3.4844, 4.0469),
      (4864, 3.4934, 4.0526), (6656, 3.4663, 4.0240),
    ])
  func bitsPerWeight(columns: Int, ldr: Double, hdr: Double) throws {
    for (format, expected, limit) in [
      (WeightFormat.astc6x6LDR, ldr, 3.56), (.astc6x6HDR, hdr, 4.5),
    ] {
      let layout = try #require(ASTCTileLayout(format: format, rows: 2048, columns: columns))
      #expect(abs(layout.totalBitsPerWeight - expected) < 0.0001, "\(layout.totalBitsPerWeight)")
      #expect(layout.totalBitsPerWeight <= limit)
    }
  }

  /// The example of ASTCTiles.md, in bytes.
  @Test func theWorkedExampleHolds() throws {
    let blocks: [[UInt8]] = [
      [
        0x0C, 0x01, 0x20, 0xE0, 0x65, 0x89, 0x2E, 0xD1, 0x26, 0xDA, 0x45, 0x7B, 0x68, 0x8F, 0xED,
        0x11,
      ],
      [
        0x18, 0xA9, 0x00, 0x20, 0x76, 0xC8, 0x4D, 0x1C, 0xB9, 0x92, 0x63, 0x4F, 0x92, 0xE8, 0x71,
        0x13,
      ],
      [
        0x08, 0x91, 0x57, 0x22, 0xC8, 0x74, 0x19, 0x9C, 0x2C, 0x27, 0xC9, 0x79, 0x72, 0x9C, 0x2C,
        0x27,
      ],
    ]
    let one: [(Int, [UInt8])] = [
      (64, [0x88, 0x06, 0x00, 0x6C, 0x04, 0x00, 0x63, 0x01]),
      (128, [0x00, 0x1A, 0x0B, 0x00, 0xC8, 0x08, 0x00, 0x45]),
      (192, [0x04, 0x00, 0x2C, 0x02, 0x00, 0x5A, 0x01, 0x00]), (256, [0x10]), (272, [0xF0]),
      (288, [0xD1, 0x08]),
    ]
    let three: [(Int, [UInt8])] = [
      (0, [3]), (64, [0x84, 0xAF, 0xBC, 0x0F, 0xA8, 0x01, 0x32, 0x5D, 0x50, 0x25, 0x7E, 0x03]),
      (128, [0xB6, 0x09, 0x3A, 0x65, 0x82, 0xA8, 0x07, 0x32, 0xBA, 0x0F, 0x54, 0x29]),
      (192, [0x34, 0x5F, 0x8A, 0x91, 0x57, 0x82, 0x90, 0x07, 0xD0, 0x25, 0x7E, 0x03]),
      (256, [0x10, 0xB1, 0x41]), (272, [0xF0, 0x83, 0x8C]), (288, [0x00, 0x50, 0x01, 0xF2, 0x0A]),
    ]
    for (rows, pieces) in [(1, one), (3, three)] {
      var expected = [UInt8](repeating: 0, count: 320)
      for (offset, bytes) in pieces {
        expected.replaceSubrange(offset..<offset + bytes.count, with: bytes)
      }
      var sample = try sample([.one], rows: rows, columns: 36)
      sample.blocks = Array(blocks.prefix(rows).joined())
      #expect(try sample.written().codes == expected)
      #expect(try sample.read(expected).blocks == sample.blocks)
    }
  }

  /// The one in HDR.
  @Test func theWorkedExampleOfHDRHolds() throws {
    let blocks: [UInt8] = [
      0x0C, 0x01, 0x20, 0xE0, 0x65, 0x89, 0x2E, 0xD1, 0x26, 0xDA, 0x45, 0x7B, 0x68, 0x8F, 0xED,
      0x11,
      0x0C, 0x61, 0x20, 0xE0, 0x65, 0x89, 0x2E, 0xD1, 0x26, 0xDA, 0x45, 0x7B, 0x68, 0x8F, 0xED,
      0x11,
    ]
    let pieces: [(Int, [UInt8])] = [
      (0, [1]), (64, [0x88, 0x86, 0x68, 0x6C, 0xC4, 0x46, 0x63, 0x31]),
      (128, [0x16, 0x1A, 0xAB, 0xB1, 0xC8, 0x88, 0x8C, 0x45]),
      (192, [0x54, 0x44, 0x2C, 0xC2, 0x22, 0x5A, 0xA1, 0x15]), (256, [0x10, 0x10]),
      (272, [0xF0, 0xF0]), (288, [0xD1, 0x18, 0x8D]), (312, [0x00, 0x3C, 0x00, 0xC0]), (344, [2]),
    ]
    var expected = [UInt8](repeating: 0, count: 384)
    for (offset, bytes) in pieces {
      expected.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    }
    var sample = try sample([.oneHDR], rows: 2, columns: 36)
    sample.blocks = blocks
    sample.minimums = [0x00, 0x3C, 0x00, 0xC0]
    #expect(try sample.written().codes == expected)
    let (read, minimums) = try sample.read(expected)
    #expect(read == blocks && minimums == sample.minimums)
  }

  @Test func impossibleDimensionsHaveNoLayout() {
    for (rows, columns) in [(0, 36), (36, 0), (-1, 36), (Int.max, Int.max), (16, .max), (.max, 1)] {
      #expect(ASTCTileLayout(format: .astc6x6LDR, rows: rows, columns: columns) == nil)
    }
    #expect(ASTCTileLayout(format: .u2c, rows: 16, columns: 36) == nil)
  }
}
