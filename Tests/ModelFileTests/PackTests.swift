import Foundation
import ModelFile
import PackedFormats
import Synchronization
import TensorCore
import TestSupport
import Testing
import Tokenization

@Suite struct PackTests {
  static let shapes: [(String, [Int])] = [
    ("token_embd.weight", [300, 77]), ("blk.0.attn_norm.weight", [77]),
    ("blk.0.attn_q.weight", [77, 77]), ("blk.0.attn_q.bias", [77]),
    ("blk.0.attn_k.weight", [11, 77]), ("blk.0.attn_v.weight", [11, 77]),
    ("blk.0.attn_output.weight", [77, 77]), ("blk.0.ffn_gate.weight", [4000, 77]),
    ("blk.0.ffn_up.weight", [4000, 77]), ("blk.0.ffn_down.weight", [77, 4000]),
    ("output_norm.weight", [77]), ("output.weight", [300, 77]),
  ]

  // The packer quantizes some of these tensors in two pieces, which share a scale in some formats.
  @Test(arguments: WeightFormat.allCases)
  func everyTensorGetsItsFormatAndComesBack(format: WeightFormat) throws {
    let folder = try ScratchFolder()
    let source = try FloatModel(Self.shapes, seed: 3)
    let path = folder.path("m.afmw")
    let seen = Mutex(0)
    var packer = ModelPacker(weights: format, embedding: .s8c, threads: 2)
    packer.options.effort = .fast
    let report = try packer.pack(source, to: path) { progress in
      seen.withLock { $0 = progress.doneElementCount }
    }
    #expect(seen.withLock { $0 } == report.elementCount)
    #expect(folder.entries == ["m.afmw"])
    let file = try AFMWFile(opening: path)
    try file.verify(threads: 2)
    #expect(file.header == source.header)
    #expect(file.provenance["file"] == "sample")
    #expect(file.provenance["afmw.weights"] == format.name)
    for (index, tensor) in try file.loadAllTensors(threads: 2).enumerated() {
      let name = tensor.name
      let isEmbedding = name == "token_embd.weight" || name == "output.weight"
      let isLinear =
        name.contains("ffn_")
        || name.contains("attn_") && name != "blk.0.attn_norm.weight"
          && !name.hasSuffix("bias")
      #expect(tensor.format == (isEmbedding ? .s8c : isLinear ? format : .f32))
      // The report's error is that of the file's values against the source's.
      var found = [Float](repeating: 0, count: tensor.shape.elementCount)
      var output = found.mutableSpan
      tensor.format.dequantize(
        tensor.planes, rowCount: tensor.shape.rowCount, columnCount: tensor.shape.columnCount,
        into: &output)
      var (error, square) = (0.0, 0.0)
      for (value, packed) in zip(source.values[index], found) {
        error += (Double(value) - Double(packed)) * (Double(value) - Double(packed))
        square += Double(value) * Double(value)
      }
      let relative = (error / square).squareRoot()
      let reported = report.tensors[index]
      // The sums run in another order: binary64 rounding, 1e5 terms.
      #expect(abs(reported.relativeError - relative) <= 1e-10)
      #expect(reported.stored == tensor.description)
      if tensor.format == .f32 { #expect(found == source.values[index]) }
    }
    #expect(report.fileByteCount == file.byteCount)
    #expect(report.payloadBitsPerWeight <= report.totalBitsPerWeight)
  }

  @Test func bytesAndReportDoNotDependOnThreads() throws {
    let folder = try ScratchFolder()
    let source = try FloatModel(Self.shapes, seed: 4)
    var files: [Data] = []
    var errors: [[Double]] = []
    for threads in [1, 2, 7] {
      let path = folder.path("\(threads)")
      let report = try ModelPacker(weights: .u4g32, embedding: .s8c, threads: threads)
        .pack(source, to: path)
      files.append(try Data(contentsOf: URL(filePath: path)))
      errors.append(report.tensors.map(\.relativeError))
    }
    #expect(files[0] == files[1] && files[0] == files[2])
    #expect(errors[0] == errors[1] && errors[0] == errors[2])
  }

  @Test(arguments: [Float.nan, .infinity, -.infinity], WeightFormat.allCases)
  func whatIsNotFiniteIsRefusedWithTensorAndRow(value: Float, format: WeightFormat) throws {
    let folder = try ScratchFolder()
    var source = try FloatModel(Self.shapes, seed: 5)
    source.values[8][3999 * 77 + 5] = value
    var packer = ModelPacker(weights: format, embedding: .s8c, threads: 2)
    packer.options.effort = .fast
    let error = #expect(throws: PackError.self) {
      try packer.pack(source, to: folder.path("m.afmw"))
    }
    guard case .input(let input) = error else {
      Issue.record("not an input error: \(String(describing: error))")
      return
    }
    #expect(input.place == "tensor blk.0.ffn_up.weight")
    #expect(input.reason.contains("3999"))
    #expect(folder.entries.isEmpty)
  }

  /// Weights whose products would leave the range of binary32; f32 stores what it is given.
  @Test(
    arguments: [Float.greatestFiniteMagnitude, -1e38],
    WeightFormat.allCases.filter { $0 != .f32 })
  func whatIsTooLargeIsRefusedWithTensorRowAndColumn(value: Float, format: WeightFormat) throws {
    let folder = try ScratchFolder()
    var source = try FloatModel(Self.shapes, seed: 5)
    source.values[8][3999 * 77 + 5] = value
    var packer = ModelPacker(weights: format, embedding: .s8c, threads: 2)
    packer.options.effort = .fast
    let error = #expect(throws: PackError.self) {
      try packer.pack(source, to: folder.path("m.afmw"))
    }
    guard case .input(let input) = error else {
      Issue.record("not an input error: \(String(describing: error))")
      return
    }
    #expect(input.place == "tensor blk.0.ffn_up.weight")
    #expect(input.reason.contains("row 3999, column 5"), "\(input)")
    #expect(folder.entries.isEmpty)
  }

  @Test func anUnwritableDestinationIsAnErrorBeforeAnyWork() throws {
    let folder = try ScratchFolder()
    let source = try FloatModel(Self.shapes, seed: 6)
    for path in [folder.url.path, folder.path("missing/m.afmw"), "/dev/full"] {
      let error = #expect(throws: PackError.self) {
        try ModelPacker(weights: .s8c, embedding: .s8c).pack(source, to: path) { _ in
          Issue.record("work was done for \(path)")
        }
      }
      #expect(error?.description.hasPrefix(path + ": cannot create: ") == true)
    }
  }

  @Test(arguments: [
    ("", [2]), (String(repeating: "n", count: 513), [2]), ("empty", [0, 3]),
    ("deep", [1, 1, 1, 1, 1, 1, 1, 1, 1]),
  ])
  func whatTheFormatCannotHoldIsRefused(name: String, dimensions: [Int]) throws {
    let folder = try ScratchFolder()
    let source = try FloatModel([(name, dimensions)], seed: 7)
    #expect(throws: PackError.self) {
      try ModelPacker(weights: .s8c, embedding: .s8c).pack(source, to: folder.path("m.afmw"))
    }
    #expect(folder.entries.isEmpty)
  }

  /// A full disk in the middle of packing: a file system of 1 MiB.
  @Test(.enabled(if: FullDisk.canMount, "mounting needs root"))
  func aFullDiskLeavesNothing() throws {
    let disk = try FullDisk()
    let source = try FloatModel([("token_embd.weight", [4000, 500])], seed: 8)
    let error = #expect(throws: PackError.self) {
      try ModelPacker(weights: .s8c, embedding: .s8c, compression: .raw)
        .pack(source, to: disk.folder.path("m.afmw"))
    }
    #expect(
      error?.description
        == disk.folder.path("m.afmw") + ": cannot write: No space left on device")
    #expect(disk.folder.entries.isEmpty)
  }
}

/// A mounted file system of 1 MiB that goes away with its owner.
private final class FullDisk {
  let folder: ScratchFolder

  static let canMount = (try? FullDisk()) != nil

  init() throws {
    folder = try ScratchFolder()
    _ = try Oracle.tool("mount").run(["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder.url.path])
  }

  deinit { _ = try? Oracle.tool("umount").run([folder.url.path]) }
}
