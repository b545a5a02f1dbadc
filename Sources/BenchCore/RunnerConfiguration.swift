import Tiers

/// What one run measures of one engine: every combination that its lists allow.
package struct RunnerConfiguration: Sendable {
  /// What is asked of the model.
  package enum Test: Hashable, Sendable {
    /// Seeded random tokens of a fixed length, and a response of a fixed length (llama-bench's).
    case fixed(MeasuredTest)
    /// The conversation, turn by turn, until a stop token or that many response tokens.
    case chat(maximumResponseTokens: Int)

    /// The name in tables: `pp512`, `tg128`, `pp64+tg32`, `chat`.
    package var name: String {
      switch self {
      case .fixed(let test): test.name
      case .chat: "chat"
      }
    }

    /// Positions in the cache before the measurement begins.
    var depth: Int {
      switch self {
      case .fixed(let test): test.depth
      case .chat: 0
      }
    }

    /// The part of a request that the row's time is.
    var phase: MeasuredPhase {
      switch self {
      case .fixed(let test): test.phase
      case .chat: .request
      }
    }

    /// Whether tokens are generated, so that a reasoning level means something.
    var generates: Bool { phase != .prefill }
  }

  package var tests: [Test]
  package var tiers: [Tier]
  package var reasoningLevels: [ReasoningLevel]
  /// The levels of fixed-length tests, where not the same.
  package var fixedReasoningLevels: [ReasoningLevel]?
  package var keyElements = ["f16"]
  package var valueElements = ["f16"]
  package var repetitions = 6
  package var warmups = 1
  package var batchTokens = 512
  /// Sessions that fixed-length tests run together, each number in turn.
  package var sessionCounts = [1]
  /// Low-rank adapters by their names, each measured in turn; nil is the model alone.
  package var adapters: [String?] = [nil]
  /// Whether a prefill runs layers for positions where nobody reads what they give.
  package var runsAllLayers = false
  /// Reasoning tokens a level may take, where not the level's own.
  package var reasoningBudgets: [ReasoningLevel: Int] = [:]
  package var conversation = Conversation.standard
  /// Whether requests that were asked for by no name and are token for token those of another cell
  /// are left out: level none of a second tier in this process, and a level whose reasoning ends
  /// before the budget of a lower one.
  package var sharesEqualTiers = false
  package var sharesEqualLevels = false
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
  var keyElement: String
  var valueElement: String
  /// The adapter's name; nil without one.
  var adapter: String?
  /// Sessions that run together.
  var sessionCount = 1
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
          for test in tests {
            for level in levels(of: test) where tier.reasoningLevels.contains(level) {
              for sessionCount in sessionCounts(of: test, level) {
                cells += adapters.map {
                  RunCell(
                    test: test, tier: tier, reasoning: level, keyElement: keyElement,
                    valueElement: valueElement, adapter: $0, sessionCount: sessionCount)
                }
              }
            }
          }
        }
      }
    }
    return cells
  }

  /// The cells by their tests, in the order in which a test is first met: those of a block are
  /// measured in turns.
  var blocks: [[RunCell]] {
    var names: [String] = []
    var blocks: [[RunCell]] = []
    for cell in cells {
      if let index = names.firstIndex(of: cell.test.name) {
        blocks[index].append(cell)
      } else {
        names.append(cell.test.name)
        blocks.append([cell])
      }
    }
    return blocks
  }

  /// Whether nothing would be measured.
  package var isEmpty: Bool { cells.isEmpty }

  private func levels(of test: Test) -> [ReasoningLevel] {
    guard test.generates else { return [.none] }
    if case .fixed = test { return fixedReasoningLevels ?? reasoningLevels }
    return reasoningLevels
  }

  /// Conversations and reasoning are one session's.
  private func sessionCounts(of test: Test, _ level: ReasoningLevel) -> [Int] {
    if case .fixed = test, level == .none { return sessionCounts }
    return sessionCounts.contains(1) ? [1] : []
  }

  /// An upper estimate of the events that one engine's run records on a tier's track.
  func expectedEventCount(tier: Tier, layerCount: Int) -> Int {
    var count = 64
    for cell in cells where cell.tier == tier {
      let turns: Int
      var tokens = reasoningBudgets[cell.reasoning] ?? cell.reasoning.tokenBudget
      switch cell.test {
      case .fixed(let test):
        turns = 1
        tokens += test.generatedTokenCount + 1
      case .chat(let maximum):
        turns = conversation.prompts.count
        tokens += maximum
      }
      // Beyond the bound below nothing changes, and sums stay small.
      if count > 1 << 24 { break }
      let detail = Runner.detailEventCount(layerCount: layerCount)
      count +=
        turns * (CellMeasurement.eventCount(tokens: tokens) * (repetitions + warmups) + detail)
    }
    // The writer drops details from three quarters on.
    return min(count + count / 2, 1 << 20)
  }
}
