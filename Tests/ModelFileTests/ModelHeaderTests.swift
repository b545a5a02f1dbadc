import Foundation
import ModelFile
import TensorCore
import TestSupport
import Testing

/// The model header in JSON: what older files say opens, and what they do not say changes nothing.
@Suite struct ModelHeaderTests {
  static let optional = ["keyValueLayerCount", "headNorm", "cacheScales"]

  private func json(_ header: ModelHeader) throws -> [String: Any] {
    let data = try JSONEncoder().encode(header)
    return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
  }

  @Test func headersOfPlainArchitecturesKeepTheirKeys() throws {
    let keys = try json(.sample).keys
    #expect(keys.count == 16)
    for name in Self.optional { #expect(!keys.contains(name)) }
  }

  /// Any header, with any of the optional properties left out or there, comes back as it was.
  @Test(arguments: 0..<200)
  func headersComeBack(seed: Int) throws {
    var generator = SeededGenerator(seed: UInt64(seed))
    var header = ModelHeader.sample
    header.layerCount = .random(in: 1...99, using: &generator)
    header.ropeBase = .random(in: 1...1e6, using: &generator)
    header.normEpsilon = .random(in: 0...1, using: &generator)
    if Bool.random(using: &generator) {
      header.keyValueLayerCount = .random(in: 1...header.layerCount, using: &generator)
    }
    if Bool.random(using: &generator) {
      header.headNorm = Bool.random(using: &generator) ? .afterRope : .beforeRope
    }
    if Bool.random(using: &generator) {
      let own = header.keyValueLayerCount ?? header.layerCount
      func scales() -> [Float] { (0..<own).map { _ in .random(in: 1e-6...9, using: &generator) } }
      header.cacheScales = .init(keys: scales(), values: scales())
    }
    let folder = try ScratchFolder()
    let path = folder.path("h.afmw")
    var writer = try ContainerWriter(creating: path, compression: .zstd(level: 1), threads: 1)
    let tensor = try SampleTensor("w", [2, 4], .f32, seed: 1)
    let codes = try #require(tensor.planes[.codes])
    try writer.beginTensor(
      name: "w", shape: try #require(TensorShape([2, 4])), format: .f32)
    // Bytes have no padding.
    try unsafe writer.append(codes.span.bytes, to: .codes)
    try writer.endTensor()
    try writer.finish(header: header, tokenizer: nil, provenance: [:])
    #expect(try AFMWFile(opening: path).header == header)
    // A reader that knows none of them still finds the rest.
    var old = try json(header)
    for name in Self.optional { old[name] = nil }
    let plain = try JSONDecoder().decode(
      ModelHeader.self, from: JSONSerialization.data(withJSONObject: old))
    #expect(plain.layerCount == header.layerCount && plain.keyValueLayerCount == nil)
  }

  @Test(
    arguments: [
      ("keyValueLayerCount is 0 of 1 layers", 0, nil),
      ("keyValueLayerCount is 2 of 1 layers", 2, nil),
      ("cacheScales.keys has 2 scales for 1 layers", nil, [[1, 1], [1]]),
      ("cacheScales.values has the scale 0.0", nil, [[1], [0]]),
      ("cacheScales.keys has the scale inf", 1, [[.infinity], [1]]),
    ] as [(String, Int?, [[Float]]?)])
  func impossibleValuesAreRefused(reason: String, own: Int?, scales: [[Float]]?) throws {
    var header = ModelHeader.sample
    header.keyValueLayerCount = own
    header.cacheScales = scales.map { .init(keys: $0[0], values: $0[1]) }
    let folder = try ScratchFolder()
    let writer = try ContainerWriter(
      creating: folder.path("h"), compression: .zstd(level: 1), threads: 1)
    do {
      try writer.finish(header: header, tokenizer: nil, provenance: [:])
      Issue.record("a header with \(reason) was written")
    } catch {
      #expect("\(error)".contains(reason), "\(error)")
    }
    #expect(folder.entries.isEmpty)
  }
}
