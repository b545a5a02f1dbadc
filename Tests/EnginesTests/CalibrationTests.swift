import EngineInterface
import Engines
import FloatBaseline
import Foundation
import ModelFile
import PackedFormats
import TensorCore
import TestSupport
import Testing

/// Statistics gathered while the tiny models run.
@Suite struct CalibrationTests {
  private func calibrator(_ model: TinyModel) throws -> Calibrator {
    Calibrator(
      engine: try EngineLoader.load(model.path, options: EngineOptions(threads: 2)),
      text: try ModelText.open(model.path))
  }

  /// All values of a tensor.
  private func values(_ model: GGUFModel, _ name: String) throws -> (values: [Float], columns: Int)
  {
    let index = try #require(model.tensors.firstIndex { $0.name == name })
    let shape = model.tensors[index].shape
    var found = [Float](repeating: 0, count: shape.elementCount)
    var output = found.mutableSpan
    try model.readRows(0..<shape.rowCount, ofTensor: index, into: &output)
    return (found, shape.columnCount)
  }

  @Test(arguments: TinyModel.allCases) func theFirstLayerReadsNormedEmbeddings(
    _ model: TinyModel
  ) throws {
    let text = Array("The first layer reads the normed embeddings of its tokens.".utf8)
    let found = try calibrator(model).read(text, named: "a text", context: 16)
    let source = try GGUFModel(path: model.path)
    let ids = try ModelText.open(model.path).encode(text, recognizingSpecialTokens: true)
    #expect(found.tokenCount == ids.count)
    let (embedding, columns) = try values(source, "token_embd.weight")
    let gain = try values(source, "blk.0.attn_norm.weight").values
    var expected = [Double](repeating: 0, count: columns)
    for id in ids {
      let row = embedding[Int(id) * columns..<(Int(id) + 1) * columns].map { Double($0) }
      let mean = row.reduce(0.0) { $0 + $1 * $1 } / Double(columns) + source.header.normEpsilon
      let squares = (0..<columns).map { column in
        let value = row[column] * Double(gain[column])
        return value * value / mean
      }
      // Every token counts alike: its activations have a mean square of 1.
      let tokenMean = squares.reduce(0, +) / Double(columns)
      for column in 0..<columns {
        expected[column] += squares[column] / tokenMean / Double(ids.count)
      }
    }
    for name in ["attn_q", "attn_k", "attn_v"] {
      let squares = try #require(found.meanSquares["blk.0.\(name).weight"])
      #expect(squares.count == columns)
      for (square, value) in zip(squares, expected) {
        // Binary32 norms; the sums are binary64.
        #expect(abs(Double(square) - value) <= 1e-5 * value)
      }
    }
    // Every matrix that reads activations is there, in its own width.
    for tensor in source.tensors where tensor.shape.dimensions.count == 2 {
      let squares = found.meanSquares[tensor.name]
      if tensor.name == "token_embd.weight" {
        #expect((squares != nil) == source.header.tiedOutput)
      } else {
        #expect(squares?.count == tensor.shape.columnCount, "\(tensor.name)")
      }
    }
  }

  @Test func windowsDoNotSeeEachOther() throws {
    let text = Array("0123456789abcdef".utf8)
    let whole = try calibrator(.llama).read(text + text, named: "t", context: 16)
    let part = try calibrator(.llama).read(text, named: "t", context: 16)
    try #require(whole.tokenCount == 2 * part.tokenCount && part.tokenCount == 16)
    for (name, squares) in part.meanSquares {
      #expect(whole.meanSquares[name] == squares, "\(name)")
    }
  }

  @Test func aSeedGivesTheSameStatisticsAndAnotherDoesNot() throws {
    let calibrator = try calibrator(.llama)
    let sampling = Calibrator.Sampling(seed: 5, tokenCount: 60, sequenceTokenCount: 20)
    let first = try calibrator.sampleText(sampling)
    #expect(first.tokenCount == 60)
    #expect(first.origin.contains("seed 5"))
    #expect(try calibrator.sampleText(sampling) == first)
    var other = sampling
    other.seed = 6
    #expect(try calibrator.sampleText(other).meanSquares != first.meanSquares)
  }

  @Test func noTextIsATypedError() throws {
    let error = #expect(throws: InputError.self) {
      try calibrator(.llama).read([], named: "empty.txt")
    }
    #expect(error?.description == "empty.txt: no text to calibrate with")
  }
}

/// Adapters from singular vectors, through packing and running.
@Suite struct AdapterEngineTests {
  static let hasLAPACK = (try? LAPACK()) != nil
  static let mayRun: ConditionTrait = .enabled(
    if: hasLAPACK || Oracle.mustRun, "OpenBLAS (libopenblas0) is not installed")

  private func packing<Result>(
    _ model: TinyModel, _ format: WeightFormat, rank: Int, _ body: (String) throws -> Result
  ) throws -> Result {
    let path = FileManager.default.temporaryDirectory
      .appendingPathComponent("adapter-\(UUID().uuidString).afmw").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    var packer = ModelPacker(weights: format, embedding: .f32, threads: 2)
    packer.adapterRank = rank
    packer.lowRank = try SingularVectors()
    _ = try packer.pack(GGUFModel(path: model.path), to: path)
    return try body(path)
  }

  /// What the adapter takes out of an f32 matrix, the engine adds again: the logits stay.
  @Test(mayRun, arguments: TinyModel.allCases)
  func anAdapterChangesNothingWhereTheRestIsExact(_ model: TinyModel) throws {
    let ids = randomIDs(40, vocabulary: 264, seed: 14)
    let expected = try EngineLoader.load(model.path).logits(ids)
    for rank in [1, 5, 1000] {
      try packing(model, .f32, rank: rank) { path in
        let engine = try EngineLoader.load(path)
        #expect(try AFMWFile(opening: path).adapters.isEmpty == false)
        #expect(relativeError(try engine.logits(ids), expected) < 1e-4, "rank \(rank)")
        let decoded = try engine.session().decodedLogits(Array(ids.prefix(5)))
        #expect(relativeError(decoded, Array(expected.prefix(5))) < 1e-4, "rank \(rank)")
      }
    }
  }

  /// Two bits with an adapter of full rank beside them are nearly exact; without it they are not.
  @Test(mayRun) func anAdapterOfFullRankHoldsTheModel() throws {
    let ids = randomIDs(30, vocabulary: 264, seed: 15)
    let expected = try EngineLoader.load(TinyModel.llama.path).logits(ids)
    let alone = try packing(.llama, .u2c, rank: 0) { path in
      relativeError(try EngineLoader.load(path).logits(ids), expected)
    }
    let beside = try packing(.llama, .u2c, rank: 1000) { path in
      relativeError(try EngineLoader.load(path).logits(ids), expected)
    }
    // binary16 factors leave 2^-11 of the weights.
    #expect(beside < 0.02 && alone > 10 * beside, "\(beside), \(alone)")
  }

  /// The least squared error that a rank allows is the sum of the other squared singular values.
  @Test(mayRun, arguments: [(20, 50), (50, 20)])
  func theErrorIsTheLeastThatTheRankAllows(rows: Int, columns: Int) throws {
    var generator = SeededGenerator(seed: 16)
    let weights = (0..<rows * columns).map { _ in Float.random(in: -1...1, using: &generator) }
    let importance = (0..<columns).map { Float(1 + $0 % 5) }
    let scaled = weights.indices.map { (index: Int) -> Double in
      Double(weights[index]) * Double(importance[index % columns]).squareRoot()
    }
    let all = try #require(
      try LAPACK().leadingSubspace(
        of: scaled, rowCount: rows, columnCount: columns, count: min(rows, columns)))
    for rank in [1, 6, 20] {
      let factors = try SingularVectors().factors(
        of: weights.span, rowCount: rows, columnCount: columns, rank: rank,
        importance: importance)
      var error = 0.0
      for row in 0..<rows {
        for column in 0..<columns {
          var rest = Double(weights[row * columns + column])
          for term in 0..<rank {
            let b = Double(Float16(bitPattern: factors.b[row * rank + term]))
            let a = Double(Float16(bitPattern: factors.a[term * columns + column]))
            rest -= b * a
          }
          error += Double(importance[column]) * rest * rest
        }
      }
      let least = all.eigenvalues.dropFirst(rank).reduce(0.0, +)
      let total = all.eigenvalues.reduce(0.0, +)
      #expect(error >= least - 1e-9 * total && error <= least * 1.001 + 1e-6 * total)
    }
  }
}
