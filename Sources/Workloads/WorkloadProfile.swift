/// The published request traces whose like the generator makes.
package enum WorkloadProfile: String, CaseIterable, Sendable {
  /// Mooncake's conversation trace: 12,031 requests in 59 minutes; two in five continue an earlier
  /// one and begin with its prompt.
  case conversation = "mooncake-conversation"
  /// The Azure LLM inference trace of 2023, code completion: 8,819 requests in 57 minutes; nothing
  /// is known of common beginnings.
  case azureCode = "azure-2023-code"
  /// The Azure LLM inference trace of 2023, conversation: 19,366 requests in 58 minutes.
  case azureConversation = "azure-2023-conversation"

  /// Requests of the published trace.
  package var publishedRequestCount: Int {
    switch self {
    case .conversation: 12_031
    case .azureCode: 8_819
    case .azureConversation: 19_366
    }
  }
}

/// How the requests of a conversation follow each other, as measured on the published trace.
enum ConversationShape {
  /// Seconds between beginnings of conversations, on average. 7,373 begin in the 3,537 seconds of
  /// the published trace; here a twentieth more, so that as many requests take as long.
  static let secondsBetweenBeginnings = 3_537.0 / 7_740

  /// Positions that every prompt begins with: one hash of 512.
  static let commonHashCount = 1

  /// The chance that a request is continued, by how many requests it continues itself.
  static let chances = [0.362, 0.416, 0.509, 0.587, 0.585, 0.679, 0.755, 0.695, 0.795]

  /// The chance for first prompts of at most three hashes.
  static let shortChance = 0.163
  static let shortPositions = 3 * 512

  /// The share of continuations that keep all whole hashes of the prompt before.
  static let wholeShare = 0.85
}
