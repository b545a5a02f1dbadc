import EngineInterface
import KVCache
import TraceCore

/// A conversation on a tier, in the words of the Foundation Models framework: instructions, then
/// `respond(to:)` turn by turn, over one engine session whose every position is accounted for.
///
/// Reasoning is generated text in a segment of its own (`<think>` … `</think>`), under the level's
/// token budget, fed back as context and absent from the response. One thread uses it at a time.
package final class LanguageModelSession {
  package let tier: Tier
  /// The context that holds here, and whether the tier or the model sets it.
  package let context: EffectiveContext
  /// What was said so far.
  package private(set) var transcript: [TranscriptEntry] = []
  /// What the positions in the cache are for.
  package internal(set) var account = ContextAccount()

  let engine: any Engine
  /// Its cache, which has room for the session and for the frontier that it begins at.
  let group: any SessionGroup
  private(set) var session: any Session
  let trace: TraceWriter
  let labels: TraceLabels
  let isInterrupted: @Sendable () -> Bool
  var counters: TraceCounterValues
  /// What the threads had been waited for when the request began.
  private(set) var threadWaitBefore: Int64 = 0
  private var messages: [Message] = []
  /// The template's text up to and including the last response: what the cache stands for.
  private var renderedText = ""
  /// The last token of a response that ended by length: part of the text, not yet in the cache.
  private var pendingTokens: [Int32] = []
  /// Tokens put in the cache before any turn.
  private var preloaded: [Int32] = []
  /// Where tokens were run that turns begin behind: kept, so that beginning there again, or at fewer
  /// of them, runs nothing.
  private var frontier: ContextFrontier?
  private var requestCount = 0
  /// How often the cache was begun anew: positions of before and after are not the same text.
  private var restartCount = 0

  /// How a session is set up.
  package struct Options {
    package var instructions: String?
    package var keyElement = "f16"
    package var valueElement = "f16"
    package var batchTokens = 512
    package var runsAllLayers = false
    /// Bytes of the cache, of all sessions that share it; nil is what one session needs, and the
    /// frontier that it begins at.
    package var cacheBudget: Int?
    /// Whether sessions that share a cache run equal beginnings, such as their instructions, once.
    package var sharesPrefixes = false
    /// The model's file as results name it, for the recording.
    package var modelFile: String?
    package var recorder: TraceRecorder?
    package var writer = TraceWriter.discarding()
    /// Looked at before each prefill and token; true ends the request with `TierError.interrupted`.
    package var isInterrupted: @Sendable () -> Bool = { false }

    package init() {}

    func sessionOptions(tier: Tier, contextLimit: Int) -> SessionOptions {
      SessionOptions(
        contextLimit: contextLimit, keyElement: keyElement, valueElement: valueElement,
        batchTokens: batchTokens, cacheBudget: cacheBudget, tier: tier.rawValue,
        sharesPrefixes: sharesPrefixes, runsAllLayers: runsAllLayers, trace: writer)
    }

    func labels(
      tier: Tier, context: EffectiveContext, facts: EngineFacts
    ) -> TraceLabels {
      TraceLabels(
        TraceLabels.Setting(
          tier: tier, contextLimit: context.limit, facts: facts, modelFile: modelFile,
          keyElement: keyElement, valueElement: valueElement),
        recorder: recorder)
    }
  }

  /// Opens a session on `tier`, in a cache of its own or in that of another session of the tier, whose
  /// budget the two share then; throws where the cache does not fit.
  package init(
    engine: any Engine, tier: Tier, options: Options = Options(),
    sharing other: LanguageModelSession? = nil
  ) throws {
    precondition(
      other.map { $0.engine === engine && $0.tier == tier } ?? true,
      "a cache is shared on one tier of one engine")
    self.engine = engine
    self.tier = tier
    context = tier.effectiveContext(trainedContextLength: engine.facts.trainedContextLength)
    trace = options.writer
    isInterrupted = options.isInterrupted
    counters = TraceCounterValues(of: options.writer)
    labels = options.labels(tier: tier, context: context, facts: engine.facts)
    var sessionOptions = options.sessionOptions(tier: tier, contextLimit: context.limit)
    // The session's context, and a frontier's.
    sessionOptions.sessionCount = 2
    group = try other?.group ?? engine.makeSessionGroup(sessionOptions)
    session = try group.makeSession()
    if let instructions = options.instructions, !instructions.isEmpty {
      messages.append(Message(role: .system, content: instructions))
      transcript.append(.instructions(instructions))
    }
    trace.begin(
      .session, .tier, labels.tier, .model, labels.model, .contextLimit, Int64(context.limit))
  }

  /// Ends the session's span in the recording, and its counters: its cache is free from here on.
  package func close() {
    counters.reset()
    trace.end()
  }

  /// Tokens of a request, from the first, whose layers are recorded too; with at least one, so are
  /// the prefill's.
  package var detailTokenLimit = Int.max

  /// The number of the repetition that the next request belongs to; negative while warming up.
  package var repetition = 0

  /// The row of a run's table that the next request belongs to.
  package var row: MeasuredRow?

  /// Positions in the cache.
  package var positionCount: Int { session.positionCount }

  /// Cache bytes now.
  package var cacheUsage: SessionCacheUsage { session.cacheUsage }

  /// The account of the tier's cache: of all sessions that share it.
  package var tierCacheUsage: PoolUsage { group.cacheUsage }

  /// Positions that this text would take as plain tokens.
  package func tokenCount(for text: String) throws -> Int {
    try engine.encode(text, recognizingSpecialTokens: false).count
  }

  /// Forgets everything but the instructions, as if newly opened, with `tokens` in the cache: the
  /// context frontier that a measurement begins at. What a frontier before had of them is not run
  /// again: the session begins as its fork.
  package func reset(preloading tokens: [Int32] = []) throws {
    if tokens != preloaded || session.positionCount < tokens.count {
      preloaded = []
      restart()
      if !tokens.isEmpty {
        try requireRoom(tokens.count)
        session = try fork(at: tokens)
        preloaded = tokens
      }
    }
    rewind()
  }

  /// Forgets what was served since `reset`, so that the cache holds no request that is over.
  package func rewind() {
    messages.removeAll { $0.role != .system }
    transcript.removeAll { $0.segment != .instructions }
    restart()
  }

  /// A session that stands behind those tokens.
  private func fork(at tokens: [Int32]) throws -> any Session {
    try engineCall { () throws(EngineError) in
      var source: ContextFrontier
      if let frontier {
        source = frontier
      } else {
        source = try ContextFrontier(in: group, adapter: session.adapter)
      }
      // Taken out, so that one that fails is not begun at again.
      frontier = nil
      let fork = try source.fork(behind: tokens)
      frontier = source
      return fork
    }
  }

  /// Answers what follows with an adapter of the engine, or with none. What was said before was
  /// computed otherwise: where the adapter changes, the next turn runs all of it again.
  package func use(_ adapter: (any EngineAdapter)?) throws {
    guard adapter !== session.adapter else { return }
    try engineCall { () throws(EngineError) in try session.use(adapter) }
    preloaded = []
    frontier = nil
    restart()
  }

  /// Back to the positions that were preloaded.
  private func restart() {
    session.truncate(to: min(preloaded.count, session.positionCount))
    restartCount += 1
    account = ContextAccount()
    account.history = session.positionCount
    renderedText = ""
    pendingTokens = []
    updateCounters()
  }

  /// What a turn asks for.
  package struct TurnOptions: Sendable {
    package var reasoning = ReasoningLevel.none
    package var reasoningBudget: Int?
    package var maximumResponseTokens = 256
    package var sampling = Sampler.Options.greedy

    package init() {}
  }

  /// A turn's answer.
  package struct Response: Sendable {
    /// The visible text.
    package var content: String
    /// The reasoning's text; not part of the content.
    package var reasoning: String
    /// Tokens in and out.
    package var usage: Usage
    /// When what happened, and what the context holds.
    package var request: ServedRequest
  }

  /// Answers a prompt. On an error the session is as it was before, and usable.
  package func respond(to prompt: String, options: TurnOptions = TurnOptions()) throws -> Response {
    guard prompt.contains(where: { !$0.isWhitespace }) else { throw TierError.emptyPrompt }
    var response: Response?
    let served = try request(options.reasoning) { served throws in
      try serve(try plan(prompt, options: options), into: &served)
      response = try finishTurn(prompt, served)
    }
    guard var response else { preconditionFailure("a turn ends with a response or an error") }
    response.request = served
    return response
  }

  /// Serves a request given in tokens, for measurements of a fixed length: no template, no
  /// transcript. On an error the session is as it was before, and usable.
  package func serve(_ request: TokenRequest) throws -> ServedRequest {
    try self.request(request.reasoning) { served throws in
      try serve(request, into: &served)
      renderedText = ""
      pendingTokens = []
    }
  }

  /// Runs `body` inside a request's span; on an error puts everything back.
  private func request(
    _ level: ReasoningLevel, _ body: (inout ServedRequest) throws -> Void
  ) throws -> ServedRequest {
    guard tier.reasoningLevels.contains(level) else {
      throw TierError.reasoningUnsupported(tier: tier, level: level)
    }
    let before = Checkpoint(self)
    let shared = labels.shared(level, row: row, adapter: session.adapter?.name)
    let eventsBefore = trace.eventCount
    account.beginTurn()
    var served = ServedRequest()
    served.submitted = trace.begin(
      .request, .request, Int64(requestCount), .repetition, Int64(repetition), .shared, shared)
    requestCount += 1
    threadWaitBefore = session.threadWaitNanoseconds
    recordCounters()
    do {
      try body(&served)
    } catch {
      trace.end(.stopReason, labels.error, .tokens, Int64(served.tokenTimes.count))
      before.restore(self)
      endCounters()
      throw error
    }
    served.ended = trace.end(
      .stopReason, labels.finish(served.finish), .tokens, Int64(served.tokenTimes.count))
    endCounters()
    served.recordedEventCount = trace.eventCount - eventsBefore
    return served
  }

  // MARK: - A turn's text

  /// The tokens a turn adds to the cache: the template's text after what is there already.
  private func plan(_ prompt: String, options: TurnOptions) throws -> TokenRequest {
    let text = try renderConversation(prompt)
    trace.begin(.tokenize)
    var promptCount = 0
    defer { trace.end(.tokens, Int64(session.positionCount + promptCount)) }
    // Compared as bytes: to Swift's characters, text that goes on with a combining mark differs.
    if text.utf8.starts(with: renderedText.utf8) && !renderedText.isEmpty {
      let added = String(decoding: text.utf8.dropFirst(renderedText.utf8.count), as: UTF8.self)
      let tokens = try asText { try engine.encode(added, recognizingSpecialTokens: true) }
      promptCount = pendingTokens.count + tokens.count
      guard promptCount > 0 else {
        throw TierError.text("the model's chat template adds no text for the prompt")
      }
      return request(pendingTokens + tokens, instructionCount: 0, options)
    }
    // The first turn, or a template that writes earlier turns differently: all of it again.
    restart()
    let tokens = try asText { try engine.encode(text, recognizingSpecialTokens: true) }
    promptCount = tokens.count
    guard promptCount > 0 else {
      throw TierError.text("the model's tokenizer has no tokens for the prompt")
    }
    return request(tokens, instructionCount: try instructionCount(in: tokens), options)
  }

  private func renderConversation(_ prompt: String) throws -> String {
    trace.begin(.template)
    defer { trace.end() }
    let conversation = messages + [Message(role: .user, content: prompt)]
    return try asText { try engine.render(conversation, addsGenerationPrompt: true) }
  }

  private func request(
    _ tokens: [Int32], instructionCount: Int, _ options: TurnOptions
  ) -> TokenRequest {
    TokenRequest(
      prompt: tokens, instructionCount: instructionCount, reasoning: options.reasoning,
      reasoningBudget: options.reasoningBudget,
      maximumResponseTokens: options.maximumResponseTokens, sampling: options.sampling)
  }

  /// How many of the first turn's tokens the system turn takes: those it has alone, too.
  private func instructionCount(in tokens: [Int32]) throws -> Int {
    guard let system = messages.first, system.role == .system else { return 0 }
    let text = try asText { try engine.render([system], addsGenerationPrompt: false) }
    let alone = try asText { try engine.encode(text, recognizingSpecialTokens: true) }
    return zip(alone, tokens).prefix { $0 == $1 }.count
  }

  /// Takes the answer into the conversation.
  private func finishTurn(_ prompt: String, _ served: ServedRequest) throws -> Response {
    trace.begin(.detokenize)
    defer { trace.end() }
    let visible = served.responseTokens.filter { !engine.facts.stopTokens.contains($0) }
    let content = try asText { try engine.decode(visible) }
    let reasoning = try asText {
      try engine.decode(served.reasoningTokens.filter { !engine.facts.stopTokens.contains($0) })
    }
    let asked = messages + [Message(role: .user, content: prompt)]
    let shown = try asText { try engine.render(asked, addsGenerationPrompt: true) }
    // Nothing throws from here on.
    renderedText = shown + content
    messages = asked + [Message(role: .assistant, content: content)]
    pendingTokens = served.finish == .length ? Array(visible.suffix(1)) : []
    transcript.append(.prompt(prompt))
    if !served.reasoningTokens.isEmpty { transcript.append(.reasoning(reasoning)) }
    transcript.append(.response(content))
    let usage = Usage(
      inputTokens: served.cachedPositionCount + served.promptTokenCount,
      cachedInputTokens: served.cachedPositionCount + served.adoptedPositionCount,
      outputTokens: served.reasoningTokens.count + served.responseTokens.count,
      reasoningTokens: served.reasoningTokens.count)
    return Response(content: content, reasoning: reasoning, usage: usage, request: served)
  }

  /// What a failed request must put back.
  private struct Checkpoint {
    let positionCount: Int
    let restartCount: Int
    let account: ContextAccount
    let renderedText: String
    let pendingTokens: [Int32]

    init(_ session: LanguageModelSession) {
      positionCount = session.session.positionCount
      restartCount = session.restartCount
      account = session.account
      renderedText = session.renderedText
      pendingTokens = session.pendingTokens
    }

    func restore(_ session: LanguageModelSession) {
      guard session.restartCount == restartCount else {
        // The failed turn had begun the cache anew: the next turn renders everything again.
        session.restart()
        return
      }
      session.session.truncate(to: positionCount)
      session.account = account
      session.renderedText = renderedText
      session.pendingTokens = pendingTokens
    }
  }
}
