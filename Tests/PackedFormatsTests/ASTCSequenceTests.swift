import PackedFormats
import TestSupport
import Testing

/// Integer sequences, ranges and what their numbers stand for.
@Suite struct ASTCSequenceTests {
  static func pack(
    _ values: [UInt8], range: ASTCRange, into block: inout ASTCBlock, at offset: Int
  ) {
    // The values outlive the call.
    unsafe values.withUnsafeBufferPointer {
      unsafe ASTCSequence.pack($0, range: range, into: &block, at: offset)
    }
  }

  @Test(arguments: ASTCRange.allCases)
  func whatIsPackedIsUnpacked(range: ASTCRange) {
    var generator = SeededGenerator(seed: UInt64(range.rawValue))
    for count in 1...64 where range.sequenceBitCount(count) <= 128 {
      let size = range.sequenceBitCount(count)
      for offset in Set([0, 1, 17, 29, 63, 64, 128 - size]) where offset + size <= 128 {
        let values = (0..<count).map { _ in
          UInt8.random(in: 0...UInt8(range.levelCount - 1), using: &generator)
        }
        var block = ASTCBlock()
        Self.pack(values, range: range, into: &block, at: offset)
        // Not a bit outside of its place.
        #expect(block.bits(at: 0, count: min(offset, 64)) == 0)
        #expect(block.bits(at: offset + size, count: 64) == 0)
        // Neighbours do not matter.
        for bit in 0..<128 where !(offset..<offset + size ~= bit) {
          block.insert(UInt64.random(in: 0...1, using: &generator), at: bit, count: 1)
        }
        #expect(ASTCSequence.unpack(block, at: offset, count: count, range: range) == values)
      }
    }
  }

  /// All 256 and 128 codes of the digits: those with the same meaning differ only in the packed bits.
  @Test func everyDigitCodeHasAMeaning() {
    for (range, width, tuples) in [(ASTCRange.levels3, 8, 243), (.levels5, 7, 125)] {
      let count = range == .levels3 ? 5 : 3
      var seen: Set<[UInt8]> = []
      for code in 0..<UInt64(1 << width) {
        let values = ASTCSequence.unpack(ASTCBlock(low: code), at: 0, count: count, range: range)
        #expect(values.allSatisfy { $0 < range.levelCount })
        seen.insert(values)
        var block = ASTCBlock()
        Self.pack(values, range: range, into: &block, at: 0)
        #expect(block.low <= code)
      }
      #expect(seen.count == tuples)
    }
  }

  @Test func levelCountsAreTheFormats() {
    #expect(
      ASTCRange.allCases.map(\.levelCount) == [
        2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256,
      ])
    #expect(ASTCRange.levels6.sequenceBitCount(36) == 94)
    #expect(ASTCRange.levels5.sequenceBitCount(36) == 84)
  }

  /// Both ends are always there, levels are distinct, and symmetric about the middle.
  @Test(arguments: ASTCRange.allCases)
  func levelsCoverTheirRange(range: ASTCRange) {
    var sets: [(levels: Set<UInt8>, top: UInt8)] = []
    if range <= .levels32 {
      let levels = (0..<range.levelCount).map { ASTCQuantization.gridWeight($0, range: range) }
      sets.append((Set(levels), 64))
    }
    let levels = (0..<range.levelCount).map { ASTCQuantization.endpoint($0, range: range) }
    sets.append((Set(levels), 255))
    for (levels, top) in sets {
      #expect(levels.count == range.levelCount)
      #expect(levels.contains(0) && levels.contains(top))
      // Five levels of an endpoint do not occur in blocks and are not symmetric.
      for level in levels where top == 64 || range >= .levels6 {
        #expect(levels.contains(top - level), "\(range) \(level)")
      }
    }
  }

  @Test func sixLevelsAreScrambled() {
    #expect(
      (0..<6).map { ASTCQuantization.gridWeight($0, range: .levels6) } == [0, 64, 12, 52, 25, 39])
    #expect(
      (0..<6).map { ASTCQuantization.endpoint($0, range: .levels6) } == [0, 255, 51, 204, 102, 153])
  }

  @Test(arguments: ASTCRange.allCases)
  func nearestCodesAreNearest(range: ASTCRange) {
    var all: [(codes: [UInt8], meaning: (Int) -> UInt8)] = [
      (
        ASTCQuantization.nearestEndpointCodes(range),
        { ASTCQuantization.endpoint($0, range: range) }
      )
    ]
    if range <= .levels32 {
      all.append(
        (
          ASTCQuantization.nearestGridWeightCodes(range),
          { ASTCQuantization.gridWeight($0, range: range) }
        ))
    }
    for (codes, meaning) in all {
      for (value, code) in codes.enumerated() {
        let error = abs(Int(meaning(Int(code))) - value)
        let best = (0..<range.levelCount).map { abs(Int(meaning($0)) - value) }.min()
        #expect(error == best)
      }
    }
  }

  @Test func endpointRangesAreTheLargestThatFit() {
    #expect(ASTCQuantization.endpointRange(pairCount: 1, bitCount: 17) == .levels256)
    #expect(ASTCQuantization.endpointRange(pairCount: 1, bitCount: 16) == .levels256)
    #expect(ASTCQuantization.endpointRange(pairCount: 1, bitCount: 15) == .levels160)
    #expect(ASTCQuantization.endpointRange(pairCount: 1, bitCount: 6) == .levels8)
    #expect(ASTCQuantization.endpointRange(pairCount: 1, bitCount: 5) == nil)
    #expect(ASTCQuantization.endpointRange(pairCount: 1, bitCount: -4) == nil)
    for pairs in 1...9 {
      for bits in 0...111 {
        let range = ASTCQuantization.endpointRange(pairCount: pairs, bitCount: bits)
        // The rule of the format: ⌈13 C / 5⌉ bits for C numbers.
        #expect((range != nil) == (bits >= (13 * 2 * pairs + 4) / 5))
      }
    }
  }

  @Test func fieldsOfBlockModes() throws {
    let field = try #require(ASTCBlockMode.field(width: 6, height: 6, range: .levels6))
    let mode = try ASTCBlockMode(field: field)
    #expect(mode.isFullGrid && !mode.isDualPlane)
    #expect(mode.gridWeightCount == 36 && mode.gridWeightBitCount == 94)
    #expect(ASTCBlockMode.field(width: 6, height: 6, range: .levels8) == nil)
    #expect(ASTCBlockMode.field(width: 7, height: 6, range: .levels2) == nil)
    var counts: [String: Int] = [:]
    for field in 0..<2048 where !ASTCBlockMode.isVoidExtent(field) {
      do throws(ASTCBlockFault) {
        let mode = try ASTCBlockMode(field: field)
        #expect(24...96 ~= mode.gridWeightBitCount && 4...64 ~= mode.gridWeightCount)
        counts["legal", default: 0] += 1
      } catch { counts[error.rawValue, default: 0] += 1 }
    }
    // Void extents take 4 fields. Reserved: 128 whose lowest four bits are zero, and 64 of the form
    // xx111xxxx00, of which 16 are among the former and 4 are void extents.
    #expect(counts.values.reduce(0, +) == 2044)
    #expect(counts["reserved block mode"] == 128 + 64 - 16 - 4)
  }

  @Test func bitsOfABlock() {
    var generator = SeededGenerator(seed: 3)
    for _ in 0..<100 {
      let block = ASTCBlock(low: generator.next(), high: generator.next())
      let reversed = block.bitReversed
      for bit in 0..<128 {
        #expect(block.bits(at: bit, count: 1) == reversed.bits(at: 127 - bit, count: 1))
      }
      #expect(reversed.bitReversed == block)
      var copy = ASTCBlock()
      var offset = 0
      while offset < 128 {
        let count = Int.random(in: 1...64, using: &generator)
        copy.insert(block.bits(at: offset, count: count), at: offset, count: count)
        offset += count
      }
      #expect(copy == block)
      #expect(
        unsafe block.bytes.withUnsafeBytes { unsafe ASTCBlock($0, at: 0) } == block)
    }
  }
}
