import Foundation
import TestSupport
import Testing

/// `astc decode` on an image of the blocks of golden/astc-blocks.bin, 50 × 35 texels: 6 divides
/// neither.
@Suite struct ASTCDecodeTests {
  private static let width = 50
  private static let height = 35
  /// The records' results in their order.
  private static let profiles = ["ldr", "srgb", "hdr-ldr-alpha", "hdr"]

  /// A block and its result in one profile: 36 first components, or nil for an error block.
  private struct Record {
    var block: [UInt8]
    var values: [Float]?
  }

  /// The records, and the first once more: 54 blocks.
  private static func records(_ profile: String) throws -> [Record] {
    let bytes = [UInt8](try Data(contentsOf: Repository.fixture("golden/astc-blocks.bin")))
    let index = try #require(profiles.firstIndex(of: profile))
    var records = stride(from: 0, to: bytes.count, by: 16 + 4 * 433).map { start in
      let result = start + 16 + index * 433
      let values = (0..<36).map { texel in
        let place = result + 1 + 8 * texel
        return Float(Float16(bitPattern: UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8))
      }
      return Record(
        block: Array(bytes[start..<start + 16]), values: bytes[result] != 0 ? nil : values)
    }
    records.append(records[0])
    return records
  }

  private static func write(
    _ blocks: [[UInt8]], width: Int = width, height: Int = height, to path: String
  ) throws {
    func three(_ count: Int) -> [UInt8] { [UInt8(count & 255), UInt8(count >> 8), 0] }
    var header: [UInt8] = [0x13, 0xAB, 0xA1, 0x5C, 6, 6, 1]
    header += three(width) + three(height) + three(1)
    try Data(header + blocks.joined()).write(to: URL(filePath: path))
  }

  private static func floats(_ path: String) throws -> [Float] {
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
    return stride(from: 0, to: bytes.count, by: 4).map { place in
      Float(bitPattern: bytes[place..<place + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) })
    }
  }

  @Test(arguments: ["ldr", "hdr"]) func writesFirstComponentsAndCountsFaults(profile: String) throws
  {
    let folder = try TemporaryFolder()
    let records = try Self.records(profile)
    try #require(records.count == 54)
    let (input, output) = (folder.file("in.astc"), folder.file("out.f32"))
    try Self.write(records.map(\.block), to: input)
    let result = try Program.run(["astc", "decode", input, output, "--profile", profile, "--json"])
    #expect(result.status == 0, "\(result)")
    let report = try #require(try result.json() as? [String: Any])
    #expect(report["width"] as? Int == 50 && report["height"] as? Int == 35)
    #expect(report["blocks"] as? Int == 54 && report["profile"] as? String == profile)
    let illegalCount = records.count { $0.values == nil }
    let kinds = try #require(report["illegal_by_kind"] as? [String: Int])
    #expect(report["illegal_blocks"] as? Int == illegalCount && illegalCount >= 10)
    #expect(kinds.values.reduce(0, +) == illegalCount)
    #expect(kinds["reserved block mode"] == 2 && kinds["weight grid larger than the block"] == 1)
    #expect(kinds["HDR void extent in the LDR profile"] == (profile == "ldr" ? 2 : nil))

    let values = try Self.floats(output)
    try #require(values.count == Self.width * Self.height)
    for y in 0..<Self.height {
      for x in 0..<Self.width {
        let value = values[y * Self.width + x]
        let expected = records[y / 6 * 9 + x / 6].values?[y % 6 * 6 + x % 6]
        // A constant may be infinite.
        #expect(expected.map { $0 == value } ?? value.isNaN, "texel \(x), \(y)")
      }
    }
    // The same in words, a line a kind.
    let words = try Program.run(["astc", "decode", input, output, "--profile", profile])
    #expect(words.status == 0)
    for (kind, count) in kinds {
      #expect(words.outputText.contains("illegal: \(kind): \(count)\n"), "\(words)")
    }
  }

  @Test func strictNamesTheFirstIllegalBlock() throws {
    let folder = try TemporaryFolder()
    let records = try Self.records("hdr")
    let (input, output) = (folder.file("in.astc"), folder.file("out.f32"))
    let first = try #require(records.firstIndex { $0.values == nil })
    try Self.write(records.map(\.block), to: input)
    let arguments = ["astc", "decode", input, output, "--profile", "hdr", "--strict"]
    let refused = try Program.run(arguments)
    #expect(refused.status == 3 && refused.output.isEmpty, "\(refused)")
    #expect(refused.errorLines.count == 1)
    for words in [input, "block \(first)", "offset \(16 + 16 * first)", "reserved block mode"] {
      #expect(refused.error.contains(words), "\(refused)")
    }
    #expect(folder.names == ["in.astc"])

    // Legal blocks alone: a row of them.
    let legal = records.filter { $0.values != nil }.prefix(9)
    try Self.write(legal.map(\.block), width: 49, height: 1, to: input)
    #expect(try Program.run(arguments).status == 0)
    let expected = legal.flatMap { ($0.values ?? []).prefix(6) }.prefix(49)
    #expect(try Self.floats(output) == Array(expected))
  }

  /// The same image through Debian's `astcenc -dl` and `-dh`, by way of its KTX output: a header of
  /// 68 bytes, then rows of texels of four unorm8 or four binary16.
  @Test(.needs(.tool("astcenc")), arguments: ["ldr", "hdr"])
  func agreesWithTheAstcencProgram(profile: String) throws {
    let folder = try TemporaryFolder()
    let (input, output) = (folder.file("in.astc"), folder.file("out.f32"))
    try Self.write(try Self.records(profile).map(\.block), to: input)
    let result = try Program.run(["astc", "decode", input, output, "--profile", profile])
    #expect(result.status == 0, "\(result)")
    let texture = folder.file("out.ktx")
    _ = try Oracle.tool("astcenc").run(
      [profile == "ldr" ? "-dl" : "-dh", input, texture, "-silent"])
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: texture)))
    let texelByteCount = profile == "ldr" ? 4 : 8
    let values = try Self.floats(output)
    try #require(bytes.count == 68 + values.count * texelByteCount)
    for (index, value) in values.enumerated() {
      let place = 68 + index * texelByteCount
      if profile == "ldr" {
        // An illegal block is magenta.
        let expected = value.isNaN ? 255 : UInt8((value * 255).rounded(.toNearestOrEven))
        #expect(bytes[place] == expected, "texel \(index)")
      } else {
        let expected = Float16(bitPattern: UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8)
        #expect(Float(expected) == value || expected.isNaN && value.isNaN, "texel \(index)")
      }
    }
  }
}
