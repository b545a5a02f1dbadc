import Foundation
import ModelFile
import TensorCore
import TestSupport
import Testing

/// Compares with PyPI `safetensors`, through tools/oracles/safetensors_oracle.py.
@Suite(.needs(.python), .serialized) struct SafetensorsOracleTests {
  struct Report: Decodable {
    var metadata: [String: String]
    var tensors: [String]
  }

  static func report(_ path: String) throws -> Report {
    try JSONDecoder().decode(
      Report.self, from: Oracle.script("safetensors_oracle.py", "report", path))
  }

  /// A line as the oracle prints it, from our values.
  static func line(_ file: SafetensorsFile, _ tensor: SafetensorsTensor) throws -> String {
    var sum: UInt64 = 0
    for (index, value) in try file.values(of: tensor).enumerated() {
      let weight = (UInt64(index) &* 0x9E37_79B9_7F4A_7C15 &+ 0x632B_E59B_D9B4_E019) | 1
      sum &+= UInt64(value.isNaN ? 0x7FC0_0000 : value.bitPattern) &* weight
    }
    return "\(tensor.name) \(tensor.element.rawValue) \(tensor.shape) \(sum)"
  }

  @Test(arguments: 1...3) func readsEveryTypeAsTheOracleDoes(seed: Int) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("types.safetensors")
    _ = try Oracle.script("safetensors_oracle.py", "types", path, String(seed))
    let expected = try Self.report(path)
    let file = try SafetensorsFile(path: path)
    #expect(file.metadata == expected.metadata)
    let readable = SafetensorsElement.allCases.filter(\.isReadable)
    #expect(Set(file.tensors.map(\.element)) == Set(readable))
    #expect(try file.tensors.map { try Self.line(file, $0) }.sorted() == expected.tensors.sorted())
  }

  /// What our writer writes, the oracle reads: every readable type, odd names, no tensors at all.
  @Test func theOracleReadsWhatWeWrite() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("ours.safetensors")
    let elements = SafetensorsElement.allCases.filter(\.isReadable)
    let tensors = try elements.enumerated().map { number, element in
      SafetensorsWriter.Tensor(
        name: "t \(number) \"\\\n\u{1}é😀", element: element,
        shape: try #require(TensorShape([number % 3, 5])))
    }
    var writer = try SafetensorsWriter(
      creating: path, metadata: ["quote": "\"\\\u{1F}\t", "é": "😀"], tensors: tensors)
    for index in writer.dataOrder {
      let count = try #require(tensors[index].byteCount)
      let bytes = (0..<count).map {
        tensors[index].element == .bool ? UInt8($0 % 2) : UInt8(truncatingIfNeeded: $0 * 37 + index)
      }
      try writer.append(unsafe bytes.span.bytes)
    }
    try writer.finish()
    let expected = try Self.report(path)
    let file = try SafetensorsFile(path: path)
    #expect(expected.metadata == ["quote": "\"\\\u{1F}\t", "é": "😀"])
    #expect(file.tensors.count == elements.count)
    #expect(try file.tensors.map { try Self.line(file, $0) }.sorted() == expected.tensors.sorted())
    let empty = folder.file("empty.safetensors")
    let nothing = try SafetensorsWriter(creating: empty, tensors: [])
    try nothing.finish()
    #expect(try Self.report(empty).tensors.isEmpty)
    #expect(try SafetensorsFile(path: empty).tensors.isEmpty)
  }
}
