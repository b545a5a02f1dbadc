import Foundation
import PackedFormats
import TestSupport
import Testing

private let oracle = ProcessInfo.processInfo.environment["AFM_ASTC_ORACLE"]
private let required = ProcessInfo.processInfo.environment["CI"] == "true"

/// Every component of every texel and every error block as libastcenc has them, through
/// tools/oracles/astc_oracle.cpp. `AFM_ASTC_BLOCKS=2000000` asks for more than 40,000 a profile.
@Suite(.enabled(if: oracle != nil || required, "AFM_ASTC_ORACLE names the oracle's program"))
struct ASTCOracleTests {
  @Test(arguments: ASTCProfile.allCases)
  func unpacksAsLibastcenc(profile: ASTCProfile) throws {
    let oracle = try #require(oracle, "AFM_ASTC_ORACLE is not set")
    let asked = ProcessInfo.processInfo.environment["AFM_ASTC_BLOCKS"].flatMap { Int($0) }
    let total = asked ?? 40_000
    let unpacker = ASTCUnpacker(profile: profile)
    let portable = ASTCUnpacker(profile: profile, isWide: false)
    var seen: Set<String> = []
    var legalCount = 0
    for start in stride(from: 0, to: total, by: 40_000) {
      let blocks = ASTCBlocks.random(min(40_000, total - start), seed: UInt64(start) + 1)
      let folder = try TemporaryFolder()
      try Data(ASTCBlocks.bytes(blocks)).write(to: folder.url("blocks"))
      let run = try Program.shell(
        "\"$ORACLE\" \(profile.rawValue) < \"$FOLDER/blocks\"",
        environment: ["ORACLE": oracle, "FOLDER": folder.path], seconds: 300)
      try #require(run.status == 0 && run.output.count == blocks.count * 724, "\(run.error)")
      let results = [UInt8](run.output)
      for (index, block) in blocks.enumerated() {
        let result = results[index * 724..<(index + 1) * 724]
        let isError = result[result.startIndex] != 0
        let matches: Bool
        switch unpacker.floats(block) {
        case .failure(let fault):
          seen.insert(fault.rawValue)
          matches = isError
        case .success(let texels):
          legalCount += 1
          if case .grid(let parsed) = try ASTCParsedBlock.content(block, profile: profile) {
            let header = parsed.header
            seen.insert("partitions \(header.partitionCount), dual \(header.mode.isDualPlane)")
            for partition in 0..<header.partitionCount {
              seen.insert("mode \(header.endpointModes[partition])")
            }
          } else {
            seen.insert("void extent")
          }
          let floats = texels.flatMap { texel in
            (0..<4).flatMap { component in
              (0..<4).map {
                UInt8(truncatingIfNeeded: texel[component].bitPattern >> (8 * UInt32($0)))
              }
            }
          }
          let bytes = try unpacker.unorms(block).get().flatMap { texel in (0..<4).map { texel[$0] }
          }
          let isSame =
            try portable.unorms(block).get() == unpacker.unorms(block).get()
            && zip(portable.floats(block).get(), texels).allSatisfy { narrow, wide in
              (0..<4).allSatisfy { narrow[$0].bitPattern == wide[$0].bitPattern }
            }
          matches = !isError && isSame && result.dropFirst(4).elementsEqual(floats + bytes)
        }
        #expect(matches, "\(profile), block \(block.bytes)")
      }
    }
    if asked != nil { print("\(profile.rawValue): \(total) blocks, \(legalCount) of them legal") }
    // All endpoint modes, partition counts with one and two planes, and constants were there.
    #expect(legalCount > total / 3)
    for mode in 0..<16 { #expect(seen.contains("mode \(mode)")) }
    for count in 1...4 { #expect(seen.contains("partitions \(count), dual false")) }
    for count in 1...3 { #expect(seen.contains("partitions \(count), dual true")) }
    #expect(seen.contains("void extent"))
    for fault in ASTCBlockFault.allCases where fault.isIllegalEncoding {
      // No grid of two planes inside 6x6 has more than 64: 6x6 itself has one plane only.
      if fault == .tooManyGridWeights { continue }
      if fault == .hdrVoidExtent, profile == .hdr || profile == .hdrLDRAlpha { continue }
      #expect(seen.contains(fault.rawValue), "\(fault)")
    }
  }
}
