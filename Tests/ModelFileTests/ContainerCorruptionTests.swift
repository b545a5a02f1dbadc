import Foundation
import ModelFile
import TensorCore
import TestSupport
import Testing

@Suite struct ContainerCorruptionTests {
  /// Opens and verifies the file, and loads everything; the first error, if any.
  private static func fault(_ path: String) -> InputError? {
    do {
      try AFMWFile(opening: path).verify()
      return nil
    } catch {
      return error
    }
  }

  /// Every bit of a file with tokenizer and provenance; of the zeros before a stored plane, one
  /// bit a byte.
  @Test(arguments: PlaneStorage.allCases)
  func everyFlippedBitIsFound(storage: PlaneStorage) throws {
    let folder = try ScratchFolder()
    let path = folder.path("m.afmw")
    let tensors =
      storage == .stored
      ? [try SampleTensor("kernel", [3, 5], .s8c, storage: .stored, seed: 3)] : try smallTensors()
    try write(tensors, to: path, tokenizer: storage == .stored ? nil : .sample)
    let good = [UInt8](try Data(contentsOf: URL(filePath: path)))
    #expect(Self.fault(path) == nil)
    let handle = try FileHandle(forUpdating: URL(filePath: path))
    defer { try? handle.close() }
    func put(_ byte: UInt8, at offset: Int) throws {
      try handle.seek(toOffset: UInt64(offset))
      try handle.write(contentsOf: Data([byte]))
    }
    for offset in good.indices {
      let inPadding =
        storage == .stored
        && good[max(0, offset - 8)...min(offset + 8, good.count - 1)]
          .allSatisfy { $0 == 0 }
      for bit in inPadding ? offset % 8..<offset % 8 + 1 : 0..<8 {
        try put(good[offset] ^ (1 << UInt8(bit)), at: offset)
        let fault = Self.fault(path)
        #expect(fault != nil, "bit \(bit) of byte \(offset)")
        #expect(fault.map { $0.file == path && !$0.reason.isEmpty } ?? true)
        // What can still be loaded is what was packed.
        if let file = try? AFMWFile(opening: path),
          let loaded = try? file.loadAllTensors(threads: 1)
        {
          #expect(loaded.map(SampleTensor.init) == tensors, "bit \(bit) of byte \(offset)")
        }
      }
      try put(good[offset], at: offset)
    }
    #expect(Self.fault(path) == nil)
  }

  /// A file of a few frames in either form.
  private static func file(kernel: Bool, in folder: ScratchFolder) throws -> String {
    let path = folder.path("flips.afmw")
    try ModelLoaderTests.write(
      [
        try SampleTensor("token_embd.weight", [40, 72], .u4g32, seed: 1),
        try SampleTensor("blk.0.attn_q.weight", [33, 90], .u2c, seed: 2),
        try SampleTensor("blk.0.ffn_up.weight", [17, 65], .s8c, seed: 3),
        try SampleTensor("output_norm.weight", [8], .f32, seed: 4),
      ], to: path, kernel: kernel)
    return path
  }

  /// 5,000 single bits, drawn with a fixed seed: neither `verify` nor the model loader lets one by.
  @Test(arguments: [false, true])
  func randomFlippedBitsAreFoundByVerifyAndRefusedByTheLoader(kernel: Bool) throws {
    let folder = try ScratchFolder()
    let path = try Self.file(kernel: kernel, in: folder)
    let good = [UInt8](try Data(contentsOf: URL(filePath: path)))
    let handle = try FileHandle(forUpdating: URL(filePath: path))
    defer { try? handle.close() }
    let loader = ModelLoaderTests.loader(threads: 1)
    _ = try loader.load(try AFMWFile(opening: path))
    var generator = SeededGenerator(seed: 2025)
    for _ in 0..<5_000 {
      let offset = Int.random(in: good.indices, using: &generator)
      let bit = UInt8.random(in: 0..<8, using: &generator)
      try handle.seek(toOffset: UInt64(offset))
      try handle.write(contentsOf: Data([good[offset] ^ (1 << bit)]))
      #expect(Self.fault(path) != nil, "verify: bit \(bit) of byte \(offset)")
      #expect(throws: (any Error).self, "loader: bit \(bit) of byte \(offset)") {
        try loader.load(try AFMWFile(opening: path))
      }
      try handle.seek(toOffset: UInt64(offset))
      try handle.write(contentsOf: Data([good[offset]]))
    }
    #expect(Self.fault(path) == nil)
  }

  @Test func everyTruncationOfAMappedFileIsFound() throws {
    let folder = try ScratchFolder()
    let path = try Self.file(kernel: true, in: folder)
    let good = try Data(contentsOf: URL(filePath: path))
    let handle = try FileHandle(forUpdating: URL(filePath: path))
    defer { try? handle.close() }
    for count in (0..<good.count).reversed() {
      try handle.truncate(atOffset: UInt64(count))
      #expect(throws: InputError.self, "\(count) bytes") { _ = try AFMWFile(opening: path) }
    }
  }

  /// A file that was whole when it was opened and is shorter when it is mapped.
  @Test(arguments: [false, true])
  func aFileThatShrinksUnderTheLoaderIsAnError(kernel: Bool) throws {
    let folder = try ScratchFolder()
    let path = folder.path("m.afmw")
    try ModelLoaderTests.write(
      [try SampleTensor("t", [2048, 2048], .s8c, seed: 3)], to: path, kernel: kernel)
    let file = try AFMWFile(opening: path)
    let handle = try FileHandle(forUpdating: URL(filePath: path))
    try handle.truncate(atOffset: 1_000_000)
    try handle.close()
    #expect(throws: LoadError.self) { try ModelLoaderTests.loader().load(file) }
  }

  @Test func everyTruncationAndExtensionIsFound() throws {
    let folder = try ScratchFolder()
    let path = folder.path("m.afmw")
    try write(try smallTensors(), to: path)
    let good = try Data(contentsOf: URL(filePath: path))
    for count in 0..<good.count {
      try good.prefix(count).write(to: URL(filePath: path))
      let fault = Self.fault(path)
      #expect(fault?.file == path, "\(count) bytes")
      #expect(throws: InputError.self) { _ = try AFMWFile(opening: path) }
    }
    try (good + Data([0])).write(to: URL(filePath: path))
    #expect(Self.fault(path) != nil)
  }

  @Test func faultsInTensorsNameTensorFrameAndOffset() throws {
    let folder = try ScratchFolder()
    let path = folder.path("m.afmw")
    let tensor = try SampleTensor("blk.0.ffn_up.weight", [1024, 3000], .s8c, seed: 3)
    try write([try SampleTensor("first", [3], .f32, seed: 1), tensor], to: path)
    var bytes = try Data(contentsOf: URL(filePath: path))
    let file = try AFMWFile(opening: path)
    let plane = try #require(file.tensors[1].stored(.codes))
    // The second frame of the plane: about a mebibyte behind the first.
    bytes[plane.fileOffset + plane.storedByteCount / 2] ^= 0x10
    try bytes.write(to: URL(filePath: path))
    for threads in [1, 4] {
      let opened = try AFMWFile(opening: path)
      let error = #expect(throws: InputError.self) { try opened.verify(threads: threads) }
      #expect(error?.file == path)
      #expect(error?.place == "tensor blk.0.ffn_up.weight: frame 2")
      let offset = try #require(error?.offset)
      #expect(offset > plane.fileOffset && offset < plane.fileOffset + plane.storedByteCount)
      let same = #expect(throws: InputError.self) {
        try opened.loadTensor(named: tensor.name, threads: threads)
      }
      #expect(same == error)
      #expect(try opened.loadTensor(named: "first").byteCount == 12)
    }
  }

  @Test func aFileThatShrinksAfterOpeningIsAnError() throws {
    let folder = try ScratchFolder()
    let path = folder.path("m.afmw")
    try write([try SampleTensor("t", [512, 1024], .s8c, seed: 3)], to: path)
    let file = try AFMWFile(opening: path)
    let handle = try FileHandle(forUpdating: URL(filePath: path))
    try handle.truncate(atOffset: 1000)
    try handle.close()
    let error = #expect(throws: InputError.self) { try file.verify(threads: 2) }
    #expect(error?.place == "tensor t: frame 0")
  }

  @Test func whatIsNoContainerIsRefusedWithItsName() throws {
    let folder = try ScratchFolder()
    #expect(Self.fault(folder.path("missing"))?.file == folder.path("missing"))
    #expect(Self.fault(folder.url.path)?.reason == "cannot open: it is a directory")
    try Data("GGUF\u{3}\u{0}\u{0}\u{0}".utf8).write(to: URL(filePath: folder.path("short")))
    #expect(Self.fault(folder.path("short"))?.offset == 8)
    try Data(repeating: 7, count: 5000).write(to: URL(filePath: folder.path("long")))
    #expect(Self.fault(folder.path("long"))?.reason == "not an .afmw file")
  }
}
