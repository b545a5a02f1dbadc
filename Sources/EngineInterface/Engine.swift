import KVCache
import TensorCore
import TraceCore

/// A loaded model as a benchmark or a tier sees it: its facts, its text codec, and sessions.
///
/// Safe to use from several threads; each session belongs to one.
package protocol Engine: AnyObject, Sendable {
  /// What the model is and what it costs.
  var facts: EngineFacts { get }

  /// Token ids of a text. Special tokens that stand in it are recognised unless told otherwise;
  /// none is added.
  func encode(_ text: String, recognizingSpecialTokens: Bool) throws -> [Int32]

  /// The text of token ids; control tokens are left out.
  func decode(_ tokens: [Int32]) throws -> String

  /// A decoder for text that is shown while it is generated.
  func makeTextStream() throws -> any TextStream

  /// Messages in the model's own chat template.
  func render(_ messages: [Message], addsGenerationPrompt: Bool) throws -> String

  /// Loads a low-rank adapter beside the model, which stays as it is; several may be resident. Throws
  /// where the file is none, or does not fit the model.
  func loadAdapter(_ path: String) throws -> any EngineAdapter

  /// A cache, and room for sessions that share it. Throws where not one page fits the options'
  /// budget.
  func makeSessionGroup(_ options: SessionOptions) throws -> any SessionGroup
}

/// One mutable token timeline with its positions in a cache. Used by one thread at a time.
package protocol Session: AnyObject {
  /// Positions in the cache.
  var positionCount: Int { get }
  /// Positions it can hold.
  var contextLimit: Int { get }
  /// Cache bytes now.
  var cacheUsage: SessionCacheUsage { get }
  /// Time in which its calls have waited for other threads of the engine, since the engine was made.
  var threadWaitNanoseconds: Int64 { get }

  /// The adapter that tokens run with; none at first.
  var adapter: (any EngineAdapter)? { get }

  /// Runs the tokens that follow with an adapter of this engine, or with none. What stands in the
  /// cache stays what it was computed with. Throws `EngineError.unsupported` for one of another engine,
  /// and changes nothing.
  func use(_ adapter: (any EngineAdapter)?) throws(EngineError)

  /// Runs tokens through the model in batches and appends them to the cache; afterwards the logits
  /// are those after the last one. Throws `EngineError.contextExceeded`, with limit and need and
  /// before anything is overwritten, where they do not fit. `tokens` is not empty.
  func prefill(_ tokens: ArraySlice<Int32>) throws(EngineError)

  /// Like `prefill`, handing out the logits after every position.
  func prefill(
    _ tokens: ArraySlice<Int32>,
    visitingLogits visit: (_ position: Int, _ logits: Span<Float>) -> Void
  ) throws(EngineError)

  /// Runs one token; afterwards the logits are those after it.
  func decode(_ token: Int32) throws(EngineError)

  /// Chooses a token from the present logits by the sampler's rule and state.
  func sample(using sampler: inout Sampler) throws(EngineError) -> Int32

  /// Whether spans below the token (layers and their halves) are recorded too.
  var recordsDetail: Bool { get set }

  /// Forgets the positions from `position` on; the logits are undefined until the next token.
  func truncate(to position: Int)

  /// The positions that an empty session found in the cache and did not run.
  var adoptedPositionCount: Int { get }

  /// Has an empty session stand behind what the cache has of a prompt's beginning, in whole pages and
  /// at most all but the last token, and returns how many positions those are. `prefill` does so by
  /// itself; who runs a prompt in parts asks first.
  func adoptPrefix(of prompt: ArraySlice<Int32>) -> Int

  /// A second session of the group that stands where this one does, with its adapter; the two share
  /// what is there and go on by themselves. Its logits are undefined until the next token. Copies no
  /// key or value.
  func fork() throws(EngineError) -> any Session

  /// Writes the positions to a file that `restore` reads: tokens, keys, values, and what they were
  /// computed with, with digests. Throws where the file cannot be written.
  func save(to path: String) throws

  /// Stands where a file of `save` stood, in place of what is here. Throws where the file is damaged or
  /// of another model, adapter or cache, or the cache has no room; the session is then as it was.
  func restore(from path: String) throws
}

/// A low-rank adapter that an engine has loaded. Sessions share it, and each says when it runs with it.
package protocol EngineAdapter: AnyObject, Sendable {
  /// The file as it was named.
  var name: String { get }
  /// Elements of its factors.
  var parameterCount: Int { get }
  /// Bytes in memory, which a token reads besides the model's.
  var byteCount: Int { get }
}

/// What a loaded model is.
package struct EngineFacts: Sendable {
  /// The model's own name.
  package var modelName: String
  /// The graph and the stored formats, such as `llama s8c`.
  package var modelType: String
  /// Transformer layers.
  package var layerCount: Int
  /// Parameters, counted from the tensors' shapes.
  package var parameterCount: Int
  /// Bytes of the packed file.
  package var fileByteCount: Int
  /// Bytes of the weights at run time, scales and layout padding included.
  package var weightByteCount: Int
  /// Weight bytes that must be read to decode one token.
  package var decodeWeightByteCount: Int
  /// Positions the model was trained for.
  package var trainedContextLength: Int
  /// Entries of the vocabulary.
  package var vocabularyCount: Int
  /// Tokens that end a response.
  package var stopTokens: Set<Int32>
  /// The instruction sets of the kernels that the linear layers run, that of most weights first:
  /// less than the selected one where a format has no kernel of it.
  package var instructionSet: String
  /// The names of the kernels that run.
  package var kernelNames: [String]
  /// Threads of the pool.
  package var threadCount: Int

  package init(
    modelName: String, modelType: String, layerCount: Int, parameterCount: Int,
    fileByteCount: Int,
    weightByteCount: Int, decodeWeightByteCount: Int, trainedContextLength: Int,
    vocabularyCount: Int, stopTokens: Set<Int32>, instructionSet: String, kernelNames: [String],
    threadCount: Int
  ) {
    self.modelName = modelName
    self.modelType = modelType
    self.layerCount = layerCount
    self.parameterCount = parameterCount
    self.fileByteCount = fileByteCount
    self.weightByteCount = weightByteCount
    self.decodeWeightByteCount = decodeWeightByteCount
    self.trainedContextLength = trainedContextLength
    self.vocabularyCount = vocabularyCount
    self.stopTokens = stopTokens
    self.instructionSet = instructionSet
    self.kernelNames = kernelNames
    self.threadCount = threadCount
  }
}

/// One message of a conversation, for a chat template.
package struct Message: Hashable, Sendable {
  package var role: Role
  package var content: String

  /// Who speaks.
  package enum Role: String, Hashable, Sendable {
    case system, user, assistant
  }

  package init(role: Role, content: String) {
    self.role = role
    self.content = content
  }
}

/// How a session is set up.
package struct SessionOptions {
  /// Positions the cache can hold.
  package var contextLimit: Int
  /// How keys are stored: the name of a cache element of `KVCache`, such as `f16` or `s8`.
  package var keyElement: String
  /// How values are stored.
  package var valueElement: String
  /// Tokens a prefill batch runs together.
  package var batchTokens: Int
  /// Bytes that the cache may take, of all sessions of a group; nil is what `sessionCount` sessions of
  /// `contextLimit` positions need.
  package var cacheBudget: Int?
  /// Sessions that a cache without a budget of its own has room for.
  package var sessionCount = 1
  /// The tier that the cache's account is shown under; nothing depends on it.
  package var tier: String
  /// Positions of a page of the cache: a multiple of 16, at most 512.
  package var pagePositions = 64
  /// Whether equal beginnings are kept and computed once: a prompt that begins like an earlier one
  /// skips the pages that are there.
  package var sharesPrefixes: Bool
  /// Whether a prefill runs layers for positions where nobody reads what they give; for measuring
  /// what leaving them out saves.
  package var runsAllLayers: Bool
  /// Where what happens is recorded; nothing is, unless given.
  package var trace: TraceWriter

  package init(
    contextLimit: Int, keyElement: String = "f16", valueElement: String = "f16",
    batchTokens: Int = 512, cacheBudget: Int? = nil, tier: String = "",
    sharesPrefixes: Bool = false, runsAllLayers: Bool = false, trace: TraceWriter = .discarding()
  ) {
    self.contextLimit = contextLimit
    self.keyElement = keyElement
    self.valueElement = valueElement
    self.batchTokens = batchTokens
    self.cacheBudget = cacheBudget
    self.tier = tier
    self.sharesPrefixes = sharesPrefixes
    self.runsAllLayers = runsAllLayers
    self.trace = trace
  }
}

/// Cache memory of one session, in bytes.
package struct SessionCacheUsage: Hashable, Sendable {
  /// Whole pages held.
  package var allocated: Int
  /// Stored positions with their scales.
  package var used: Int
  /// Positions × bytes a position, scales apart.
  package var ideal: Int

  package init(allocated: Int, used: Int, ideal: Int) {
    self.allocated = allocated
    self.used = used
    self.ideal = ideal
  }

  /// Adds another session's.
  package mutating func add(_ other: SessionCacheUsage) {
    allocated += other.allocated
    used += other.used
    ideal += other.ideal
  }
}

/// What a session refuses; the session stays as it was and usable.
package enum EngineError: Error, Hashable, Sendable, CustomStringConvertible {
  /// More positions than the context holds.
  case contextExceeded(limit: Int, need: Int)
  /// The cache has no room, with limit and need.
  case cache(CacheError)
  /// A token id outside the vocabulary.
  case unknownToken(Int32, vocabularyCount: Int)
  /// The logits are not numbers, so no token can be chosen.
  case logitsNotFinite(position: Int)
  /// An option that this engine does not have.
  case unsupported(String)

  package var description: String {
    switch self {
    case .contextExceeded(let limit, let need):
      "context exceeded: the limit is \(limit) positions, \(need) needed"
    case .cache(let error): error.description
    case .unknownToken(let token, let count):
      "token \(token) is outside the vocabulary of \(count)"
    case .logitsNotFinite(let position):
      "the logits after position \(position) are not finite"
    case .unsupported(let what): what
    }
  }
}
