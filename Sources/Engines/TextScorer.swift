import EngineInterface

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Scores windows of tokens under a model, and under a reference model beside it.
///
/// A window of n tokens is run from an empty cache; the predictions of the tokens n/2 … n−1 count.
/// Sums are kept in double precision.
package struct TextScorer {
  /// What a model is compared with.
  package enum Reference {
    /// A model that is run beside it.
    case session(any Session)
    /// What such a model said before.
    case saved(SavedLogits)
  }

  private let session: any Session
  private let reference: Reference?
  private let context: Int
  private var negativeLogLikelihood = 0.0
  private var divergence = 0.0
  private var agreed = 0
  /// Predictions scored so far.
  package private(set) var scoredTokenCount = 0
  /// [context / 2][vocabulary] log probabilities of the reference for the present window.
  private var referenceLogits: [Float] = []
  private var windowCount = 0
  /// Whether `logits` is filled.
  private let keepsLogits: Bool
  /// [context / 2][vocabulary] the model's own logits for the last window, where they are kept.
  package private(set) var logits: [Float] = []

  package init(
    session: any Session, reference: Reference?, context: Int, keepsLogits: Bool = false
  ) {
    self.session = session
    self.reference = reference
    self.context = context
    self.keepsLogits = keepsLogits
  }

  /// Compares with a model that is run beside it, if there is one.
  package init(session: any Session, reference: (any Session)?, context: Int) throws {
    self.init(
      session: session, reference: reference.map { .session($0) }, context: context)
  }

  /// exp of the mean negative log likelihood.
  package var perplexity: Double { exp(negativeLogLikelihood / Double(scoredTokenCount)) }

  /// Mean KL(reference ‖ model) in nats, with a reference.
  package var meanDivergence: Double? {
    reference.map { _ in divergence / Double(scoredTokenCount) }
  }

  /// The share of positions where both models' largest logit is the same token's.
  package var topAgreement: Double? {
    reference.map { _ in Double(agreed) / Double(scoredTokenCount) }
  }

  /// Adds one window of exactly `context` tokens.
  package mutating func score(_ window: ArraySlice<Int32>) throws {
    precondition(window.count == context, "a window of another length")
    let first = context / 2
    let vocabulary = try gatherReference(window, first: first)
    var total = 0.0
    var divergence = 0.0
    var agreed = 0
    let referenceLogits = self.referenceLogits
    var kept: [Float] = []
    swap(&kept, &logits)
    kept.removeAll(keepingCapacity: true)
    try run(session, window, first: first) { position, logits in
      let target = Int(window[window.startIndex + position + 1])
      let normalizer = LogitStatistics.logSumExp(logits)
      total += normalizer - Double(logits[target])
      if keepsLogits { for index in logits.indices { kept.append(logits[index]) } }
      guard vocabulary > 0 else { return }
      let row = referenceLogits.span.extracting(
        ((position + 1 - first) * vocabulary)..<((position + 2 - first) * vocabulary))
      divergence += Self.divergence(of: row, from: logits, normalizer: normalizer)
      if Sampler.largest(row) == Sampler.largest(logits) { agreed += 1 }
    }
    negativeLogLikelihood += total
    self.divergence += divergence
    self.agreed += agreed
    scoredTokenCount += context - first
    windowCount += 1
    swap(&kept, &logits)
  }

  /// Runs the window from an empty cache and visits the positions that predict the scored tokens.
  private func run(
    _ session: any Session, _ window: ArraySlice<Int32>, first: Int,
    _ visit: (_ position: Int, _ logits: Span<Float>) -> Void
  ) throws(EngineError) {
    session.truncate(to: 0)
    try session.prefill(window.prefix(first - 1))
    try session.prefill(window.dropFirst(first - 1).dropLast(), visitingLogits: visit)
  }

  /// Fills `referenceLogits`; returns the vocabulary's size, 0 without a reference.
  private mutating func gatherReference(
    _ window: ArraySlice<Int32>, first: Int
  ) throws -> Int {
    switch reference {
    case nil: return 0
    case .saved(let saved):
      referenceLogits = try saved.window(windowCount)
      return saved.vocabularyCount
    case .session(let session):
      var rows: [Float] = []
      swap(&rows, &referenceLogits)
      rows.removeAll(keepingCapacity: true)
      var vocabulary = 0
      try run(session, window, first: first) { _, logits in
        vocabulary = logits.count
        for index in logits.indices { rows.append(logits[index]) }
      }
      swap(&rows, &referenceLogits)
      return vocabulary
    }
  }

  /// KL(reference ‖ model) of one position.
  private static func divergence(
    of reference: Span<Float>, from model: Span<Float>, normalizer: Double
  ) -> Double {
    let referenceNormalizer = LogitStatistics.logSumExp(reference)
    var sum = 0.0
    for index in reference.indices {
      let p = Double(reference[index]) - referenceNormalizer
      sum += exp(p) * (p - (Double(model[index]) - normalizer))
    }
    return sum
  }
}
