import Foundation
import ModelFile
import PackedFormats
import TensorCore
import TestSupport
import Testing

/// Factors that are easy to check: row r of A is the matrix's row r, and B picks it.
private struct FirstRows: LowRankApproximation {
  func factors(
    of weights: Span<Float>, rowCount: Int, columnCount: Int, rank: Int, importance: [Float]?
  ) throws(LowRankFailure) -> LowRankFactors {
    let a = (0..<rank * columnCount).map { weights[$0] }
    let b = (0..<rowCount * rank).map { (index: Int) -> Float in
      index / rank == index % rank ? 1 : 0
    }
    guard
      let factors = LowRankFactors(
        a: a, b: b, rowCount: rowCount, columnCount: columnCount, rank: rank)
    else { throw LowRankFailure("not finite") }
    return factors
  }
}

@Suite struct AdapterTests {
  private static let shapes: [(String, [Int])] = [
    ("token_embd.weight", [50, 40]), ("blk.0.attn_norm.weight", [40]),
    ("blk.0.attn_q.weight", [40, 40]), ("blk.0.ffn_down.weight", [40, 72]),
    ("blk.0.ffn_up.weight", [3, 40]),
  ]

  private func packer(_ format: WeightFormat, rank: Int, threads: Int = 2) -> ModelPacker {
    var packer = ModelPacker(weights: format, embedding: .s8c, threads: threads)
    packer.adapterRank = rank
    packer.lowRank = FirstRows()
    return packer
  }

  private func values(_ file: AFMWFile, _ index: Int) throws -> [Float] {
    let tensor = try file.loadTensor(named: file.tensors[index].name)
    var found = [Float](repeating: 0, count: tensor.shape.elementCount)
    var output = found.mutableSpan
    tensor.format.dequantize(
      tensor.planes, rowCount: tensor.shape.rowCount, columnCount: tensor.shape.columnCount,
      into: &output)
    return found
  }

  @Test(arguments: [WeightFormat.f32, .s8c, .u2c, .u2t])
  func matrixAndAdapterMakeTheWeight(format: WeightFormat) throws {
    let folder = try ScratchFolder()
    let source = try FloatModel(Self.shapes, seed: 21)
    let report = try packer(format, rank: 4).pack(source, to: folder.path("m.afmw"))
    let file = try AFMWFile(opening: folder.path("m.afmw"))
    try file.verify(threads: 2)
    #expect(file.provenance["afmw.adapter_rank"] == "4")
    // Only linear layers; a matrix of three rows has no more than rank 3.
    #expect(file.adapters.map { file.tensors[$0.tensor].name } == Self.shapes[2...].map(\.0))
    #expect(report.tensors.map(\.adapterRank) == [0, 0, 4, 4, 3])
    #expect(report.tensors.map(\.stored.name) == Self.shapes.map(\.0))
    var elements = 0
    var bytes = 0
    for adapter in file.adapters {
      let name = file.tensors[adapter.tensor].name
      #expect(file.adapter(ofTensor: adapter.tensor) == adapter)
      #expect(file.adapter(ofTensor: adapter.a) == nil)
      #expect(file.tensors[adapter.a].name == name + ".adapter_a")
      #expect(file.tensors[adapter.b].name == name + ".adapter_b")
      let (a, b) = (try values(file, adapter.a), try values(file, adapter.b))
      let rank = file.tensors[adapter.a].shape.rowCount
      let columns = file.tensors[adapter.a].shape.columnCount
      var found = try values(file, adapter.tensor)
      for index in found.indices {
        for term in 0..<rank {
          let (row, column) = (index / columns, index % columns)
          found[index] += b[row * rank + term] * a[term * columns + column]
        }
      }
      let index = try #require(source.tensors.firstIndex { $0.name == name })
      var (error, square) = (0.0, 0.0)
      for (value, packed) in zip(source.values[index], found) {
        let difference = Double(value) - Double(packed)
        error += difference * difference
        square += Double(value) * Double(value)
      }
      // Of f32 the residual is exact, and only the sum is rounded.
      let reported = report.tensors[index].relativeError
      #expect(abs((error / square).squareRoot() - reported) <= 1e-6, "\(name)")
      if format == .f32 { #expect(reported == 0) }
      elements += source.values[index].count
      bytes += file.tensors[adapter.tensor].byteCount + (a.count + b.count) * 2
    }
    let total = report.linearBitsPerWeight.total
    #expect(abs(total - Double(bytes * 8) / Double(elements)) < 1e-9)
    #expect(report.elementCount == source.values.reduce(0) { $0 + $1.count })
  }

  @Test func bytesDoNotDependOnThreads() throws {
    let folder = try ScratchFolder()
    let source = try FloatModel(Self.shapes, seed: 22)
    var files: [Data] = []
    for threads in [1, 2, 7] {
      let path = folder.path("\(threads)")
      _ = try packer(.u2t, rank: 2, threads: threads).pack(source, to: path)
      files.append(try Data(contentsOf: URL(filePath: path)))
    }
    #expect(files[0] == files[1] && files[0] == files[2])
  }

  @Test func whatIsNotFiniteIsRefusedWithTensorAndRow() throws {
    let folder = try ScratchFolder()
    var source = try FloatModel(Self.shapes, seed: 23)
    source.values[2][7 * 40 + 5] = .nan
    let error = #expect(throws: PackError.self) {
      try packer(.s8c, rank: 2).pack(source, to: folder.path("m.afmw"))
    }
    #expect(
      error?.description
        == "tensor blk.0.attn_q.weight: row 7, column 5: a weight is NaN or infinite")
    #expect(folder.entries.isEmpty)
  }

  /// In section ADPT the first adapter begins at 8: attn_q is tensor 2, its factors 3 and 4;
  /// ffn_down is 5, its factors 6 and 7.
  static let defects: [Defect] = [
    Defect("no adapters", "section ADPT", "without adapters") {
      $0.edit("ADPT") {
        $0 = Array($0[..<8]); $0.set(0, 0, 8)
      }
    },
    Defect("count", "section ADPT", "the adapter count is") {
      $0.edit("ADPT") { $0.set(0, 1 << 40, 8) }
    },
    Defect("bytes behind", "section ADPT", "follow the last adapter") {
      $0.edit("ADPT") { $0.set(0, 2, 8) }
    },
    Defect("no such tensor", "section ADPT: adapter 0", "A is tensor 99 of 11") {
      $0.edit("ADPT") { $0.set(12, 99, 4) }
    },
    Defect("two roles", "section ADPT: adapter 0", "tensor 3 is in an adapter already") {
      $0.edit("ADPT") { $0.set(16, 3, 4) }
    },
    Defect("a tensor of two adapters", "section ADPT: adapter 1", "tensor 2 is in an adapter") {
      $0.edit("ADPT") { $0.set(24, 2, 4) }
    },
    Defect("order", "section ADPT: adapter 1", "stands before") {
      $0.edit("ADPT") { bytes in
        let first = Array(bytes[8..<24])
        bytes.replaceSubrange(8..<24, with: Array(bytes[24..<40]))
        bytes.replaceSubrange(24..<40, with: first)
      }
    },
    Defect("reserved", "section ADPT: adapter 0", "a reserved field is 1") {
      $0.edit("ADPT") { $0.set(20, 1, 4) }
    },
    Defect("shapes", "section ADPT: adapter 0", "do not make 40x40") {
      $0.edit("ADPT") {
        $0.set(12, 6, 4); $0.set(28, 3, 4)
      }
    },
    Defect("a vector", "section ADPT: adapter 0", "an adapter is of matrices") {
      $0.edit("ADPT") { $0.set(8, 1, 4) }
    },
    Defect("second section", "index", "a second section ADPT") {
      $0.sections.append($0.sections.first { $0.id == "ADPT" } ?? ("", []))
    },
  ]

  @Test(arguments: defects)
  func aDefectIsNamed(_ defect: Defect) throws {
    let folder = try ScratchFolder()
    let source = try FloatModel(Self.shapes, seed: 24)
    _ = try packer(.s8c, rank: 4).pack(source, to: folder.path("m.afmw"))
    var parts = ContainerParts(
      Array(try Data(contentsOf: URL(filePath: folder.path("m.afmw")))))
    defect.change(&parts)
    let path = folder.path("bad.afmw")
    try Data(parts.encoded()).write(to: URL(filePath: path))
    let error = #expect(throws: InputError.self) { try AFMWFile(opening: path) }
    #expect(error?.place == defect.place)
    #expect(error?.reason.contains(defect.reason) == true, "\(String(describing: error))")
  }
}
