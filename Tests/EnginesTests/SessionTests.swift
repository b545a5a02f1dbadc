import EngineInterface
import Engines
import KernelContract
import ModelFile
import PackedFormats
import Testing

/// A session gives the same logits whichever way the tokens go through it.
@Suite struct SessionTests {
  struct Case: CustomTestStringConvertible, Sendable {
    var model: TinyModel
    var format: WeightFormat
    var testDescription: String { "\(model.rawValue) \(format.name)" }
    /// Runs with f32 activations.
    var isFloat: Bool { format == .f16 || isSingle }
    /// Runs as f32.
    var isSingle: Bool { format == .f32 }
  }

  static let cases = TinyModel.allCases.flatMap { model in
    WeightFormat.allCases.map { Case(model: model, format: $0) }
  }

  private func engine(
    _ test: Case, threads: Int = 1, instructionSet: String? = nil
  ) throws -> any Engine {
    try test.model.packed(test.format) { path in
      try EngineLoader.load(
        path, options: EngineOptions(threads: threads, instructionSet: instructionSet))
    }
  }

  /// Float sums in another order (measured: 4.3e-6 at most). In the integer formats a last-bit
  /// difference of a float part (attention, norms) can move an activation's code by one, which the
  /// tolerance has to cover (measured: 1e-6 where none moves, 8.4e-3 where one does).
  private func tolerance(_ test: Case) -> Double { test.isFloat ? 1e-4 : 0.06 }

  /// Every kernel of ours gives a row the same sums in whatever batch; OpenBLAS, which multiplies
  /// f32 batches, does not (measured: 3.8e-6 at most).
  private func batchTolerance(_ test: Case) -> Double { test.isSingle ? 1e-4 : 0 }

  @Test(arguments: cases) func batchesOfAnySizeEqualDecodingTokenByToken(_ test: Case) throws {
    let engine = try engine(test)
    let ids = randomIDs(75, vocabulary: engine.facts.vocabularyCount, seed: 9)
    let whole = try engine.logits(ids)
    for batch in [1, 3, 7, 64] {
      let error = relativeError(try engine.logits(ids, batch: batch), whole)
      #expect(error <= batchTolerance(test), "batches of \(batch): \(error)")
    }
    let session = try engine.session()
    #expect(relativeError(try session.decodedLogits(ids), whole) <= batchTolerance(test))
    // The same way twice is the same to the bit.
    #expect(try engine.logits(ids) == whole)
  }

  @Test(arguments: cases) func truncatedSessionsContinueAsFreshOnes(_ test: Case) throws {
    let engine = try engine(test)
    let vocabulary = engine.facts.vocabularyCount
    let head = randomIDs(40, vocabulary: vocabulary, seed: 1)
    let wrong = randomIDs(45, vocabulary: vocabulary, seed: 2)
    let tail = randomIDs(30, vocabulary: vocabulary, seed: 3)
    let fresh = try engine.session(cache: "s8")
    try fresh.prefill(head[...])
    let expected = try fresh.logits(tail)
    let session = try engine.session(cache: "s8")
    try session.prefill(head[...])
    try session.prefill(wrong[...])
    session.truncate(to: head.count)
    #expect(session.positionCount == head.count)
    #expect(try session.logits(tail) == expected)
    session.truncate(to: 0)
    try session.prefill(head[...])
    #expect(try session.logits(tail) == expected)
  }

  /// Rounding of the stored keys and values; measured: f16 5.1e-3, s8 6.0e-2 at most.
  @Test(arguments: TinyModel.allCases, [("f16", 0.015), ("s8", 0.15)])
  func cachesOfFewerBitsStayNear(_ model: TinyModel, _ cache: (String, Double)) throws {
    let engine = try engine(Case(model: model, format: .f32))
    let ids = randomIDs(90, vocabulary: engine.facts.vocabularyCount, seed: 4)
    let exact = try engine.logits(ids)
    let error = relativeError(try engine.logits(ids, cache: cache.0), exact)
    #expect(error > 0 && error < cache.1, "\(error)")
    let session = try engine.session(cache: cache.0)
    #expect(relativeError(try session.decodedLogits(ids), exact) < cache.1)
  }

  @Test(arguments: cases) func threadsDoNotChangeTheLogits(_ test: Case) throws {
    let ids = randomIDs(50, vocabulary: 264, seed: 6)
    let one = try engine(test, threads: 1).logits(ids)
    let two = try engine(test, threads: 2).logits(ids)
    if test.format == .f32 {
      // OpenBLAS splits its sums by the shape of a part.
      #expect(relativeError(two, one) <= 1e-5)
    } else {
      #expect(two == one)
    }
  }

  @Test(arguments: cases) func instructionSetsAgree(_ test: Case) throws {
    let ids = randomIDs(50, vocabulary: 264, seed: 7)
    let sets = InstructionSet.available(on: CPUFeatures.detect())
    let portable = try engine(test, instructionSet: "portable").logits(ids)
    for set in sets {
      let engine = try engine(test, instructionSet: set.rawValue)
      // A format without kernels of a level runs those of a lower one, and the facts say which.
      let ran = engine.facts.instructionSet.split(separator: " ")
        .compactMap { InstructionSet(rawValue: String($0)) }
      #expect(!ran.isEmpty && ran.allSatisfy { $0 <= set }, "\(engine.facts.instructionSet)")
      if test.format == .s8c { #expect(ran == [set]) }
      let error = relativeError(try engine.logits(ids), portable)
      #expect(error <= tolerance(test), "\(set.rawValue): \(error)")
    }
    #expect(throws: (any Error).self) { try self.engine(test, instructionSet: "sse9") }
  }

  @Test func aSessionRefusesWithoutChangingAnything() throws {
    let engine = try engine(Case(model: .llama, format: .s8c))
    let session = try engine.session(context: 20)
    let ids = randomIDs(15, vocabulary: 264, seed: 8)
    try session.prefill(ids[...])
    let usage = session.cacheUsage
    #expect(throws: EngineError.contextExceeded(limit: 20, need: 21)) {
      try session.prefill(ids.prefix(6))
    }
    #expect(throws: EngineError.unknownToken(264, vocabularyCount: 264)) {
      try session.prefill([3, 264])
    }
    #expect(throws: EngineError.unknownToken(-1, vocabularyCount: 264)) { try session.decode(-1) }
    #expect(session.positionCount == 15 && session.cacheUsage == usage)
    let fresh = try engine.session(context: 20)
    try fresh.prefill(ids[...])
    #expect(try session.logits(Array(ids.prefix(5))) == fresh.logits(Array(ids.prefix(5))))
    #expect(throws: EngineError.contextExceeded(limit: 20, need: 21)) { try session.decode(1) }
    #expect(throws: EngineError.self) { try engine.session(cache: "q4_0") }
    #expect(throws: EngineError.self) { try engine.session(context: 0) }
    #expect(throws: EngineError.self) { try engine.session(batch: 0) }
  }

  @Test func samplingReadsTheLastLogits() throws {
    let engine = try engine(Case(model: .qwen2, format: .f32))
    let ids = randomIDs(33, vocabulary: 264, seed: 10)
    let session = try engine.session(batch: 8)
    let rows = try session.logits(ids)
    let last = try #require(rows.last)
    var sampler = Sampler(.greedy)
    #expect(try session.sample(using: &sampler) == Sampler.largest(last.span))
    let again = try engine.session(batch: 8)
    try again.prefill(ids[...])
    #expect(try again.sample(using: &sampler) == Sampler.largest(last.span))
  }
}
