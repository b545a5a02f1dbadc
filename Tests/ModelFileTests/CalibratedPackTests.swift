import Foundation
import ModelFile
import PackedFormats
import TensorCore
import TestSupport
import Testing

/// Packing with activation statistics.
@Suite struct CalibratedPackTests {
  private static let shapes: [(String, [Int])] = [
    ("token_embd.weight", [40, 72]), ("blk.0.attn_q.weight", [50, 72]),
    ("blk.0.ffn_down.weight", [40, 108]),
  ]

  /// A few loud columns, many quiet ones, some that were never seen.
  private static func statistics(columns: Int = 72) -> ActivationStatistics {
    func squares(_ count: Int) -> [Float] {
      (0..<count).map { (column: Int) -> Float in
        if column % 9 == 0 { return 25 }
        return column % 7 == 0 ? 0 : 0.01 * Float(column)
      }
    }
    return ActivationStatistics(
      meanSquares: [
        "blk.0.attn_q.weight": squares(columns), "blk.0.ffn_down.weight": squares(108),
      ],
      tokenCount: 3, origin: "a test")
  }

  private func pack(
    _ format: WeightFormat, _ statistics: ActivationStatistics?, threads: Int = 2,
    to path: String
  ) throws -> PackReport {
    var packer = ModelPacker(weights: format, embedding: .s8c, threads: threads)
    packer.statistics = statistics
    packer.options.effort = .fast
    return try packer.pack(FloatModel(Self.shapes, seed: 31), to: path)
  }

  @Test(arguments: [WeightFormat.u2t, .u2c, .u2g64, .u4c, .u4g32, .astc6x6LDR, .astc6x6HDR])
  func weightingLowersTheWeightedError(format: WeightFormat) throws {
    let folder = try ScratchFolder()
    let plain = try pack(format, nil, to: folder.path("plain"))
    let weighted = try pack(format, Self.statistics(), to: folder.path("weighted"))
    #expect(plain.tensors.allSatisfy { $0.weightedRelativeError == nil })
    // The embedding was not seen.
    #expect(weighted.tensors[0].weightedRelativeError == nil)
    #expect(weighted.tensors[0].relativeError == plain.tensors[0].relativeError)
    for index in 1...2 {
      let error = try #require(weighted.tensors[index].weightedRelativeError)
      // What plain packing leaves by the same measure.
      let name = Self.shapes[index].0
      let unweighted = try measure(
        folder.path("plain"), name, Self.statistics().importance(ofTensor: name))
      #expect(error < unweighted, "\(format.name) \(name)")
      #expect(weighted.tensors[index].relativeError >= plain.tensors[index].relativeError * 0.999)
    }
    let file = try AFMWFile(opening: folder.path("weighted"))
    try file.verify(threads: 2)
    #expect(file.provenance["afmw.calibration"] == "a test")
  }

  /// The weighted relative error of a tensor of a packed file.
  private func measure(_ path: String, _ name: String, _ importance: [Float]?) throws -> Double {
    let importance = try #require(importance)
    let source = try FloatModel(Self.shapes, seed: 31)
    let index = try #require(source.tensors.firstIndex { $0.name == name })
    let tensor = try AFMWFile(opening: path).loadTensor(named: name)
    let columns = tensor.shape.columnCount
    var found = [Float](repeating: 0, count: tensor.shape.elementCount)
    var output = found.mutableSpan
    tensor.format.dequantize(
      tensor.planes, rowCount: tensor.shape.rowCount, columnCount: columns, into: &output)
    var (error, square) = (0.0, 0.0)
    for place in found.indices {
      let weight = Double(importance[place % columns])
      let value = Double(source.values[index][place])
      let difference = value - Double(found[place])
      error += weight * difference * difference
      square += weight * value * value
    }
    return (error / square).squareRoot()
  }

  @Test(arguments: [WeightFormat.u2t, .u4g32, .astc6x6LDR])
  func bytesDoNotDependOnThreads(format: WeightFormat) throws {
    let folder = try ScratchFolder()
    var files: [Data] = []
    for threads in [1, 2, 7] {
      let path = folder.path("\(threads)")
      _ = try pack(format, Self.statistics(), threads: threads, to: path)
      files.append(try Data(contentsOf: URL(filePath: path)))
    }
    #expect(files[0] == files[1] && files[0] == files[2])
  }

  @Test func clippingIsCountedAndSaid() throws {
    let folder = try ScratchFolder()
    var packer = ModelPacker(weights: .astc6x6LDR, embedding: .s8c, threads: 2)
    packer.options = QuantizationOptions(effort: .fast, clipping: 1.5)
    let source = try FloatModel(Self.shapes, seed: 32)
    let report = try packer.pack(source, to: folder.path("m"))
    var expected = 0
    for (tensor, values) in zip(source.tensors, source.values).dropFirst() {
      let columns = tensor.shape.columnCount
      for start in stride(from: 0, to: values.count, by: columns) {
        let row = values[start..<start + columns].map { Double($0) }
        let rms = (row.reduce(0.0) { $0 + $1 * $1 } / Double(columns)).squareRoot()
        expected += row.count { abs($0) > 1.5 * rms }
      }
    }
    #expect(expected > 0 && report.clippedCount == expected)
    let file = try AFMWFile(opening: folder.path("m"))
    #expect(file.provenance["afmw.clipped"] == "\(expected)")
  }

  @Test func importanceIsPositiveWhateverWasSeen() {
    let statistics = ActivationStatistics(
      meanSquares: ["a": [0, 4, 1e-30, 2], "zero": [0, 0], "none": []], tokenCount: 1, origin: "")
    let importance = statistics.importance(ofTensor: "a")
    let floor = ActivationStatistics.floorShare
    let expected: [Float] = [floor, 4 / 1.5, floor, 2 / 1.5]
    #expect(importance == expected)
    for name in ["zero", "none", "absent"] {
      #expect(statistics.importance(ofTensor: name) == nil)
    }
  }

  @Test func statisticsOfAnotherModelAreRefused() throws {
    let folder = try ScratchFolder()
    let error = #expect(throws: PackError.self) {
      try pack(.u2c, Self.statistics(columns: 71), to: folder.path("m"))
    }
    #expect(
      error?.description == "tensor blk.0.attn_q.weight: the calibration has 71 columns, "
        + "the tensor 72: it is of another model")
    #expect(folder.entries.isEmpty)
  }

  @Test func aFileOfStatisticsComesBack() throws {
    let folder = try ScratchFolder()
    let path = folder.path("s.safetensors")
    try Self.statistics().write(to: path)
    #expect(try ActivationStatistics(savedAt: path) == Self.statistics())
    // Texts, and files that are not there, are somebody else's.
    try Data("Once upon a time".utf8).write(to: URL(filePath: folder.path("text")))
    #expect(try ActivationStatistics(savedAt: folder.path("text")) == nil)
    #expect(try ActivationStatistics(savedAt: folder.path("missing")) == nil)
  }

  @Test(arguments: [Float.nan, -1, .infinity])
  func aDamagedFileOfStatisticsIsRefused(value: Float) throws {
    let folder = try ScratchFolder()
    let path = folder.path("s.safetensors")
    try Self.statistics().write(to: path)
    var bytes = Array(try Data(contentsOf: URL(filePath: path)))
    bytes.set(bytes.count - 4, UInt64(value.bitPattern), 4)
    try Data(bytes).write(to: URL(filePath: path))
    let error = #expect(throws: InputError.self) { try ActivationStatistics(savedAt: path) }
    #expect(error?.reason == "a mean square is negative or not a finite number")
  }
}
