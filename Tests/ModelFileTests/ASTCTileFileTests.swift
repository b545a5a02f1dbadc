import Foundation
import ModelFile
import PackedFormats
import TensorCore
import TestSupport
import Testing

/// ASTC tensors in files: canonical ones that are loaded into tiles, and tiles that are stored ready.
@Suite struct ASTCTileFileTests {
  static let formats = [WeightFormat.astc6x6LDR, .astc6x6HDR]

  /// A tensor of 40 × 400 elements in blocks of the modes that the layout holds.
  private func canonical(_ format: WeightFormat, foreign: Bool = false) throws -> SampleTensor {
    var generator = SeededGenerator(seed: 21)
    let modes = ASTCWeightMode.allCases.filter { format == .astc6x6HDR || $0 != .oneHDR }
    var tensor = try SampleTensor("w", [1, 1], .f32, seed: 0)
    (tensor.name, tensor.dimensions, tensor.format) = ("blk.0.ffn_up.weight", [40, 400], format)
    var codes: [UInt8] = []
    for index in 0..<40 * 12 {
      var block = ASTCWeightBlock(mode: modes[index % modes.count])
      if block.mode.partitionCount > 1 { block.seed = .random(in: 0..<1024, using: &generator) }
      let codeCount = UInt64(block.mode.codeRange.levelCount)
      for column in 0..<36 {
        let code = UInt64.random(in: 0..<codeCount, using: &generator)
        if column < 20 {
          block.lowCodes |= code << UInt64(3 * column)
        } else {
          block.highCodes |= code << UInt64(3 * (column - 20))
        }
      }
      codes += block.block.bytes
    }
    if foreign {
      // A void extent: legal, and no block that the encoder writes.
      codes.replaceSubrange(
        (17 * 12 + 5) * 16..<(17 * 12 + 6) * 16,
        with: [0xFC, 0xFD] + Array(repeating: 0xFF, count: 6) + Array(repeating: 0, count: 8))
    }
    let scaleCount = format == .astc6x6HDR ? 1 : 40
    tensor.planes = [
      .codes: codes, .scales: (0..<scaleCount).flatMap { [0, UInt8($0), 0x80, 0x3F] },
    ]
    if format == .astc6x6HDR {
      tensor.planes[.minimums] = (0..<40 * 12).flatMap { [UInt8($0 & 255), 0xB4] }
    }
    return tensor
  }

  private func load(
    _ file: AFMWFile, mapsStoredPlanes: Bool = true
  ) throws -> ModelLoader.Loaded {
    var loader = ModelLoader(threads: 2)
    loader.mapsStoredPlanes = mapsStoredPlanes
    loader.layout = { $0.format.isASTC ? .astcTiles : .canonical }
    return try loader.load(file)
  }

  @Test(arguments: formats)
  func canonicalBlocksAreLoadedIntoTiles(format: WeightFormat) throws {
    let folder = try ScratchFolder()
    let tensor = try canonical(format)
    try write([tensor], to: folder.path("c.afmw"))
    let loaded = try load(AFMWFile(opening: folder.path("c.afmw")))
    #expect(loaded.refusals.isEmpty)
    #expect(loaded.tensors[0].layout == .astcTiles)
    #expect(loaded.tensors[0].byteCount == loaded.report.tensorByteCount)

    // Stored ready, the file gives the same tiles without work, and the same blocks.
    try writeTiles(tensor, to: folder.path("k.afmw"))
    let file = try AFMWFile(opening: folder.path("k.afmw"))
    try file.verify(threads: 2)
    let mapped = try load(file)
    #expect(mapped.report.mappedByteCount == mapped.report.tensorByteCount)
    let copied = try load(file, mapsStoredPlanes: false)
    #expect(copied.report.mappedByteCount == 0)
    let (made, ready, copy) = (loaded.tensors[0], mapped.tensors[0], copied.tensors[0])
    let (madeCodes, readyCodes) = (bytes(made.codes), bytes(ready.codes))
    let copiedCodes = bytes(copy.codes)
    #expect(madeCodes == readyCodes)
    #expect(madeCodes == copiedCodes)
    let back = SampleTensor(try file.loadTensor(named: tensor.name))
    #expect(back.planes == tensor.planes)
  }

  @Test func aBlockWithoutAPlaceLeavesItsTensorCanonical() throws {
    let folder = try ScratchFolder()
    let tensor = try canonical(.astc6x6LDR, foreign: true)
    try write([tensor], to: folder.path("c.afmw"))
    let loaded = try load(AFMWFile(opening: folder.path("c.afmw")))
    #expect(loaded.tensors[0].layout == .canonical)
    #expect(SampleTensor(loaded.tensors[0]).planes == tensor.planes)
    let refusal = try #require(loaded.refusals.first).description
    for words in ["c.afmw", "tensor blk.0.ffn_up.weight", "row 17, block 5", "its mode is not one"]
    {
      #expect(refusal.contains(words), "\(refusal)")
    }
  }

  /// Digests that are right, over tiles that are not.
  @Test func wrongTilesAreRefused() throws {
    let folder = try ScratchFolder()
    try write([canonical(.astc6x6LDR)], to: folder.path("c.afmw"))
    let tensor = try load(AFMWFile(opening: folder.path("c.afmw"))).tensors[0]
    var codes = bytes(tensor.codes)
    let scales = bytes(tensor.scales)
    // The first of three bands begins with the kinds of its tiles.
    for (offset, rows) in [(0, "rows 0 to 15"), (codes.count / 3, "rows 16 to 31")] {
      let kind = codes[offset]
      codes[offset] = 9
      let path = folder.path("\(offset).afmw")
      var writer = try ContainerWriter(creating: path, compression: .zstd(level: 1), threads: 1)
      try writer.beginTensor(
        name: tensor.name, shape: tensor.shape, format: tensor.format, layout: .astcTiles,
        storage: .stored)
      // Bytes have no padding.
      try unsafe writer.append(codes.span.bytes, to: .codes)
      try unsafe writer.append(scales.span.bytes, to: .scales)
      try writer.endTensor()
      try writer.finish(header: .sample, tokenizer: nil, provenance: [:])
      codes[offset] = kind
      let file = try AFMWFile(opening: path)
      let error = #expect(throws: (any Error).self) { _ = try load(file) }
      for words in ["tensor blk.0.ffn_up.weight: ", "\(rows), block 0: an unknown kind"] {
        #expect("\(error as Any)".contains(words), "\(error as Any)")
      }
    }
  }

  private func writeTiles(_ tensor: SampleTensor, to path: String) throws {
    var writer = try ContainerWriter(
      creating: path, compression: .zstd(level: 1), threads: 1, usesKernelLayouts: true)
    let shape = try #require(TensorShape(tensor.dimensions))
    try writer.beginTensor(name: tensor.name, shape: shape, format: tensor.format)
    for plane in tensor.format.planes {
      let bytes = try #require(tensor.planes[plane])
      // Bytes have no padding.
      try unsafe writer.append(bytes.span.bytes, to: plane)
    }
    try writer.endTensor()
    try writer.finish(header: .sample, tokenizer: nil, provenance: [:])
  }
}
