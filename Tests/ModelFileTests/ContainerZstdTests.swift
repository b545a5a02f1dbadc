import Foundation
import ModelFile
import PackedFormats
import TensorCore
import Testing

/// Independent readers of the outer format: Debian's `zstd`, and PyPI's `pyzstd` with `xxhash`.
@Suite struct ContainerZstdTests {
  static let python = ProcessInfo.processInfo.environment["AFM_PYTHON"]

  /// A file with compressed and stored planes of one frame and of several.
  private func sample(in folder: ScratchFolder) throws -> (path: String, stream: [UInt8]) {
    let path = folder.path("m.afmw")
    var tensors = try smallTensors()
    tensors.append(try SampleTensor("large", [1100, 1000], .u4g32, seed: 6))
    tensors.append(try SampleTensor("kernel", [9, 70], .s8c, storage: .stored, seed: 7))
    tensors.append(try SampleTensor("larger", [1100, 1000], .s8c, seed: 8))
    try write(tensors, to: path, threads: 2, pieceByteCount: 50_000)
    let compressed = tensors.filter { $0.storage == .compressed }
    let stream = compressed.flatMap { tensor in
      tensor.format.planes.flatMap { tensor.planes[$0] ?? [] }
    }
    return (path, stream)
  }

  @Test(.enabled(if: hasZstd || !oraclesMayBeMissing, "zstd is not installed"))
  func zstdAcceptsTheFileAndFindsThePlanes() throws {
    let folder = try ScratchFolder()
    let (path, stream) = try sample(in: folder)
    let test = try run("zstd", ["-q", "-t", path])
    #expect(test.status == 0, "\(test.errors)")
    let output = try run("zstd", ["-q", "-dc", path])
    #expect(output.status == 0, "\(output.errors)")
    #expect([UInt8](output.output) == stream)
  }

  @Test(.enabled(if: python != nil || !oraclesMayBeMissing, "AFM_PYTHON is not set"))
  func theSeekTableAndAllDigestsAreRight() throws {
    let folder = try ScratchFolder()
    let (path, stream) = try sample(in: folder)
    let script = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../tools/oracles/afmw_check.py").path
    let python = try #require(Self.python)
    let result = try run(python, [script, path])
    #expect(result.status == 0, "\(result.errors)")
    let words = String(decoding: result.output, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    #expect(words.first.flatMap { Int($0) } == stream.count)
    #expect(words.last.flatMap { UInt64($0, radix: 16) } == XXH64.hash(stream))
  }
}
