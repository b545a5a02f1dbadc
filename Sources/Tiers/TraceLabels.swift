import EngineInterface
import TraceCore

/// The row of a run's table that requests are measured for; their spans carry it.
package struct MeasuredRow: Hashable, Sendable {
  /// The test as the results name it, such as `pp512` or `chat`.
  package var test: String
  /// The turn of a conversation, from 1.
  package var turn: Int?
  /// Positions in the cache before the test began.
  package var depth: Int

  package init(test: String, turn: Int? = nil, depth: Int = 0) {
    self.test = test
    self.turn = turn
    self.depth = depth
  }
}

/// The strings that a session's events refer to, interned before anything is measured.
struct TraceLabels {
  /// What all requests of a session have in common.
  struct Setting {
    var tier: Tier
    var contextLimit: Int
    var facts: EngineFacts
    var modelFile: String?
    var keyElement: String
    var valueElement: String
  }

  let tier: Int64
  let model: Int64
  /// The stop reason of a request that failed.
  let error: Int64
  private let finishes: [ServedRequest.Finish: Int64]
  private let recorder: TraceRecorder?
  private let setting: [TraceArgument]

  init(_ setting: Setting, recorder: TraceRecorder?) {
    // Without a recorder the writer discards everything, and 0 stands for every string.
    func label(_ text: String) -> Int64 { recorder?.intern(text).value ?? 0 }
    self.recorder = recorder
    tier = label(setting.tier.rawValue)
    model = label(setting.facts.modelName)
    error = label("error")
    finishes = Dictionary(
      uniqueKeysWithValues: ServedRequest.Finish.allCases.map { ($0, label($0.rawValue)) })
    var arguments = [
      TraceArgument(key: .tier, value: tier), TraceArgument(key: .model, value: model),
      TraceArgument(key: .contextLimit, value: Int64(setting.contextLimit)),
      TraceArgument(key: .keyElement, value: label(setting.keyElement)),
      TraceArgument(key: .valueElement, value: label(setting.valueElement)),
      TraceArgument(key: .threads, value: Int64(setting.facts.threadCount)),
      TraceArgument(key: .instructionSet, value: label(setting.facts.instructionSet)),
    ]
    if let file = setting.modelFile {
      arguments.append(TraceArgument(key: .modelFile, value: label(file)))
    }
    self.setting = arguments
  }

  func finish(_ finish: ServedRequest.Finish) -> Int64 { finishes[finish, default: 0] }

  /// The number of the arguments that a request shares with those of its row. Allocates and locks:
  /// asked for before the request is submitted.
  func shared(
    _ level: ReasoningLevel, row: MeasuredRow?, adapter: String?, sessions: Int = 1
  ) -> Int64 {
    guard let recorder else { return 0 }
    func text(_ key: TraceKey, _ value: String) -> TraceArgument {
      TraceArgument(key: key, value: recorder.intern(value).value)
    }
    var arguments: [TraceArgument] = []
    if let row {
      arguments.append(text(.test, row.test))
      if let turn = row.turn { arguments.append(TraceArgument(key: .turn, value: Int64(turn))) }
      arguments.append(TraceArgument(key: .depth, value: Int64(row.depth)))
    }
    arguments.append(text(.reasoningLevel, level.rawValue))
    if let adapter { arguments.append(text(.adapter, adapter)) }
    arguments.append(TraceArgument(key: .sessions, value: Int64(sessions)))
    return recorder.intern(arguments + setting).value
  }
}
