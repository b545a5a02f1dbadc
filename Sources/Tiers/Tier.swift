import EngineInterface

/// Where a request is served.
///
/// Both tiers of today run in this process, on the same engine and kernels: what differs is the
/// context limit and the reasoning levels. Outputs therefore call the second one modelled.
package enum Tier: String, CaseIterable, Hashable, Sendable {
  case onDevice = "on-device"
  case privateCloud = "private-cloud"

  /// Positions the tier offers (models.md of the design: 4,096 and 32,768).
  package var contextLimit: Int {
    switch self {
    case .onDevice: 4_096
    case .privateCloud: 32_768
    }
  }

  /// The reasoning levels the tier offers.
  package var reasoningLevels: [ReasoningLevel] {
    switch self {
    case .onDevice: [.none]
    case .privateCloud: ReasoningLevel.allCases
    }
  }

  /// Whether the tier is a model of a remote service rather than the place itself.
  package var isModelled: Bool { self == .privateCloud }

  /// How outputs name the tier: `private-cloud (modelled)`.
  package var displayName: String { isModelled ? "\(rawValue) (modelled)" : rawValue }

  /// The context that holds for a model: the smaller of the tier's limit and the model's own.
  package func effectiveContext(trainedContextLength: Int) -> EffectiveContext {
    trainedContextLength < contextLimit
      ? EffectiveContext(limit: trainedContextLength, source: .model)
      : EffectiveContext(limit: contextLimit, source: .tier)
  }
}

/// A context limit and who sets it.
package struct EffectiveContext: Hashable, Sendable {
  package var limit: Int
  package var source: Source

  /// Whose limit holds.
  package enum Source: String, Hashable, Sendable {
    case tier, model
  }
}

/// How much a request may think before it answers.
package enum ReasoningLevel: String, CaseIterable, Hashable, Sendable {
  case none, light, moderate, deep

  /// The most tokens that a request generates in its reasoning segment. Apple publishes no budgets:
  /// these are our choice, about three times the one before, and a run may set its own.
  package var tokenBudget: Int {
    switch self {
    case .none: 0
    case .light: 64
    case .moderate: 192
    case .deep: 512
    }
  }
}

/// Why a tier did not answer. The session is as it was before the request, and usable.
package enum TierError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The request needs more positions than the context has.
  case contextExceeded(tier: Tier, limit: Int, source: EffectiveContext.Source, need: Int)
  /// The tier does not reason at that level.
  case reasoningUnsupported(tier: Tier, level: ReasoningLevel)
  /// There is no text to answer.
  case emptyPrompt
  /// The engine refused for another reason.
  case engine(EngineError)
  /// The caller asked to stop between two tokens.
  case interrupted
  /// The model has no tokenizer or template, or they refuse the text.
  case text(String)

  package var description: String {
    switch self {
    case .contextExceeded(let tier, let limit, let source, let need):
      "\(tier.rawValue): context exceeded: the \(source.rawValue)'s limit is \(limit) positions, "
        + "\(need) needed"
    case .reasoningUnsupported(let tier, let level):
      "\(tier.rawValue) does not reason at level \(level.rawValue); it offers "
        + tier.reasoningLevels.map(\.rawValue).joined(separator: ", ")
    case .emptyPrompt: "the prompt is empty"
    case .engine(let error): error.description
    case .interrupted: "interrupted"
    case .text(let reason): reason
    }
  }
}
