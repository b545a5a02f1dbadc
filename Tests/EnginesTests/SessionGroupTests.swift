import EngineInterface
import Engines
import Foundation
import KVCache
import ModelFile
import PackedFormats
import TestSupport
import Testing

/// Sessions that run together, share beginnings or begin as forks give what each alone would give.
@Suite struct SessionGroupTests {
  static let formats: [WeightFormat] = [.u2c, .u4g32, .s8c, .f16]
  static let preset = ModelPreset.onDeviceTiny

  /// The tiny on-device preset in a format, and two adapters of different ranks.
  private func withEngine(
    _ format: WeightFormat, threads: Int = 2,
    _ body: (_ engine: any Engine, _ adapters: [any EngineAdapter], TemporaryFolder) throws -> Void
  ) throws {
    let folder = try TemporaryFolder()
    try packing(PresetSource(Self.preset, seed: 3), format) { path in
      let engine = try EngineLoader.load(path, options: EngineOptions(threads: threads))
      let adapters = try [(4, UInt64(7)), (9, 8)].map { rank, seed in
        let path = folder.file("adapter\(seed).safetensors")
        _ = try PresetAdapter(Self.preset, rank: rank, seed: seed).write(to: path)
        return try engine.loadAdapter(path)
      }
      try body(engine, adapters, folder)
    }
  }

  private func options(
    cache: String = "s8", context: Int = 400, batch: Int = 512, budget: Int? = 1 << 28,
    sharing: Bool = false
  ) -> SessionOptions {
    SessionOptions(
      contextLimit: context, keyElement: cache, valueElement: cache, batchTokens: batch,
      cacheBudget: budget, sharesPrefixes: sharing)
  }

  private func ids(_ count: Int, seed: UInt64) -> [Int32] {
    randomIDs(count, vocabulary: Self.preset.header.vocabularySize, seed: seed)
  }

  /// The logits of a session are not handed out: what a sampler draws from them is.
  private func drawn(_ session: any Session) throws -> [Int32] {
    var sampler = Sampler(Sampler.Options(temperature: 1.5, topK: 0, seed: 11))
    return try (0..<12).map { _ in try session.sample(using: &sampler) }
  }

  /// Prompts of all kinds of lengths and adapters, then tokens one by one: alone, in order.
  private func alone(
    _ engine: any Engine, _ adapters: [(any EngineAdapter)?], prompts: [[Int32]],
    answers: [[Int32]]
  ) throws -> [[[Int32]]] {
    try zip(zip(prompts, answers), adapters).map { texts, adapter in
      let session = try engine.makeSession(options())
      try session.use(adapter)
      try session.prefill(texts.0[...])
      return try [drawn(session)]
        + texts.1.map { token in
          try session.decode(token)
          return try drawn(session)
        }
    }
  }

  @Test(arguments: formats) func decodingTogetherIsDecodingAlone(_ format: WeightFormat) throws {
    try withEngine(format) { engine, loaded, _ in
      let lengths = [1, 64, 17, 130, 5, 63, 128, 65, 2, 3, 4, 31, 32, 33, 90, 7, 8, 9, 10]
      let prompts = lengths.enumerated().map { ids($1, seed: UInt64($0)) }
      let answers = prompts.indices.map { ids(4, seed: UInt64(100 + $0)) }
      let adapters = prompts.indices.map { $0 % 4 == 1 ? loaded[0] : $0 % 4 > 1 ? loaded[1] : nil }
      let expected = try alone(engine, adapters, prompts: prompts, answers: answers)
      let group = try engine.makeSessionGroup(options())
      let sessions = try prompts.indices.map { index in
        let session = try group.makeSession()
        try session.use(adapters[index])
        return session
      }
      // Prompts in one step of mixed lengths; those of more rows than a step has, by themselves.
      let (few, many) = (prompts.indices.prefix(8), prompts.indices.dropFirst(8))
      try group.run(few.map { SessionInput(session: sessions[$0], tokens: prompts[$0][...]) })
      for index in many { try sessions[index].prefill(prompts[index][...]) }
      for index in sessions.indices { #expect(try drawn(sessions[index]) == expected[index][0]) }
      for step in 0..<4 {
        // In another order each time.
        let order = sessions.indices.map { ($0 * 7 + step) % sessions.count }
        try group.decode(order.map { answers[$0][step] }, in: order.map { sessions[$0] })
        for index in sessions.indices {
          #expect(
            try drawn(sessions[index]) == expected[index][step + 1], "session \(index), \(step)")
        }
      }
      for (index, session) in sessions.enumerated() {
        #expect(session.positionCount == lengths[index] + 4)
      }
    }
  }

  @Test func partsOfPromptsRunBesideAnswers() throws {
    try withEngine(.u2c) { engine, _, _ in
      let prompts = [ids(100, seed: 1), ids(70, seed: 2)]
      let answers = [ids(3, seed: 3), ids(3, seed: 4)]
      let expected = try alone(engine, [nil, nil], prompts: prompts, answers: answers)
      let group = try engine.makeSessionGroup(options(batch: 32))
      let sessions = try [group.makeSession(), group.makeSession()]
      try sessions[0].prefill(prompts[0][...])
      #expect(try drawn(sessions[0]) == expected[0][0])
      for (step, part) in [0..<31, 31..<62, 62..<70].enumerated() {
        try group.run([
          SessionInput(session: sessions[0], tokens: answers[0][step...step]),
          SessionInput(
            session: sessions[1], tokens: prompts[1][part], readsLogits: part.upperBound == 70),
        ])
        #expect(try drawn(sessions[0]) == expected[0][step + 1])
      }
      #expect(try drawn(sessions[1]) == expected[1][0])
    }
  }

  @Test func aStepThatFailsChangesNothing() throws {
    try withEngine(.u2c) { engine, _, _ in
      // Room for three pages, of 64 positions.
      let page = try engine.makeSessionGroup(options()).predictedUsage(
        positions: [1], sharedPositions: 0
      ).allocatedBytes
      let group = try engine.makeSessionGroup(options(context: 70, budget: 3 * page))
      let sessions = try (0..<3).map { _ in try group.makeSession() }
      let prompts = [ids(64, seed: 1), ids(64, seed: 2), ids(63, seed: 3)]
      for (session, prompt) in zip(sessions, prompts) { try session.prefill(prompt[...]) }
      let before = try sessions.map(drawn)
      #expect(throws: EngineError.cache(.full(limitPositions: 64, neededPositions: 65))) {
        try group.decode([1, 2, 3], in: sessions)
      }
      #expect(throws: EngineError.unknownToken(-7, vocabularyCount: 512)) {
        try group.decode([1, -7], in: Array(sessions[1...]))
      }
      #expect(throws: EngineError.contextExceeded(limit: 70, need: 71)) {
        try group.run([
          SessionInput(session: sessions[2], tokens: [1]),
          SessionInput(session: sessions[0], tokens: ids(7, seed: 5)[...]),
        ])
      }
      #expect(sessions.map(\.positionCount) == [64, 64, 63])
      #expect(try sessions.map(drawn) == before)
      #expect(group.cacheUsage.held.allocatedBytes == 3 * page)
      // A step of nobody is none.
      try group.decode([], in: [])
      try group.run([])
      // And goes on where there is room.
      try group.decode([9], in: [sessions[2]])
      sessions[0].truncate(to: 0)
      try group.decode([9], in: [sessions[1]])
      #expect(sessions.map(\.positionCount) == [0, 65, 64])
    }
  }

  /// Weights get their codes page by page, and a code that moves by one changes activations' codes
  /// behind it: the logits are near, not equal.
  @Test(arguments: [("f16", 1e-4), ("s8", 0.06), ("u4g32", 0.06)])
  func pagesMayHaveOtherLengths(_ cache: String, _ tolerance: Double) throws {
    try withEngine(.f32) { engine, _, _ in
      let prompt = ids(600, seed: 1)
      func run(_ pagePositions: Int) throws -> [[Float]] {
        var options = options(cache: cache, context: 700)
        options.pagePositions = pagePositions
        return try engine.makeSession(options).logits(prompt)
      }
      let usual = try run(64)
      for length in [16, 512] {
        let error = relativeError(try run(length), usual)
        #expect(error <= tolerance, "pages of \(length): \(error)")
      }
      for wrong in [0, -16, 8, 100, 528, 1024] {
        #expect(throws: EngineError.self) { try run(wrong) }
      }
    }
  }

  @Test func aSessionThatIsGoneHoldsNothing() throws {
    try withEngine(.u2c) { engine, _, _ in
      let group = try engine.makeSessionGroup(options())
      var session: (any Session)? = try group.makeSession()
      try session?.prefill(ids(100, seed: 1)[...])
      #expect(group.cacheUsage.allocatedBytes > 0)
      session = nil
      #expect(group.cacheUsage.allocatedBytes == 0)
    }
  }

  @Test func aBudgetBelowOnePageSaysLimitAndNeed() throws {
    try withEngine(.u2c) { engine, _, _ in
      let need = try engine.makeSessionGroup(options()).predictedUsage(
        positions: [1], sharedPositions: 0
      ).allocatedBytes
      #expect(throws: EngineError.cache(.budgetTooSmall(limitBytes: 1000, neededBytes: need))) {
        try engine.makeSessionGroup(options(budget: 1000))
      }
    }
  }

  @Test func equalBeginningsAreRunOnce() throws {
    try withEngine(.u4g32) { engine, adapters, _ in
      let beginning = ids(150, seed: 1)
      let prompts = (0..<3).map { beginning + ids(20 + $0, seed: 50 + UInt64($0)) }
      let answers = prompts.map { _ in ids(2, seed: 9) }
      let expected = try alone(
        engine, [nil, nil, adapters[0]], prompts: prompts, answers: answers)
      let group = try engine.makeSessionGroup(options(sharing: true))
      let sessions = try (0..<3).map { _ in try group.makeSession() }
      try sessions[2].use(adapters[0])
      for (index, session) in sessions.enumerated() {
        try session.prefill(prompts[index][...])
        // Whole pages of 64; keys and values of another adapter are others.
        #expect(session.adoptedPositionCount == (index == 1 ? 128 : 0))
        #expect(try drawn(session) == expected[index][0])
      }
      let usage = group.cacheUsage
      #expect(
        usage.held.allocatedBytes
          == group.predictedUsage(positions: [170, 171], sharedPositions: 128).allocatedBytes
          + group.predictedUsage(positions: [172], sharedPositions: 0).allocatedBytes)
      for step in 0..<2 {
        try group.decode(answers.map { $0[step] }, in: sessions)
        for index in sessions.indices {
          #expect(try drawn(sessions[index]) == expected[index][step + 1])
        }
      }
      // What nobody holds stays cached, under its adapter; a switch in the middle shares nothing.
      for session in sessions { session.truncate(to: 0) }
      try sessions[0].use(adapters[0])
      try sessions[0].prefill(prompts[2][...])
      #expect(sessions[0].adoptedPositionCount == 128)
      #expect(try drawn(sessions[0]) == expected[2][0])
      try sessions[0].use(nil)
      try sessions[0].prefill(ids(100, seed: 8)[...])
      try sessions[1].use(adapters[0])
      try sessions[1].prefill((prompts[2] + ids(100, seed: 8))[...])
      #expect(sessions[1].adoptedPositionCount == 128)
    }
  }

  @Test(arguments: formats) func forksGoOnByThemselves(_ format: WeightFormat) throws {
    try withEngine(format) { engine, adapters, _ in
      for length in [1, 63, 64, 100] {
        let prompt = ids(length, seed: 6)
        let answers = [ids(70, seed: 7), ids(70, seed: 8)]
        let expected = try alone(
          engine, [adapters[0], adapters[0]], prompts: [prompt, prompt], answers: answers)
        let group = try engine.makeSessionGroup(options())
        let first = try group.makeSession()
        try first.use(adapters[0])
        try first.prefill(prompt[...])
        let second = try first.fork()
        #expect(second.positionCount == length && second.adapter === adapters[0])
        for step in 0..<70 {
          try first.decode(answers[0][step])
          try second.decode(answers[1][step])
          guard step % 10 == 9 else { continue }
          #expect(try drawn(first) == expected[0][step + 1])
          #expect(try drawn(second) == expected[1][step + 1])
        }
      }
    }
  }

  @Test(arguments: ["f16", "s8", "u4g32"]) func savedSessionsGoOn(_ cache: String) throws {
    try withEngine(.u2c) { engine, adapters, folder in
      let (prompt, answer) = (ids(100, seed: 6), ids(3, seed: 7))
      let path = folder.file("session.kv")
      let group = try engine.makeSessionGroup(options(cache: cache))
      let session = try group.makeSession()
      try session.use(adapters[1])
      try session.prefill(prompt[...])
      try session.save(to: path)
      func goOn(_ session: any Session) throws -> [[Int32]] {
        try answer.map { token in
          try session.decode(token)
          return try drawn(session)
        }
      }
      let expected = try goOn(session)
      let other = try engine.makeSessionGroup(options(cache: cache)).makeSession()
      try other.prefill(ids(9, seed: 1)[...])
      // Of an adapter, which this session does not run with.
      #expect(throws: (any Error).self) { try other.restore(from: path) }
      #expect(other.positionCount == 9)
      try other.use(adapters[1])
      try other.restore(from: path)
      #expect(other.positionCount == 100)
      #expect(try goOn(other) == expected)
      // Of another cache, and cut off: the session is as it was.
      let foreign = try engine.makeSessionGroup(options(cache: "f32")).makeSession()
      try foreign.use(adapters[1])
      #expect(throws: (any Error).self) { try foreign.restore(from: path) }
      let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
      try bytes.dropLast(9).write(to: URL(fileURLWithPath: path))
      #expect(throws: (any Error).self) { try other.restore(from: path) }
      #expect(other.positionCount == 103)
      try other.decode(5)
    }
  }
}
