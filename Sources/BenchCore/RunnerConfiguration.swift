import Tiers

/// What one run measures of one engine: every combination that its lists allow.
package struct RunnerConfiguration: Sendable {
  /// What is asked of the model.
  package enum Test: Hashable, Sendable {
    /// Prefill of that many tokens (llama-bench's pp).
    case prefill(Int)
    /// That many tokens one by one (llama-bench's tg).
    case decode(Int)
    /// A prompt of that many tokens, then that many response tokens (llama-bench's pg).
    case request(prompt: Int, response: Int)
    /// The conversation, turn by turn, until a stop token or that many response tokens.
    case chat(maximumResponseTokens: Int)

    /// The name in tables: `pp512`, `tg128`, `pp64+tg32`, `chat`.
    package var name: String {
      switch self {
      case .prefill(let count): "pp\(count)"
      case .decode(let count): "tg\(count)"
      case .request(let prompt, let response): "pp\(prompt)+tg\(response)"
      case .chat: "chat"
      }
    }

    /// Whether tokens are generated, so that a reasoning level means something.
    var generates: Bool {
      if case .prefill = self { false } else { true }
    }
  }

  package var tests: [Test]
  package var tiers: [Tier]
  package var reasoningLevels: [ReasoningLevel]
  /// Positions in the cache before the measurement begins.
  package var depths: [Int] = [0]
  package var keyElements = ["f16"]
  package var valueElements = ["f16"]
  package var repetitions = 5
  package var warmups = 1
  package var batchTokens = 512
  /// Reasoning tokens a level may take, where not the level's own.
  package var reasoningBudgets: [ReasoningLevel: Int] = [:]
  package var conversation = Conversation.standard
  /// Where the random prompt tokens begin.
  package var seed: UInt64 = 1

  package init(tests: [Test], tiers: [Tier], reasoningLevels: [ReasoningLevel]) {
    self.tests = tests
    self.tiers = tiers
    self.reasoningLevels = reasoningLevels
  }
}

/// What a chat test says to the model: real text, so that a prompt is never one repeated token.
package struct Conversation: Hashable, Sendable {
  package var instructions: String?
  /// The user's turns, in order.
  package var prompts: [String]

  package init(instructions: String?, prompts: [String]) {
    self.instructions = instructions
    self.prompts = prompts
  }

  /// The conversation of the default set: two turns, so that there is history.
  package static let standard = Conversation(
    instructions: "You are a patient teacher. Answer in plain words.",
    prompts: [
      "Why is the sky blue during the day, and why does it turn red in the evening?",
      "Now say the same to a child of six, in three short sentences.",
    ])
}

/// One combination of a run.
struct RunCell: Hashable, Sendable {
  var test: RunnerConfiguration.Test
  var tier: Tier
  var reasoning: ReasoningLevel
  var depth: Int
  var keyElement: String
  var valueElement: String
  /// The conversation's turn, from 1; a cell of any other test has turn 1.
  var turn = 1
}

extension RunnerConfiguration {
  /// Every combination, in the order it is measured. A tier meets only the reasoning levels it
  /// offers, and a test that generates nothing meets only `none`.
  var cells: [RunCell] {
    var cells: [RunCell] = []
    for keyElement in keyElements {
      for valueElement in valueElements {
        for tier in tiers {
          for depth in depths {
            for test in tests {
              let levels = test.generates ? reasoningLevels : [.none]
              for level in levels where tier.reasoningLevels.contains(level) {
                cells.append(
                  RunCell(
                    test: test, tier: tier, reasoning: level, depth: depth,
                    keyElement: keyElement, valueElement: valueElement))
              }
            }
          }
        }
      }
    }
    return cells
  }
}
