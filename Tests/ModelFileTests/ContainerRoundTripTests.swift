import Foundation
import ModelFile
import PackedFormats
import TensorCore
import TestSupport
import Testing
import Tokenization

@Suite struct ContainerRoundTripTests {
  static let shapes: [[Int]] = [
    [1], [], [7], [1, 1], [3, 31], [5, 33], [2, 63], [4, 65], [3, 2, 17], [1, 1000],
  ]

  @Test(arguments: WeightFormat.allCases, PlaneStorage.allCases)
  func everyFormatComesBackByteForByte(format: WeightFormat, storage: PlaneStorage) throws {
    let folder = try ScratchFolder()
    let path = folder.path("m.afmw")
    let tensors = try Self.shapes.enumerated().map {
      try SampleTensor("t\($0)", $1, format, storage: storage, seed: UInt64($0 + 10))
    }
    try write(tensors, to: path, pieceByteCount: 13)
    #expect(folder.entries == ["m.afmw"])
    let file = try AFMWFile(opening: path)
    #expect(file.header == .sample)
    #expect(file.tokenizer == .sample)
    #expect(file.provenance == ["source": "sample.gguf"])
    #expect(file.tensors.map(\.name) == tensors.map(\.name))
    #expect(try file.loadAllTensors(threads: 2).map(SampleTensor.init) == tensors)
    try file.verify(threads: 2)
    for (index, tensor) in tensors.enumerated() {
      #expect(SampleTensor(try file.loadTensor(named: tensor.name)) == tensor)
      let stored = file.tensors[index]
      #expect(stored.byteCount == tensor.planes.values.reduce(0) { $0 + $1.count })
      for plane in stored.planes where storage == .stored {
        let mapping = try file.mapPlane(plane.plane, ofTensor: index)
        #expect(bytes(mapping.bytes) == tensor.planes[plane.plane])
      }
    }
  }

  @Test(arguments: [FrameCompression.raw, .zstd(level: 1), .zstd(level: 19)])
  func planesOfSeveralFramesComeBack(compression: FrameCompression) throws {
    let folder = try ScratchFolder()
    let path = folder.path("m.afmw")
    let tensors = [
      try SampleTensor("large", [1200, 1777], .s8c, seed: 1),
      try SampleTensor("exact", [1024, 1024], .s8c, seed: 2),
      try SampleTensor("groups", [3000, 1500], .u4g32, seed: 3),
    ]
    try write(tensors, to: path, compression: compression, threads: 2, pieceByteCount: 100_000)
    let file = try AFMWFile(opening: path)
    #expect(try file.loadAllTensors(threads: 2).map(SampleTensor.init) == tensors)
    #expect(
      try file.loadTensors([2, 0], threads: 1).map(SampleTensor.init) == [tensors[2], tensors[0]])
    try file.verify(threads: 2)
  }

  @Test func bytesDoNotDependOnThreadsOrPieces() throws {
    let folder = try ScratchFolder()
    var tensors = try smallTensors()
    tensors.append(try SampleTensor("large", [2000, 3000], .u4g32, seed: 9))
    tensors.append(try SampleTensor("next", [700, 3000], .s8c, seed: 10))
    var files: [Data] = []
    for (threads, piece) in [(1, 1 << 30), (2, 65_536), (5, 99_999), (1, 65_536)] {
      let path = folder.path("\(threads)-\(piece)")
      try write(tensors, to: path, threads: threads, pieceByteCount: piece)
      files.append(try Data(contentsOf: URL(filePath: path)))
    }
    #expect(files.allSatisfy { $0 == files[0] })
  }

  @Test func contentThatShrinksTooMuchStaysRaw() throws {
    let folder = try ScratchFolder()
    let path = folder.path("m.afmw")
    var zeros = try SampleTensor("zeros", [1024, 1024], .f32, seed: 1)
    zeros.planes[.codes] = [UInt8](repeating: 0, count: 4 << 20)
    try write([zeros], to: path)
    let file = try AFMWFile(opening: path)
    #expect(file.byteCount > 4 << 20)
    #expect(SampleTensor(try file.loadTensor(named: "zeros")) == zeros)
  }

  @Test func aFileWithoutTensorsOrTokenizer() throws {
    let folder = try ScratchFolder()
    let path = folder.path("m.afmw")
    try write([], to: path, tokenizer: nil, provenance: [:])
    let file = try AFMWFile(opening: path)
    #expect(file.tensors.isEmpty)
    #expect(file.tokenizer == nil)
    #expect(file.provenance.isEmpty)
    try file.verify()
    #expect(throws: InputError.self) { try file.loadTensor(named: "x") }
  }

  @Test func aLargeVocabularyComesBack() throws {
    let folder = try ScratchFolder()
    let path = folder.path("m.afmw")
    let count = 151_936
    var generator = SeededGenerator(seed: 5)
    let tokenizer = TokenizerDescription(
      model: "gpt2", preTokenizer: "qwen2", tokens: (0..<count).map { "Ġtoken\($0)" },
      kinds: Array(repeating: .normal, count: count),
      merges: (0..<count).map { _ in
        .init(
          left: .random(in: 0..<UInt32(count), using: &generator),
          right: .random(in: 0..<UInt32(count), using: &generator))
      })
    try write([], to: path, tokenizer: tokenizer)
    #expect(try AFMWFile(opening: path).tokenizer == tokenizer)
  }

  @Test func progressReachesTheTotal() throws {
    let folder = try ScratchFolder()
    let path = folder.path("m.afmw")
    try write(try smallTensors(), to: path)
    let file = try AFMWFile(opening: path)
    let total = file.tensors.reduce(0) { $0 + $1.byteCount }
    let seen = Counter()
    try file.verify(threads: 2) { seen.note($0, of: $1) }
    #expect(seen.last.withLock { $0 }?.done == total)
    #expect(seen.last.withLock { $0 }?.total == total)
  }
}
