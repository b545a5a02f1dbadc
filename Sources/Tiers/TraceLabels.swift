import TraceCore

/// The strings that a session's events refer to, interned before anything is measured.
struct TraceLabels {
  let tier: Int64
  let model: Int64
  /// The stop reason of a request that failed.
  let error: Int64
  private let levels: [ReasoningLevel: Int64]
  private let finishes: [ServedRequest.Finish: Int64]

  init(tier: Tier, model: String, recorder: TraceRecorder?) {
    // Without a recorder the writer discards everything, and 0 stands for every string.
    func label(_ text: String) -> Int64 { recorder?.intern(text).value ?? 0 }
    self.tier = label(tier.rawValue)
    self.model = label(model)
    error = label("error")
    levels = Dictionary(
      uniqueKeysWithValues: ReasoningLevel.allCases.map { ($0, label($0.rawValue)) })
    finishes = Dictionary(
      uniqueKeysWithValues: ServedRequest.Finish.allCases.map { ($0, label($0.rawValue)) })
  }

  func finish(_ finish: ServedRequest.Finish) -> Int64 { finishes[finish, default: 0] }

  func level(_ level: ReasoningLevel) -> Int64 { levels[level, default: 0] }
}
