import EngineInterface
import ModelFile
import RandomNumbers
import TensorCore

/// Gathers activation statistics of a float model from text: text that the model samples itself,
/// or text that is given.
///
/// The statistics depend on the engine's arithmetic: with another number of threads or another
/// instruction set, float sums end in other bits, and sampling may take another turn. With the same
/// ones they are the same for a seed.
package struct Calibrator {
  /// How a model's own text is sampled.
  package struct Sampling: Hashable, Sendable {
    /// Where the random numbers begin.
    package var seed: UInt64
    /// Tokens in all.
    package var tokenCount: Int
    /// Tokens of one sequence at most; each begins anew.
    package var sequenceTokenCount: Int
    /// Divides the logits.
    package var temperature: Float

    /// What a small model was found to need.
    package init(
      seed: UInt64 = 1, tokenCount: Int = 512, sequenceTokenCount: Int = 256,
      temperature: Float = 1
    ) {
      self.seed = seed
      self.tokenCount = tokenCount
      self.sequenceTokenCount = sequenceTokenCount
      self.temperature = temperature
    }
  }

  private let engine: any Engine
  private let text: ModelText
  private let progress: (@Sendable (_ done: Int, _ total: Int) -> Void)?

  /// A calibrator of a loaded float model and its text codec.
  package init(
    engine: any Engine, text: ModelText,
    progress: (@Sendable (_ done: Int, _ total: Int) -> Void)? = nil
  ) {
    self.engine = engine
    self.text = text
    self.progress = progress
  }

  /// Statistics over text that the model samples, gathered while it samples.
  ///
  /// Costs a decode step a token. Throws `InputError` for a model without a tokenizer, or one whose
  /// logits are not finite.
  package func sampleText(_ sampling: Sampling) throws -> ActivationStatistics {
    precondition(
      sampling.tokenCount > 0 && sampling.sequenceTokenCount > 0 && sampling.temperature > 0,
      "sampling options outside their range")
    let limit = min(sampling.sequenceTokenCount, engine.facts.trainedContextLength)
    let (session, gatherer) = try observedSession(contextLimit: limit)
    var sampler = Sampler(.init(temperature: sampling.temperature, seed: sampling.seed))
    var starts = SplitMix64(seed: sampling.seed)
    let firstTokens = try text.textTokens()
    guard !firstTokens.isEmpty else {
      throw InputError(place: "tokenizer", reason: "no token stands for text: none can be sampled")
    }
    var done = 0
    while done < sampling.tokenCount {
      session.truncate(to: 0)
      var token = firstTokens[Int(starts.next() % UInt64(firstTokens.count))]
      for _ in 0..<min(limit, sampling.tokenCount - done) {
        try session.decode(token)
        done += 1
        progress?(done, sampling.tokenCount)
        token = try session.sample(using: &sampler)
        if engine.facts.stopTokens.contains(token) { break }
      }
    }
    return ActivationStatistics(
      meanSquares: try finite(gatherer), tokenCount: done,
      origin: "self: \(done) tokens, seed \(sampling.seed), temperature \(sampling.temperature), "
        + "sequences of \(limit)")
  }

  /// Statistics over the tokens of a text, in windows of `context` that each begin anew.
  ///
  /// Throws `InputError` for a model without a tokenizer, for no tokens, and for activations that
  /// are not finite.
  package func read(
    _ bytes: [UInt8], named name: String, context: Int = 512, tokenLimit: Int = 1 << 16
  ) throws -> ActivationStatistics {
    precondition(context > 0 && tokenLimit > 0, "no tokens to run")
    let tokens = try text.encode(bytes, recognizingSpecialTokens: true).prefix(tokenLimit)
    guard !tokens.isEmpty else {
      throw InputError(file: name, reason: "no text to calibrate with")
    }
    let limit = min(context, engine.facts.trainedContextLength)
    let (session, gatherer) = try observedSession(contextLimit: limit)
    var rest = tokens
    while !rest.isEmpty {
      let window = rest.prefix(limit)
      rest = rest.dropFirst(window.count)
      session.truncate(to: 0)
      // Logits after every position, so that the output projection's inputs count alike.
      try session.prefill(window) { _, _ in }
      progress?(tokens.count - rest.count, tokens.count)
    }
    return ActivationStatistics(
      meanSquares: try finite(gatherer), tokenCount: tokens.count,
      origin: "\(name): \(tokens.count) tokens, windows of \(limit)")
  }

  /// What was gathered, or an error that names a matrix whose inputs are not finite numbers.
  private func finite(_ gatherer: ActivationGatherer) throws(InputError) -> [String: [Float]] {
    let meanSquares = gatherer.meanSquares
    for (name, values) in meanSquares.sorted(by: { $0.key < $1.key })
    where !values.allSatisfy(\.isFinite) {
      throw InputError(
        place: "tensor \(name)", reason: "the activations that it multiplies are not finite")
    }
    return meanSquares
  }

  private func observedSession(
    contextLimit: Int
  ) throws -> (session: any Session, gatherer: ActivationGatherer) {
    let session = try engine.makeSession(
      SessionOptions(contextLimit: contextLimit, keyElement: "f32", valueElement: "f32"))
    guard let observable = session as? any ObservableSession else {
      throw EngineError.unsupported("\(engine.facts.modelType) cannot be calibrated")
    }
    let gatherer = ActivationGatherer()
    observable.inputObserver = gatherer
    return (session, gatherer)
  }
}
