import TraceCore

/// The strings that a session's events refer to, interned before anything is measured.
struct TraceLabels {
  let tier: Int64
  let model: Int64
  private let levels: [ReasoningLevel: Int64]

  init(tier: Tier, model: String, recorder: TraceRecorder?) {
    // Without a recorder the writer discards everything, and 0 stands for every string.
    func label(_ text: String) -> Int64 { recorder?.intern(text).value ?? 0 }
    self.tier = label(tier.rawValue)
    self.model = label(model)
    levels = Dictionary(
      uniqueKeysWithValues: ReasoningLevel.allCases.map { ($0, label($0.rawValue)) })
  }

  func level(_ level: ReasoningLevel) -> Int64 { levels[level, default: 0] }
}
