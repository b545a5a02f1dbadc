import Foundation
import PackedFormats
import TestSupport
import Testing

/// Blocks of every kind and what libastcenc unpacks them to, in all profiles.
///
/// Regenerate with tools/oracles/astc_fixture.py, which says how, and what a record is.
@Suite struct ASTCFixtureTests {
  /// A block and, in the order of `profiles`, its results.
  private struct Record {
    struct Result {
      var isError: Bool
      var floats: [UInt32]
      var bytes: [UInt8]
    }

    var block: ASTCBlock
    var results: [Result]
  }

  private static let profiles = [ASTCProfile.ldr, .srgb, .hdrLDRAlpha, .hdr]

  private static func records() throws -> [Record] {
    let bytes = [UInt8](try Data(contentsOf: Repository.fixture("golden/astc-blocks.bin")))
    let resultCount = 1 + 288 + 144
    let recordCount = 16 + profiles.count * resultCount
    try #require(!bytes.isEmpty && bytes.count % recordCount == 0)
    return stride(from: 0, to: bytes.count, by: recordCount).map { start in
      func half(_ place: Int) -> UInt64 {
        bytes[place..<place + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
      }
      let results = profiles.indices.map { index in
        let first = start + 16 + index * resultCount
        let floats = stride(from: first + 1, to: first + 289, by: 2).map { place in
          let bits = UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8
          return HalfPrecision.float(bits: bits).bitPattern
        }
        return Record.Result(
          isError: bytes[first] != 0, floats: floats,
          bytes: Array(bytes[first + 289..<first + resultCount]))
      }
      return Record(block: ASTCBlock(low: half(start), high: half(start + 8)), results: results)
    }
  }

  @Test(arguments: [true, false])
  func everyBlockUnpacksAsItIsRecorded(isWide: Bool) throws {
    let records = try Self.records()
    for (index, profile) in Self.profiles.enumerated() {
      let unpacker = ASTCUnpacker(profile: profile, isWide: isWide)
      for record in records {
        let expected = record.results[index]
        let comment = "\(profile), block \(record.block.bytes)"
        guard case .success(let texels) = unpacker.floats(record.block) else {
          #expect(expected.isError, "\(comment)")
          continue
        }
        try #require(!expected.isError, "\(comment)")
        let bits = texels.flatMap { texel in (0..<4).map { texel[$0].bitPattern } }
        #expect(bits == expected.floats, "\(comment)")
        let bytes = try unpacker.unorms(record.block).get().flatMap { texel in
          (0..<4).map { texel[$0] }
        }
        #expect(bytes == expected.bytes, "\(comment)")
      }
    }
  }

  /// The records have every endpoint mode, one to four partitions, one and two planes, full grids
  /// and others, constants, and every fault that a block can have.
  @Test func everyKindIsThere() throws {
    var seen: Set<String> = []
    var expected: Set<String> = ["constant, HDR false", "constant, HDR true"]
    expected.formUnion((0..<16).map { "endpoint mode \($0)" })
    for count in 1...4 {
      expected.formUnion(["\(count) partitions", "\(count) partitions, full grid"])
      if count < 4 { expected.insert("\(count) partitions, two planes") }
    }
    for record in try Self.records() {
      for profile in [ASTCProfile.ldr, .hdr] {
        do {
          switch try ASTCParsedBlock.content(record.block, profile: profile) {
          case .voidExtent(let constant): seen.insert("constant, HDR \(constant.isHDR)")
          case .grid(let parsed):
            let header = parsed.header
            let partitions = "\(header.partitionCount) partitions"
            seen.insert(partitions)
            if header.mode.isDualPlane { seen.insert(partitions + ", two planes") }
            if header.mode.isFullGrid { seen.insert(partitions + ", full grid") }
            for partition in 0..<header.partitionCount {
              seen.insert("endpoint mode \(header.endpointModes[partition])")
            }
          }
        } catch {
          seen.insert("\(error)")
        }
      }
    }
    // No grid inside 6x6 has more than 64 weights.
    for fault in ASTCBlockFault.allCases
    where fault.isIllegalEncoding && fault != .tooManyGridWeights {
      expected.insert("\(fault)")
    }
    #expect(expected.subtracting(seen).isEmpty)
  }
}
