import EngineInterface
import KVCache

/// An engine without a model: tokens are bytes, and what it says follows from what it was fed.
///
/// Tests use it on one thread.
final class ScriptedEngine: Engine, @unchecked Sendable {
  struct Script {
    /// Positions the "model" was trained for.
    var trainedContextLength = 100_000
    /// Whether `<think>` and `</think>` are tokens of their own.
    var knowsThinkMarks = true
    /// Tokens it says before a stop token; nil never stops.
    var responseLength: Int? = 12
    /// Tokens it thinks before `</think>`; nil never stops.
    var reasoningLength: Int? = 20
    /// Whether the template writes earlier turns anew every time.
    var rewritesEarlierTurns = false
  }

  enum Mark: Int32, CaseIterable {
    case start = 256
    case end, think, endThink

    var text: String {
      switch self {
      case .start: "<|im_start|>"
      case .end: "<|im_end|>"
      case .think: "<think>"
      case .endThink: "</think>"
      }
    }
  }

  struct Failure: Error {}

  let script: Script
  let facts: EngineFacts
  /// The sessions it made, in order.
  fileprivate(set) var sessions: [ScriptedSession] = []
  /// Renderings until one fails; nil for never.
  var rendersUntilFailure: Int?

  init(_ script: Script = Script()) {
    self.script = script
    facts = EngineFacts(
      modelName: "scripted", modelType: "scripted", layerCount: 1, parameterCount: 0,
      fileByteCount: 0,
      weightByteCount: 0, decodeWeightByteCount: 0,
      trainedContextLength: script.trainedContextLength, vocabularyCount: 260,
      stopTokens: [Mark.end.rawValue], instructionSet: "none", kernelNames: [], threadCount: 1)
  }

  func encode(_ text: String, recognizingSpecialTokens: Bool) -> [Int32] {
    var rest = Substring(text)
    var tokens: [Int32] = []
    while !rest.isEmpty {
      let mark = Mark.allCases.first { mark in
        (script.knowsThinkMarks || mark.rawValue <= Mark.end.rawValue)
          && rest.hasPrefix(mark.text)
      }
      if recognizingSpecialTokens, let mark {
        tokens.append(mark.rawValue)
        rest = rest.dropFirst(mark.text.count)
      } else {
        tokens += rest.removeFirst().utf8.map(Int32.init)
      }
    }
    return tokens
  }

  func decode(_ tokens: [Int32]) -> String {
    String(decoding: tokens.filter { $0 < 256 }.map { UInt8($0) }, as: UTF8.self)
  }

  func render(_ messages: [Message], addsGenerationPrompt: Bool) throws -> String {
    if let left = rendersUntilFailure {
      guard left > 0 else { throw Failure() }
      rendersUntilFailure = left - 1
    }
    var text = script.rewritesEarlierTurns ? "\(messages.count) messages\n" : ""
    for message in messages {
      text += "<|im_start|>\(message.role.rawValue)\n\(message.content)<|im_end|>\n"
    }
    return addsGenerationPrompt ? text + "<|im_start|>assistant\n" : text
  }

  func loadAdapter(_ path: String) throws -> any EngineAdapter { ScriptedAdapter(name: path) }

  func makeSessionGroup(_ options: SessionOptions) -> any SessionGroup {
    ScriptedSessionGroup(
      engine: self, contextLimit: options.contextLimit, sharesPrefixes: options.sharesPrefixes)
  }
}

/// Sessions of a scripted engine: they share nothing.
final class ScriptedSessionGroup: SessionGroup {
  private let engine: ScriptedEngine
  private let contextLimit: Int
  let sharesPrefixes: Bool
  fileprivate(set) var sessions: [ScriptedSession] = []

  init(engine: ScriptedEngine, contextLimit: Int, sharesPrefixes: Bool) {
    self.engine = engine
    self.contextLimit = contextLimit
    self.sharesPrefixes = sharesPrefixes
  }

  var cacheUsage: PoolUsage {
    PoolUsage(tier: "", budgetBytes: 0, held: CacheUsage(), cachedBytes: 0)
  }

  func predictedUsage(positions: [Int], sharedPositions: Int) -> CacheUsage { CacheUsage() }

  func makeSession() -> any Session {
    let session = ScriptedSession(engine: engine, contextLimit: contextLimit)
    engine.sessions.append(session)
    session.group = self
    sessions.append(session)
    return session
  }

  func decode(_ tokens: [Int32], in sessions: [any Session]) throws(EngineError) {
    for (token, session) in zip(tokens, sessions) { try session.decode(token) }
  }

  func run(_ inputs: [SessionInput]) throws(EngineError) {
    for input in inputs { try input.session.prefill(input.tokens) }
  }
}

/// An adapter that changes nothing but the session that uses it.
final class ScriptedAdapter: EngineAdapter {
  let name: String
  var parameterCount: Int { 0 }
  var byteCount: Int { 0 }

  init(name: String) { self.name = name }
}

/// A timeline of a scripted engine: the tokens themselves are the cache.
final class ScriptedSession: Session {
  private let engine: ScriptedEngine
  fileprivate weak var group: ScriptedSessionGroup?
  let contextLimit: Int
  var recordsDetail = true
  fileprivate(set) var tokens: [Int32] = []
  /// Tokens that it has run since it was made, a fork not those of its origin.
  private(set) var runTokenCount = 0
  fileprivate(set) var adapter: (any EngineAdapter)?

  private var script: ScriptedEngine.Script { engine.script }

  init(engine: ScriptedEngine, contextLimit: Int) {
    self.engine = engine
    self.contextLimit = contextLimit
  }

  var positionCount: Int { tokens.count }

  /// As if each position had taken 10 ns of waiting.
  var threadWaitNanoseconds: Int64 { Int64(positionCount) * 10 }

  /// Pages of 16 positions of 10 bytes, 8 of which are elements.
  var cacheUsage: SessionCacheUsage {
    SessionCacheUsage(
      allocated: (tokens.count + 15) / 16 * 160, used: tokens.count * 10, ideal: tokens.count * 8)
  }

  func use(_ adapter: (any EngineAdapter)?) { self.adapter = adapter }

  func prefill(_ added: ArraySlice<Int32>) throws(EngineError) {
    precondition(!added.isEmpty, "no tokens to run")
    guard tokens.count + added.count <= contextLimit else {
      throw .contextExceeded(limit: contextLimit, need: tokens.count + added.count)
    }
    tokens += added
    runTokenCount += added.count
  }

  func prefill(
    _ added: ArraySlice<Int32>,
    visitingLogits visit: (_ position: Int, _ logits: Span<Float>) -> Void
  ) throws(EngineError) {
    throw .unsupported("a scripted session has no logits")
  }

  func decode(_ token: Int32) throws(EngineError) { try prefill([token]) }

  func truncate(to position: Int) { tokens.removeSubrange(position...) }

  private(set) var adoptedPositionCount = 0

  /// What another session of the group has in its cache now, in pages of 4.
  func adoptPrefix(of prompt: ArraySlice<Int32>) -> Int {
    guard tokens.isEmpty, let group, group.sharesPrefixes else { return 0 }
    let longest = group.sessions.reduce(0) { longest, other in
      max(longest, zip(other.tokens, prompt.dropLast()).prefix { $0 == $1 }.count)
    }
    adoptedPositionCount = longest / 4 * 4
    tokens = Array(prompt.prefix(adoptedPositionCount))
    return adoptedPositionCount
  }

  func fork() -> any Session {
    let other = ScriptedSession(engine: engine, contextLimit: contextLimit)
    other.tokens = tokens
    other.adapter = adapter
    engine.sessions.append(other)
    return other
  }

  func save(to path: String) throws { throw EngineError.unsupported("nothing to save") }
  func restore(from path: String) throws { throw EngineError.unsupported("nothing to restore") }

  /// A letter that depends on everything in the cache, or a stop token by the script.
  func sample(using sampler: inout Sampler) -> Int32 {
    typealias Mark = ScriptedEngine.Mark
    let marked = tokens.lastIndex { $0 >= 256 } ?? -1
    let said = tokens.count - marked - 1
    if marked >= 0, tokens[marked] == Mark.think.rawValue {
      if let length = script.reasoningLength, said >= length { return Mark.endThink.rawValue }
    } else if let length = script.responseLength, said >= length {
      return Mark.end.rawValue
    }
    var hash: UInt64 = 14_695_981_039_346_656_037
    for token in tokens { hash = (hash ^ UInt64(token)) &* 1_099_511_628_211 }
    return 97 + Int32(hash >> 33) % 26
  }
}
