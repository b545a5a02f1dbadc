import Foundation
import ModelFile
import PackedFormats
import Synchronization
import TensorCore
import TestSupport
import Testing

@Suite struct ModelLoaderTests {
  static let tiled = WeightFormat.allCases.filter { $0.kernelLayout == .rowTiles }

  /// A loader that brings everything into the layouts of kernels.
  static func loader(threads: Int = 2) -> ModelLoader {
    var loader = ModelLoader(threads: threads)
    loader.layout = { $0.format.kernelLayout ?? .canonical }
    return loader
  }

  /// Writes tensors as `SampleTensor` has them, in either form of file.
  static func write(
    _ tensors: [SampleTensor], to path: String, kernel: Bool
  ) throws {
    var writer = try ContainerWriter(
      creating: path, compression: .zstd(level: 3), threads: 2, usesKernelLayouts: kernel)
    for tensor in tensors {
      let shape = try #require(TensorShape(tensor.dimensions))
      try writer.beginTensor(name: tensor.name, shape: shape, format: tensor.format)
      for plane in tensor.format.planes {
        let bytes = tensor.planes[plane] ?? []
        // Bytes have no padding.
        try unsafe writer.append(bytes.span.bytes, to: plane)
      }
      try writer.endTensor()
    }
    try writer.finish(header: .sample, tokenizer: nil, provenance: [:])
  }

  /// The tiles that a tensor's planes make.
  static func tiles(_ tensor: SampleTensor) throws -> (codes: [UInt8], scales: [UInt8]) {
    let shape = try #require(TensorShape(tensor.dimensions))
    let layout = try #require(
      RowTileLayout(format: tensor.format, rows: shape.rowCount, columns: shape.columnCount))
    return try layout.interleaved(
      codes: tensor.planes[.codes] ?? [], scales: tensor.planes[.scales] ?? [],
      minimums: tensor.planes[.minimums] ?? [])
  }

  /// Planes of several frames, whose rows begin at every place of a word.
  @Test(arguments: tiled)
  func canonicalFilesArriveInTiles(format: WeightFormat) throws {
    let folder = try ScratchFolder()
    let path = folder.path("m.afmw")
    let tensors = [
      try SampleTensor("even", [700, 2048], format, seed: 1),
      try SampleTensor("odd", [2501, 1777], format, seed: 2),
      try SampleTensor("long", [40, 70_001], format, seed: 3),
    ]
    for kernel in [false, true] {
      try Self.write(tensors, to: path, kernel: kernel)
      let file = try AFMWFile(opening: path)
      for (threads, maps) in [(1, true), (3, true), (3, false)] {
        var loader = Self.loader(threads: threads)
        loader.mapsStoredPlanes = maps
        let loaded = try loader.load(file)
        for (tensor, found) in zip(tensors, loaded.tensors) {
          let expected = try Self.tiles(tensor)
          #expect(found.layout == .rowTiles)
          #expect(bytes(found.codes) == expected.codes, "\(tensor.name)")
          #expect(bytes(found.scales) == expected.scales, "\(tensor.name)")
          let back = found.inCanonicalLayout()
          for plane in format.planes {
            #expect(bytes(back.bytes(of: plane)) == tensor.planes[plane])
          }
        }
        let mappedBytes = kernel && maps ? loaded.report.tensorByteCount : 0
        #expect(loaded.report.mappedByteCount == mappedBytes)
        #expect(loaded.report[.inflate].byteCount == (kernel ? 0 : file.tensors.byteCount))
        #expect(loaded.report[.check].byteCount > 0)
      }
      #expect(
        try file.loadAllTensors(threads: 2).map { bytes($0.codes) }
          == tensors.map { $0.planes[.codes] ?? [] })
      try file.verify(threads: 2)
    }
  }

  @Test func realNumbersAndPackedBlocksStayCanonical() throws {
    let folder = try ScratchFolder()
    let path = folder.path("m.afmw")
    let tensors = [
      try SampleTensor("f", [300, 300], .f32, seed: 1), try SampleTensor("n", [30], .f32, seed: 2),
      try SampleTensor("h", [256, 256], .f16, seed: 3),
    ]
    for kernel in [false, true] {
      try Self.write(tensors, to: path, kernel: kernel)
      let file = try AFMWFile(opening: path)
      let loaded = try Self.loader().load(file)
      #expect(loaded.tensors.map(\.layout) == [.canonical, .canonical, .canonical])
      #expect(
        loaded.tensors.map { bytes($0.codes) } == tensors.map { $0.planes[.codes] ?? [] })
      #expect(loaded.report.mappedByteCount == (kernel ? 360_000 + 131_072 : 0))
    }
  }

  /// A tile of 64 columns for one column would take 64 times the bytes of the file.
  @Test func layoutsThatMostlyPadAreNotMade() throws {
    let folder = try ScratchFolder()
    let path = folder.path("m.afmw")
    try Self.write(
      [try SampleTensor("thin", [100_000, 1], .s8c, seed: 1)], to: path, kernel: false)
    let loaded = try Self.loader().load(try AFMWFile(opening: path))
    #expect(loaded.tensors[0].layout == .canonical)
  }

  /// Opening, which is all that listing a file needs, never looks at tensor bytes.
  @Test(arguments: [false, true])
  func openingReadsNoTensorBytes(kernel: Bool) throws {
    let folder = try ScratchFolder()
    let path = folder.path("m.afmw")
    try Self.write([try SampleTensor("t", [256, 256], .u2c, seed: 1)], to: path, kernel: kernel)
    let whole = try AFMWFile(opening: path)
    var bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
    let end = 64 + ContainerParts(bytes).frames.reduce(0) { $0 + $1.bytes.count }
    for offset in 64..<end { bytes[offset] = 0xFF }
    try Data(bytes).write(to: URL(filePath: path))
    let damaged = try AFMWFile(opening: path)
    #expect(damaged.tensors == whole.tensors)
    #expect(damaged.header == whole.header)
    #expect(throws: LoadError.self) { try Self.loader().load(damaged) }
  }

  @Test func oneTensorOfManyIsLoadedAlone() throws {
    let folder = try ScratchFolder()
    let path = folder.path("m.afmw")
    let tensors = try (0..<4).map { try SampleTensor("t\($0)", [64, 64], .u2c, seed: UInt64($0)) }
    try Self.write(tensors, to: path, kernel: false)
    let file = try AFMWFile(opening: path)
    let loaded = try Self.loader().load(file, tensors: [2])
    #expect(loaded.tensors.map(\.name) == ["t2"])
    #expect(loaded.report.storedByteCount == file.tensors[2].storedByteCount)
  }

  @Test func progressReachesTheTotalAndCancellationEndsIt() throws {
    let folder = try ScratchFolder()
    let path = folder.path("m.afmw")
    let tensors = [try SampleTensor("large", [4000, 2048], .s8c, seed: 1)]
    try Self.write(tensors, to: path, kernel: false)
    let file = try AFMWFile(opening: path)
    var loader = Self.loader()
    let seen = Counter()
    loader.progress = { seen.note($0, of: $1) }
    _ = try loader.load(file)
    #expect(seen.last.withLock { $0 }?.done == file.tensors.byteCount)
    let cancellation = LoadCancellation()
    loader.cancellation = cancellation
    let calls = Mutex(0)
    loader.progress = { _, _ in
      calls.withLock { $0 += 1 }
      cancellation.cancel()
    }
    #expect(throws: LoadError.cancelled) { try loader.load(file) }
    // One frame a thread may have been under way.
    #expect(calls.withLock { $0 } <= 2)
  }

  @Test func intervalsAreKeptWhenAskedFor() throws {
    let folder = try ScratchFolder()
    let path = folder.path("m.afmw")
    try Self.write([try SampleTensor("t", [2000, 2048], .u2c, seed: 1)], to: path, kernel: false)
    let file = try AFMWFile(opening: path)
    var loader = Self.loader()
    #expect(try loader.load(file).report.intervals.isEmpty)
    loader.keepsIntervals = true
    let report = try loader.load(file).report
    for stage in LoadStage.allCases {
      let intervals = report.intervals.filter { $0.stage == stage }
      #expect(intervals.count == report[stage].count)
      #expect(intervals.reduce(0) { $0 + $1.byteCount } == report[stage].byteCount)
      #expect(intervals.allSatisfy { $0.start <= $0.end && $0.worker < 2 })
    }
  }

  @Test func stagesCanBeMeasuredAlone() throws {
    let folder = try ScratchFolder()
    let path = folder.path("m.afmw")
    try Self.write([try SampleTensor("t", [2000, 2048], .u2c, seed: 1)], to: path, kernel: false)
    let file = try AFMWFile(opening: path)
    for stage in LoadStage.allCases where stage != .validate {
      let measured = try Self.loader().measure(stage, of: file)
      #expect(measured.byteCount > 0)
      #expect(measured.elapsedNanoseconds > 0)
    }
  }

  /// What a hostile writer could do: the digest of the frame fits, the checksum that zstd keeps of
  /// the content does not. Loading a model trusts the digest, verifying trusts nothing.
  @Test func contentChecksumsAreLeftToVerify() throws {
    let folder = try ScratchFolder()
    let path = folder.path("m.afmw")
    let tensor = try SampleTensor("b", [4], .f32, seed: 2)
    try Self.write([tensor], to: path, kernel: false)
    var parts = ContainerParts([UInt8](try Data(contentsOf: URL(filePath: path))))
    parts.frames[0].bytes[12] ^= 1
    try Data(parts.encoded()).write(to: URL(filePath: path))
    let file = try AFMWFile(opening: path)
    #expect(throws: Never.self) { try Self.loader().load(file) }
    #expect(throws: InputError.self) { try file.verify() }
    #expect(throws: InputError.self) { try file.loadTensor(named: "b") }
  }
}

extension [StoredTensor] {
  var byteCount: Int { reduce(0) { $0 + $1.byteCount } }
}
