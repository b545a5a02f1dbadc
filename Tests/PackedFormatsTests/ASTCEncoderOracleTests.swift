import Foundation
import PackedFormats
import TestSupport
import Testing

/// Blocks that our encoder wrote, in libastcenc through tools/oracles/astc_oracle.cpp: legal there,
/// the same values to the bit, and what the weight formats make of these is what we dequantize.
/// `AFM_ASTC_BLOCKS=200000` asks for more than 12,000 a profile.
@Suite(.needs(.astc)) struct ASTCEncoderOracleTests {
  typealias Samples = ASTCEncoderSamples

  @Test(arguments: ASTCEncoderTests.formats)
  func libastcencUnpacksTheSame(format: WeightFormat) throws {
    let asked = ProcessInfo.processInfo.environment["AFM_ASTC_BLOCKS"].flatMap { Int($0) }
    let total = asked ?? 12_000
    let profile: ASTCProfile = format == .astc6x6LDR ? .ldr : .hdr
    var seen: Set<ASTCWeightMode> = []
    var count = 0
    var seed: UInt64 = 0
    while count < total {
      for effort in QuantizationOptions.Effort.allCases {
        for kind in Samples.Kind.allCases {
          seed += 1
          let weights = Samples.weights(kind, rowCount: 20, columnCount: 720, seed: seed)
          let options = QuantizationOptions(
            effort: effort, clipping: seed % 3 == 0 ? 3.5 : nil,
            partitionLimit: seed % 4 == 0 ? Int(seed / 4 % 3) + 1 : nil)
          let tensor = try PackedTensor(
            weights, format: format, rowCount: 20, columnCount: 720, options: options)
          let blocks = Samples.blocks(tensor)
          for block in blocks { seen.insert(try #require(ASTCWeightMode(block))) }
          count += blocks.count
          let place = "\(effort), \(kind), seed \(seed)"
          try check(blocks, of: tensor, profile: profile, place)
          // As an image of the profile's twin: blocks of weights are legal there too.
          let twin: ASTCProfile = profile == .ldr ? .srgb : .hdrLDRAlpha
          try check(blocks, of: nil, profile: twin, place)
        }
      }
    }
    let all = Set(ASTCWeightMode.allCases)
    #expect(seen == (profile == .ldr ? all.subtracting([.oneHDR]) : all))
  }

  /// Holds texels against theirs, and the tensor's values, where one is given.
  private func check(
    _ blocks: [ASTCBlock], of tensor: PackedTensor?, profile: ASTCProfile, _ place: String
  ) throws {
    let folder = try TemporaryFolder()
    try Data(ASTCBlocks.bytes(blocks)).write(to: folder.url("blocks"))
    let run = try Program.shell(
      "\"$ORACLE\" \(profile.rawValue) < \"$FOLDER/blocks\"",
      environment: ["ORACLE": try Oracle.astc.path(), "FOLDER": folder.path], seconds: 300)
    try #require(run.status == 0 && run.output.count == blocks.count * 724, "\(run.error)")
    let results = [UInt8](run.output)
    func bits(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
      (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[offset + $1]) << (8 * UInt32($1)) }
    }
    let unpacker = ASTCUnpacker(profile: profile)
    let values = tensor?.dequantized() ?? []
    var differences = 0
    for (index, block) in blocks.enumerated() {
      let texels = try unpacker.floats(block).get()
      let start = index * 724
      if results[start] != 0 { differences += 1 }
      for texel in 0..<36 {
        for component in 0..<4 {
          let found = bits(results, start + 4 + texel * 16 + component * 4)
          if found != texels[texel][component].bitPattern { differences += 1 }
        }
        guard let tensor else { continue }
        let theirs = Float(bitPattern: bits(results, start + 4 + texel * 16))
        let value = values[index * 36 + texel]
        if profile == .hdr {
          let half =
            UInt16(tensor.minimums[index * 2]) | UInt16(tensor.minimums[index * 2 + 1]) << 8
          let minimum = HalfPrecision.float(bits: half)
          let weight = (minimum + theirs) * Float(bitPattern: bits(tensor.scales, 0))
          if weight != value { differences += 1 }
        } else {
          // Their result is C / 65536 cut to a binary16, of 11 bits.
          let scale = Float(bitPattern: bits(tensor.scales, index / 20 * 4))
          let c = (value / scale + 32767.5).rounded()
          let cut = c == 65535 ? 1 : Float(bitPattern: c.bitPattern & 0xFFFF_E000) / 65536
          if cut != theirs { differences += 1 }
        }
      }
    }
    #expect(differences == 0, "\(profile), \(place)")
  }
}
