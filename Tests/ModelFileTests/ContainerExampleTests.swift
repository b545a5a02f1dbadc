import Foundation
import ModelFile
import PackedFormats
import TensorCore
import Testing
import Tokenization

/// The worked example at the end of the specification.
///
/// After a change of the format, `AFM_WRITE_EXAMPLE=FILE swift test --filter ContainerExample`
/// writes the file, and `tools/oracles/afmw_hex.py FILE` prints it as the specification shows it.
@Suite struct ContainerExampleTests {
  private func example() throws -> [UInt8] {
    let folder = try ScratchFolder()
    let path = folder.path("example.afmw")
    var writer = try ContainerWriter(creating: path, compression: .raw, threads: 1)
    let shape = try #require(TensorShape([2, 3]))
    try writer.beginTensor(name: "w", shape: shape, format: .u2c)
    // Row 0 has codes 0, 1, 2 and scale 1; row 1 has codes 3, 3, 0 and scale 0.5.
    let codes: [UInt8] = [0b10_01_00, 0b00_11_11]
    let scales: [UInt8] = [0, 0, 0x80, 0x3F, 0, 0, 0, 0x3F]
    try unsafe writer.append(codes.span.bytes, to: .codes)
    try unsafe writer.append(scales.span.bytes, to: .scales)
    try writer.endTensor()
    let header = ModelHeader(
      architecture: "llama", name: "tiny", layerCount: 1, hiddenSize: 4, feedForwardSize: 8,
      vocabularySize: 3, queryHeadCount: 1, keyValueHeadCount: 1, headDimension: 4,
      contextLength: 16, ropeBase: 10_000, ropePairing: .adjacent, ropeDimension: 4,
      normEpsilon: 0.5, tiedOutput: true, attentionBias: false)
    let tokenizer = TokenizerDescription(
      model: "gpt2", preTokenizer: "smollm", tokens: ["a", "b", "ab"],
      kinds: [.normal, .normal, .normal], merges: [.init(left: 0, right: 1)], endToken: 2)
    try writer.finish(header: header, tokenizer: tokenizer, provenance: ["file": "tiny.gguf"])
    return [UInt8](try Data(contentsOf: URL(filePath: path)))
  }

  @Test func theSpecificationShowsTheBytesThatAreWritten() throws {
    let found = try example()
    if let path = ProcessInfo.processInfo.environment["AFM_WRITE_EXAMPLE"] {
      try Data(found).write(to: URL(filePath: path))
    }
    let page = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Sources/ModelFile/ModelFile.docc/ContainerExample.md")
    var shown: [UInt8] = []
    for line in try String(contentsOf: page, encoding: .utf8).split(separator: "\n") {
      // `0040: 28 b5 2f fd  meaning`
      guard let colon = line.firstIndex(of: ":"), let offset = Int(line[..<colon], radix: 16),
        line.distance(from: line.startIndex, to: colon) == 4
      else { continue }
      #expect(offset == shown.count, "\(line)")
      let hex = line[line.index(after: colon)...].dropFirst().prefix(8 * 3 - 1)
      shown += hex.split(separator: " ").compactMap { UInt8($0, radix: 16) }
    }
    #expect(shown == found)
  }
}
