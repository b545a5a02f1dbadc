/// One entry of a conversation.
package struct TranscriptEntry: Hashable, Sendable {
  package var segment: Segment
  package var text: String

  /// Whose text it is; the names are the Foundation Models framework's.
  package enum Segment: String, Hashable, Sendable {
    case instructions, prompt, reasoning, response
  }

  static func instructions(_ text: String) -> Self { Self(segment: .instructions, text: text) }
  static func prompt(_ text: String) -> Self { Self(segment: .prompt, text: text) }
  static func reasoning(_ text: String) -> Self { Self(segment: .reasoning, text: text) }
  static func response(_ text: String) -> Self { Self(segment: .response, text: text) }
}

/// Tokens of one request. Cached is part of input, reasoning part of output.
package struct Usage: Hashable, Sendable {
  package var inputTokens: Int
  package var cachedInputTokens: Int
  package var outputTokens: Int
  package var reasoningTokens: Int
}
