/// A quantity whose value is recorded whenever it changes; it holds until the next record.
///
/// Raw values are stored in recordings and never change their meaning.
public enum TraceCounter: UInt8, CaseIterable, Hashable, Sendable {
  /// Bytes of KV pages that hold positions.
  case keyValueBytesUsed = 1
  /// Bytes of KV pages taken from the pool.
  case keyValueBytesAllocated = 2
  /// Positions in the context, all parts together.
  case contextUsed = 3
  /// Output tokens of the request so far, reasoning included; 0 between requests.
  case tokens = 4
  /// Positions of the context taken by instructions.
  case contextInstructions = 5
  /// Positions of the context taken by tool descriptions.
  case contextTools = 6
  /// Positions of the context taken by earlier turns.
  case contextHistory = 7
  /// Positions of the context taken by the request's prompt.
  case contextPrompt = 8
  /// Positions of the context taken by reasoning.
  case contextReasoning = 9
  /// Positions of the context taken by the response.
  case contextResponse = 10
  /// Time that the request's thread has waited for other threads of its engine; recordings of
  /// version 1 count from the beginning of the process on.
  case threadWait = 11

  /// What a value of a counter counts.
  public enum Unit: String, Hashable, Sendable {
    /// Bytes.
    case bytes
    /// Token positions of a context.
    case positions
    /// Tokens.
    case tokens
    /// Nanoseconds.
    case nanoseconds
  }

  /// What the value counts.
  public var unit: Unit {
    switch self {
    case .keyValueBytesUsed, .keyValueBytesAllocated: .bytes
    case .tokens: .tokens
    case .threadWait: .nanoseconds
    case .contextUsed, .contextInstructions, .contextTools, .contextHistory, .contextPrompt,
      .contextReasoning, .contextResponse:
      .positions
    }
  }

  /// The words shown in viewers, such as `KV bytes used`.
  public var label: String {
    switch self {
    case .keyValueBytesUsed: "KV bytes used"
    case .keyValueBytesAllocated: "KV bytes allocated"
    case .contextUsed: "context used"
    case .tokens: "tokens"
    case .contextInstructions: "context: instructions"
    case .contextTools: "context: tools"
    case .contextHistory: "context: history"
    case .contextPrompt: "context: prompt"
    case .contextReasoning: "context: reasoning"
    case .contextResponse: "context: response"
    case .threadWait: "waited for threads"
    }
  }
}
