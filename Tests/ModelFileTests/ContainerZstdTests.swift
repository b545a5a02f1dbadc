import Files
import ModelFile
import PackedFormats
import TensorCore
import TestSupport
import Testing

/// Independent readers of the outer format: Debian's `zstd`, and PyPI's `pyzstd` with `xxhash`.
@Suite struct ContainerZstdTests {
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

  @Test(.needs(.tool("zstd")))
  func zstdAcceptsTheFileAndFindsThePlanes() throws {
    let folder = try ScratchFolder()
    let (path, stream) = try sample(in: folder)
    let zstd = Oracle.tool("zstd")
    _ = try zstd.run(["-q", "-t", path])
    #expect(try [UInt8](zstd.run(["-q", "-dc", path])) == stream)
  }

  @Test(.needs(.python))
  func theSeekTableAndAllDigestsAreRight() throws {
    let folder = try ScratchFolder()
    let (path, stream) = try sample(in: folder)
    let output = String(decoding: try Oracle.script("afmw_check.py", path), as: UTF8.self)
    let words = output.split(whereSeparator: \.isWhitespace)
    #expect(words.first.flatMap { Int($0) } == stream.count)
    #expect(words.last.flatMap { UInt64($0, radix: 16) } == XXH64.hash(stream))
  }
}
