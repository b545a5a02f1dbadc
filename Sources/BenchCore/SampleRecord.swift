import Tiers

/// One measured request with its raw times: a line of a bundle's `samples.jsonl`.
package struct SampleRecord: Codable, Hashable, Sendable {
  package var test: String
  package var turn: Int?
  package var tier: String
  package var reasoning: String
  package var depth: Int
  package var modelFilename: String
  /// How keys and values were stored.
  package var keyElement: String
  package var valueElement: String
  package var threadCount: Int
  /// The repetition, from 0.
  package var sample: Int
  /// The recording's clock when the request was submitted; the other times count from here.
  package var submittedNanoseconds: UInt64
  package var prefillBeganNanoseconds: UInt64
  package var prefillEndedNanoseconds: UInt64
  /// When each token was known, reasoning first.
  package var tokenNanoseconds: [UInt64]
  package var endedNanoseconds: UInt64
  package var promptTokenCount: Int
  package var cachedPositionCount: Int
  package var reasoningTokenCount: Int
  package var responseTokenCount: Int
  package var finish: String
  /// What a conversation's turn said; nil for tests of a fixed length, whose prompts are no text.
  package var reasoningText: String?
  package var responseText: String?

  /// The `index`-th sample of a row.
  package init(row: RunRow, index: Int, request: ServedRequest) {
    func sinceSubmitted(_ time: UInt64) -> UInt64 {
      time > request.submitted ? time - request.submitted : 0
    }
    test = row.test
    turn = row.turn
    tier = row.tier
    reasoning = row.reasoning
    depth = row.depth
    modelFilename = row.modelFilename
    keyElement = row.keyElement
    valueElement = row.valueElement
    threadCount = row.threadCount
    sample = index
    submittedNanoseconds = request.submitted
    prefillBeganNanoseconds = sinceSubmitted(request.prefillBegan)
    prefillEndedNanoseconds = sinceSubmitted(request.prefillEnded)
    tokenNanoseconds = request.tokenTimes.map(sinceSubmitted)
    endedNanoseconds = sinceSubmitted(request.ended)
    promptTokenCount = request.promptTokenCount
    cachedPositionCount = request.cachedPositionCount
    reasoningTokenCount = request.reasoningTokens.count
    responseTokenCount = request.responseTokens.count
    finish = request.finish.rawValue
    reasoningText = request.reasoningText
    responseText = request.responseText
  }

  package enum CodingKeys: String, CodingKey {
    case test, turn, tier, reasoning
    case depth = "n_depth"
    case modelFilename = "model_filename"
    case keyElement = "type_k"
    case valueElement = "type_v"
    case threadCount = "n_threads"
    case sample
    case submittedNanoseconds = "submitted_ns"
    case prefillBeganNanoseconds = "prefill_began_ns"
    case prefillEndedNanoseconds = "prefill_ended_ns"
    case tokenNanoseconds = "token_ns"
    case endedNanoseconds = "ended_ns"
    case promptTokenCount = "prompt_tokens"
    case cachedPositionCount = "cached_tokens"
    case reasoningTokenCount = "reasoning_tokens"
    case responseTokenCount = "response_tokens"
    case finish
    case reasoningText = "reasoning_text"
    case responseText = "response_text"
  }
}
