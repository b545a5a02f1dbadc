import EngineInterface
import Testing
import Tiers

/// Conversations on a tier: every position accounted for, refusals without traces.
@Suite struct LanguageModelSessionTests {
  struct Case: CustomTestStringConvertible, Sendable {
    var level: ReasoningLevel
    var knowsMarks: Bool
    var stops: Bool
    var rewrites: Bool
    var testDescription: String {
      "\(level.rawValue) marks \(knowsMarks) stops \(stops) rewrites \(rewrites)"
    }
  }

  static let cases = ReasoningLevel.allCases.flatMap { level in
    [(true, true), (true, false), (false, true), (false, false)].flatMap { marks, stops in
      [false, true].map { Case(level: level, knowsMarks: marks, stops: stops, rewrites: $0) }
    }
  }

  private func engine(_ test: Case) -> ScriptedEngine {
    ScriptedEngine(
      .init(
        knowsThinkMarks: test.knowsMarks, responseLength: test.stops ? 12 : nil,
        reasoningLength: test.stops ? 20 : nil, rewritesEarlierTurns: test.rewrites))
  }

  private func session(
    _ engine: ScriptedEngine, tier: Tier = .privateCloud, instructions: String? = "Be brief."
  ) throws -> LanguageModelSession {
    var options = LanguageModelSession.Options()
    options.instructions = instructions
    return try LanguageModelSession(engine: engine, tier: tier, options: options)
  }

  private func turn(
    _ level: ReasoningLevel = .none, budget: Int? = nil, tokens: Int = 30
  ) -> LanguageModelSession.TurnOptions {
    var options = LanguageModelSession.TurnOptions()
    options.reasoning = level
    options.reasoningBudget = budget
    options.maximumResponseTokens = tokens
    return options
  }

  @Test(arguments: cases) func everyPositionIsAccountedFor(_ test: Case) throws {
    let engine = engine(test)
    let session = try session(engine)
    let cache = try #require(engine.sessions.first)
    let system = try engine.render(
      [Message(role: .system, content: "Be brief.")], addsGenerationPrompt: false)
    for turnIndex in 0..<5 {
      let before = session.positionCount
      let budget = test.level == .none ? nil : [test.level.tokenBudget, 3, 1][turnIndex % 3]
      let response = try session.respond(
        to: "question \(turnIndex)?", options: turn(test.level, budget: budget))
      let account = session.account
      let request = response.request
      #expect(account.total == session.positionCount && account.total == cache.tokens.count)
      #expect(request.context == account)
      let isFirst = turnIndex == 0 || test.rewrites
      #expect(request.cachedPositionCount == (isFirst ? 0 : before))
      // With a count in front the system turn alone has another first byte.
      let isCounted = test.rewrites
      if !isCounted {
        #expect(
          account.instructions
            == engine.encode(system, recognizingSpecialTokens: true).count)
        #expect(account.history == (isFirst ? 0 : before - account.instructions))
      }
      #expect(
        account.prompt + (isFirst ? account.instructions : 0) == request.promptTokenCount)
      #expect(account.response == max(request.responseTokens.count - 1, 0))
      #expect(account.tools == 0)

      let opening = engine.encode("<think>\n", recognizingSpecialTokens: true).count
      let closing = engine.encode("\n</think>\n\n", recognizingSpecialTokens: true).count
      if test.level == .none {
        #expect(request.reasoningTokens.isEmpty && account.reasoning == 0)
        #expect(response.reasoning.isEmpty)
      } else {
        let limit = try #require(budget)
        #expect(request.reasoningTokens.count <= limit && !request.reasoningTokens.isEmpty)
        let ended = request.reasoningTokens.last.map { $0 >= 256 } ?? false
        #expect(
          account.reasoning
            == opening + request.reasoningTokens.count - (ended ? 1 : 0) + closing)
        #expect(response.reasoning == engine.decode(request.reasoningTokens))
      }
      #expect(response.content == engine.decode(request.responseTokens))
      #expect(!response.content.contains("think"))
      #expect(request.finish == (test.stops ? .stop : .length))
      let usage = response.usage
      #expect(usage.cachedInputTokens == request.cachedPositionCount)
      #expect(usage.inputTokens == request.cachedPositionCount + request.promptTokenCount)
      #expect(usage.reasoningTokens == request.reasoningTokens.count)
      #expect(usage.outputTokens == usage.reasoningTokens + request.responseTokens.count)
      #expect(request.tokenTimes.count == response.usage.outputTokens)
      #expect(request.cache == cache.cacheUsage)
    }
    checkTranscript(session.transcript, test)
  }

  private func checkTranscript(_ transcript: [TranscriptEntry], _ test: Case) {
    let perTurn: [TranscriptEntry.Segment] =
      test.level == .none ? [.prompt, .response] : [.prompt, .reasoning, .response]
    #expect(
      transcript.map(\.segment) == [.instructions] + (0..<5).flatMap { _ in perTurn })
    #expect(transcript.first?.text == "Be brief.")
    #expect(transcript.filter { $0.segment == .prompt }.last?.text == "question 4?")
  }

  /// Without reasoning the cache holds the template's text of the whole conversation.
  @Test(arguments: [true, false]) func theCacheHoldsTheRenderedConversation(
    _ stops: Bool
  ) throws {
    let engine = engine(
      Case(level: .none, knowsMarks: true, stops: stops, rewrites: false))
    let session = try session(engine)
    var messages = [Message(role: .system, content: "Be brief.")]
    for index in 0..<4 {
      let prompt = "Frage \(index): größer als 😀?"
      let response = try session.respond(to: prompt, options: turn())
      messages += [
        Message(role: .user, content: prompt), Message(role: .assistant, content: response.content),
      ]
      let text = try engine.render(messages, addsGenerationPrompt: false)
      let all = engine.encode(text, recognizingSpecialTokens: true)
      let cache = try #require(engine.sessions.first).tokens
      // The last token of an answer is not fed before the next turn.
      let unfed = stops ? 2 : 3
      #expect(cache == Array(all.dropLast(unfed)))
    }
  }

  @Test func aPromptThatIsTooLongIsRefusedAndForgotten() throws {
    let script = ScriptedEngine.Script(trainedContextLength: 300)
    let engine = ScriptedEngine(script)
    let session = try session(engine)
    let control = try self.session(ScriptedEngine(script))
    #expect(session.context.limit == 300 && session.context.source == .model)
    for session in [session, control] { _ = try session.respond(to: "one", options: turn()) }
    let cache = try #require(engine.sessions.first)
    let (tokens, account, transcript) = (cache.tokens, session.account, session.transcript)

    let prompt = String(repeating: "x", count: 400)
    // The end of the last answer, the user's turn and the head of the assistant's.
    let added = engine.encode(
      "<|im_end|>\n<|im_start|>user\n\(prompt)<|im_end|>\n<|im_start|>assistant\n",
      recognizingSpecialTokens: true
    ).count
    let expected = TierError.contextExceeded(
      tier: .privateCloud, limit: 300, source: .model, need: tokens.count + added)
    #expect(throws: expected) { try session.respond(to: prompt, options: turn()) }
    #expect(expected.description.contains("300") && expected.description.contains("model's"))
    #expect(cache.tokens == tokens && session.account == account)
    #expect(session.transcript == transcript)
    let answers = try [session, control].map { try $0.respond(to: "two", options: turn()).content }
    #expect(answers[0] == answers[1] && session.account == control.account)
  }

  /// The answer itself runs out of room, after tokens were generated.
  @Test(arguments: [false, true]) func anAnswerThatIsTooLongLeavesNothingBehind(
    _ rewrites: Bool
  ) throws {
    let script = ScriptedEngine.Script(
      trainedContextLength: 400, responseLength: nil, rewritesEarlierTurns: rewrites)
    let engine = ScriptedEngine(script)
    let session = try session(engine)
    let control = try self.session(ScriptedEngine(script))
    for session in [session, control] {
      _ = try session.respond(to: "one", options: turn(tokens: 25))
    }
    let cache = try #require(engine.sessions.first)
    let (tokens, account, transcript) = (cache.tokens, session.account, session.transcript)
    #expect(
      throws: TierError.contextExceeded(
        tier: .privateCloud, limit: 400, source: .model, need: 401)
    ) { try session.respond(to: "two", options: turn(tokens: 5_000)) }
    if rewrites {
      // The old text is gone, and nobody may believe it is there.
      #expect(cache.tokens.isEmpty && session.account.total == 0)
    } else {
      #expect(cache.tokens == tokens && session.account == account)
    }
    #expect(session.transcript == transcript)
    let answers = try [session, control].map {
      try $0.respond(to: "three", options: turn(tokens: 25)).content
    }
    #expect(answers[0] == answers[1] && session.account == control.account)
    let other = try #require(control.positionCount == session.positionCount ? cache.tokens : nil)
    #expect(other.count == session.account.total)
  }

  /// The template fails after the answer was generated.
  @Test func aFailureAfterTheAnswerLeavesNothingBehind() throws {
    let engine = ScriptedEngine()
    let session = try session(engine)
    let control = try self.session(ScriptedEngine())
    for session in [session, control] { _ = try session.respond(to: "one", options: turn()) }
    let cache = try #require(engine.sessions.first)
    let (tokens, transcript) = (cache.tokens, session.transcript)
    engine.rendersUntilFailure = 1
    #expect(throws: TierError.self) { try session.respond(to: "lost", options: turn()) }
    engine.rendersUntilFailure = nil
    #expect(cache.tokens == tokens && session.transcript == transcript)
    let answers = try [session, control].map { try $0.respond(to: "two", options: turn()).content }
    #expect(answers[0] == answers[1])
  }

  @Test func whatCannotBeServedIsSaid() throws {
    let engine = ScriptedEngine()
    let session = try session(engine, tier: .onDevice)
    for prompt in ["", " \n\t"] {
      #expect(throws: TierError.emptyPrompt) { try session.respond(to: prompt) }
    }
    for level in [ReasoningLevel.light, .moderate, .deep] {
      let expected = TierError.reasoningUnsupported(tier: .onDevice, level: level)
      #expect(throws: expected) { try session.respond(to: "hi", options: turn(level)) }
    }
    #expect(throws: TierError.emptyPrompt) {
      try session.serve(TokenRequest(prompt: [], maximumResponseTokens: 1))
    }
    #expect(session.positionCount == 0 && session.account.total == 0)
    #expect(session.transcript.map(\.segment) == [.instructions])
    #expect(session.context.limit == 4_096 && session.context.source == .tier)
    _ = try session.respond(to: "hi", options: turn())
    #expect(session.account.total == session.positionCount)
  }

  @Test func theSmallerContextHolds() {
    for (trained, tier, limit, source) in [
      (2_048, Tier.onDevice, 2_048, EffectiveContext.Source.model),
      (4_096, .onDevice, 4_096, .tier), (8_192, .onDevice, 4_096, .tier),
      (8_192, .privateCloud, 8_192, .model), (131_072, .privateCloud, 32_768, .tier),
    ] {
      let context = tier.effectiveContext(trainedContextLength: trained)
      #expect(context.limit == limit && context.source == source)
    }
    #expect(Tier.privateCloud.displayName == "private-cloud (modelled)")
  }

  @Test(arguments: [(0, 1), (0, 40), (7, 1), (50, 33), (64, 0)])
  func aFixedLengthIsGeneratedExactly(_ reasoning: Int, _ response: Int) throws {
    let engine = ScriptedEngine()
    let session = try session(engine, instructions: nil)
    for repetition in 0..<3 {
      try session.reset(preloading: [Int32](repeating: 65, count: 100))
      let served = try session.serve(
        TokenRequest(
          prompt: [Int32](repeating: 66, count: 32), reasoning: reasoning > 0 ? .light : .none,
          reasoningBudget: reasoning, maximumResponseTokens: response, ignoresStopTokens: true))
      #expect(served.reasoningTokens.count == reasoning, "repetition \(repetition)")
      #expect(served.responseTokens.count == response)
      #expect(served.cachedPositionCount == 100 && served.promptTokenCount == 32)
      #expect(session.account.history == 100 && session.account.prompt == 32)
      #expect(session.account.total == session.positionCount)
      #expect(served.finish == .length)
    }
    // A fixed length that cannot fit is refused before anything is computed.
    let need = session.positionCount + 40_000 + 1 - 1 + 1
    #expect(
      throws: TierError.contextExceeded(
        tier: .privateCloud, limit: 32_768, source: .tier, need: need)
    ) {
      try session.serve(
        TokenRequest(prompt: [66], maximumResponseTokens: 40_001, ignoresStopTokens: true))
    }
    #expect(session.account.total == session.positionCount)
  }

  @Test func aFrontierIsRunOnce() throws {
    let engine = ScriptedEngine()
    let session = try session(engine, instructions: nil)
    let tokens = (0..<100).map { Int32(65 + $0 % 26) }
    func runCount() -> Int { engine.sessions.reduce(0) { $0 + $1.runTokenCount } }
    var answers: [Int: [Int32]] = [:]
    for depth in [40, 0, 100, 40, 7, 100, 0, 99, 40] {
      let before = runCount()
      try session.reset(preloading: Array(tokens.prefix(depth)))
      // The first 40, then 60 more; all others begin as forks.
      #expect(runCount() - before == (before == 0 ? 40 : depth == 100 && before < 100 ? 60 : 0))
      #expect(session.positionCount == depth && session.account.history == depth)
      let served = try session.serve(
        TokenRequest(prompt: [66, 67], maximumResponseTokens: 5, ignoresStopTokens: true))
      #expect(answers[depth] == nil || answers[depth] == served.responseTokens)
      answers[depth] = served.responseTokens
    }
    // Other tokens are another frontier, and an adapter needs its own.
    try session.reset(preloading: [1, 2, 3])
    #expect(session.positionCount == 3)
    let before = runCount()
    try session.use(ScriptedAdapter(name: "a"))
    try session.reset(preloading: [1, 2, 3])
    #expect(runCount() == before + 3)
  }

  @Test func severalSessionsAreServedTogether() throws {
    let engine = ScriptedEngine()
    let options = LanguageModelSession.Options()
    let together = try BatchedSessions(
      engine: engine, tier: .onDevice, count: 3, contextLimit: 200, options: options)
    let letters = (0..<52).map { place in Int32(65 + place % 26) }
    let prompts = (0..<3).map { index in Array(letters[index..<index + 50]) }
    for depth in [0, 20, 0, 10] {
      let tokens = [Int32](repeating: 70, count: depth)
      try together.reset(preloading: tokens)
      let served = try together.serve(prompts: prompts, responseTokens: 6)
      #expect(served.sessionCount == 3 && served.tokenTimes.count == 6)
      #expect(served.cachedPositionCount == depth && served.promptTokenCount == 50)
      #expect(served.context.total == depth + 55)
      #expect(served.cache.used == 3 * (depth + 55) * 10)
      let alone = try session(engine, tier: .onDevice, instructions: nil)
      try alone.reset(preloading: tokens)
      let one = try alone.serve(
        TokenRequest(prompt: prompts[0], maximumResponseTokens: 6, ignoresStopTokens: true))
      #expect(served.responseTokens == one.responseTokens)
    }
    #expect(throws: TierError.self) { try together.serve(prompts: prompts, responseTokens: 200) }
    try together.reset(preloading: [])
    #expect(try together.serve(prompts: prompts, responseTokens: 2).tokenTimes.count == 2)
  }

  @Test func sessionsOfATierShareTheirInstructions() throws {
    let engine = ScriptedEngine()
    var options = LanguageModelSession.Options()
    options.instructions = "Be brief, and say what you do not know."
    options.sharesPrefixes = true
    let first = try LanguageModelSession(engine: engine, tier: .onDevice, options: options)
    let second = try LanguageModelSession(
      engine: engine, tier: .onDevice, options: options, sharing: first)
    let answer = try first.respond(to: "one", options: turn())
    #expect(answer.usage.cachedInputTokens == 0)
    let other = try second.respond(to: "two", options: turn())
    // Everything up to the prompt, in whole pages, is there.
    let cached = other.usage.cachedInputTokens
    #expect(cached >= first.account.instructions / 4 * 4 && cached % 4 == 0)
    #expect(other.request.adoptedPositionCount == cached)
    #expect(other.request.prefilledTokenCount == other.usage.inputTokens - cached)
    #expect(second.account.instructions == first.account.instructions)
    #expect(second.account.total == second.positionCount)
    // A session with a cache of its own says the same.
    let alone = try LanguageModelSession(engine: engine, tier: .onDevice, options: options)
    let same = try alone.respond(to: "two", options: turn())
    #expect(same.content == other.content && same.usage.cachedInputTokens == 0)
    #expect(same.usage.inputTokens == other.usage.inputTokens)
  }
}
