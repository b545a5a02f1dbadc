import Foundation
import TestSupport
import Testing

/// Images in and out through the program, and through Debian's astcenc.
@Suite struct ASTCEncodeTests {
  static let rows = 67
  static let columns = 101

  /// A smooth image with noise: 0 to 1, or in HDR some seven octaves.
  private func image(_ profile: String) -> [Float] {
    var generator = SeededGenerator(seed: 3)
    return (0..<Self.rows * Self.columns).map { place in
      let (x, y) = (Float(place % Self.columns), Float(place / Self.columns))
      let wave = 1 - abs((x / 25).truncatingRemainder(dividingBy: 2) - 1) * (0.4 + y / 120)
      let value = 0.7 * wave + Float.random(in: 0...0.3, using: &generator)
      // Powers without a mathematics library: the same file everywhere.
      return profile == "ldr"
        ? value : Float(sign: .plus, exponent: Int(value * 7), significand: 1 + value)
    }
  }

  private func write(_ values: [Float], to url: URL) throws {
    // Floats have no padding.
    try unsafe values.withUnsafeBytes { unsafe Data($0) }.write(to: url)
  }

  private func floats(_ url: URL) throws -> [Float] {
    let data = [UInt8](try Data(contentsOf: url))
    return (0..<data.count / 4).map { index in
      Float(
        bitPattern: (0..<4).reduce(UInt32(0)) {
          $0 | UInt32(data[index * 4 + $1]) << (8 * UInt32($1))
        })
    }
  }

  /// Encodes the image and returns what `astc decode` makes of it.
  private func throughBlocks(
    _ values: [Float], _ profile: String, _ effort: String, _ folder: borrowing TemporaryFolder
  ) throws -> [Float] {
    try write(values, to: folder.url("in.f32"))
    let (blocks, out) = (folder.file("image.astc"), folder.file("out.f32"))
    let encode = try Program.run([
      "astc", "encode", folder.file("in.f32"), "\(Self.rows)x\(Self.columns)", blocks,
      "--profile", profile, "--effort", effort, "--json",
    ])
    try #require(encode.status == 0, "\(encode)")
    let report = try #require(try encode.json() as? [String: Any])
    #expect(report["blocks"] as? Int == 12 * 17)
    #expect(
      report["clipped"] as? Int
        == values.count { $0 < 0 || $0 > (profile == "ldr" ? 1 : 65504) })
    let decode = try Program.run(["astc", "decode", blocks, out, "--profile", profile, "--strict"])
    try #require(decode.status == 0, "\(decode)")
    return try floats(folder.url("out.f32"))
  }

  @Test(arguments: ["ldr", "hdr"])
  func theImageComesBack(profile: String) throws {
    let values = image(profile)
    var last = Double.infinity
    for effort in ["fast", "medium", "thorough"] {
      let folder = try TemporaryFolder()
      let found = try throughBlocks(values, profile, effort, folder)
      try #require(found.count == values.count)
      var squares = 0.0
      var whole = 0.0
      for (value, result) in zip(values, found) {
        squares += Double((value - result) * (value - result))
        whole += Double(value * value)
      }
      let error = (squares / whole).squareRoot()
      #expect(error < (profile == "ldr" ? 0.1 : 0.2), "\(effort)")
      #expect(error <= last * 1.0001, "\(effort)")
      last = error
    }
  }

  @Test func whatIsOutsideIsMovedToTheEdge() throws {
    for (profile, value, edge) in [
      ("ldr", Float(7), Float(1)), ("ldr", -3, 0), ("hdr", 1e9, 65504),
    ] {
      let folder = try TemporaryFolder()
      let values = [Float](repeating: value, count: Self.rows * Self.columns)
      let found = try throughBlocks(values, profile, "fast", folder)
      #expect(found.allSatisfy { $0 == edge }, "\(profile), \(value): \(found[0])")
    }
  }

  @Test func whatIsNoTexelIsRefused() throws {
    for (profile, value) in [
      ("ldr", Float.nan), ("ldr", .infinity), ("hdr", -.infinity), ("hdr", -1),
    ] {
      let folder = try TemporaryFolder()
      try write([0, 0, 0, value, 0, 0], to: folder.url("in"))
      let result = try Program.run([
        "astc", "encode", folder.file("in"), "3x2", folder.file("o"), "--profile", profile,
      ])
      #expect(result.status == 3 && result.output.isEmpty, "\(result)")
      #expect(result.error.contains("row 1: offset 12: no texel can be"), "\(result)")
      #expect(folder.names == ["in"])
    }
  }

  @Test(.needs(.tool("astcenc")), arguments: ["ldr", "hdr"], ["fast", "thorough"])
  func astcencShowsTheSameImage(profile: String, effort: String) throws {
    let folder = try TemporaryFolder()
    let ours = try throughBlocks(image(profile), profile, effort, folder)
    let ktx = folder.file("image.ktx")
    _ = try Oracle.tool("astcenc").run([
      profile == "ldr" ? "-dl" : "-dh", folder.file("image.astc"), ktx,
    ])
    // A header of 64 bytes whose last number counts the bytes behind it, the image's byte count,
    // and luminance: a byte a texel, or a binary16.
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: ktx)))
    let start = 68 + Int(bytes[60]) + Int(bytes[61]) << 8
    let theirs: [Float] = ours.indices.map { place in
      if profile == "ldr" { return Float(bytes[start + place]) }
      let bits = UInt16(bytes[start + 2 * place]) | UInt16(bytes[start + 2 * place + 1]) << 8
      return Float(Float16(bitPattern: bits))
    }
    let expected = profile == "ldr" ? ours.map { ($0 * 255 + 0.5).rounded(.down) } : ours
    #expect(theirs == expected)
  }

  @Test func benchmarkReportsItsFigures() throws {
    let result = try Program.run([
      "astc", "benchmark", "--rows", "8", "--columns", "360", "--planted", "5", "--json",
    ])
    #expect(result.status == 0, "\(result)")
    let report = try #require(try result.json() as? [String: [[String: Any]]])
    let errors = try #require(report["results"]).compactMap { $0["relative_rms"] as? Double }
    #expect(errors.count == 3 && errors == errors.sorted(by: >) && errors[0] < 0.22, "\(errors)")
  }
}
