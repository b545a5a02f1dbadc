import ArgumentParser
import EngineInterface
import Engines
import Foundation
import TensorCore

struct ScoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "score",
    abstract: "Perplexity of a text; with a reference model also mean KL and top-1 agreement.",
    discussion: """
      Non-overlapping windows of --ctx tokens without a begin token; the predictions of the second
      half's tokens are scored.

      Example: afm-bench score --model model.afmw --text-file text.txt --ctx 512 --windows 8
      """)

  @OptionGroup var options: ModelOptions

  @Option(help: "The text; - is standard input.")
  var textFile: String

  @Option(help: "Tokens in a window.")
  var ctx = 512

  @Option(help: "Windows from the beginning; by default all whole ones.")
  var windows: Int?

  @Option(help: "A model to compare with, with the same vocabulary.")
  var reference: String?

  @Flag(help: "Prints one JSON object.")
  var json = false

  struct Result: Encodable {
    var model: String
    var text: String
    var ctx: Int
    var windows: Int
    var perplexity: Double
    var scored_tokens: Int
    var mean_kl: Double?
    var top1_agreement: Double?
  }

  func validate() throws {
    if ctx < 4 { throw ValidationError("--ctx must be at least 4.") }
    if let windows, windows < 1 { throw ValidationError("--windows must be at least 1.") }
  }

  func run() throws {
    let text = String(decoding: try WholeFile.read(textFile), as: UTF8.self)
    let engine = try options.openEngine()
    guard ctx <= engine.facts.trainedContextLength else {
      throw CommandFailure(
        .usage, "--ctx \(ctx) is more than the model's \(engine.facts.trainedContextLength)")
    }
    let tokens = try engine.encode(text, recognizingSpecialTokens: true)
    let available = tokens.count / ctx
    let count = min(windows ?? available, available)
    guard count >= 1, windows.map({ $0 <= available }) ?? true else {
      throw InputError(
        file: textFile,
        reason: "\(tokens.count) tokens hold \(available) windows of \(ctx), "
          + "\(windows ?? 1) needed")
    }
    let referenceEngine = try reference.map {
      try EngineLoader.load(
        $0, options: EngineOptions(threads: options.threads, instructionSet: options.isa))
    }
    if let referenceEngine,
      referenceEngine.facts.vocabularyCount != engine.facts.vocabularyCount
    {
      throw CommandFailure(
        .badInput, "\(reference ?? ""): its vocabulary has another size than \(options.model)'s")
    }
    var scorer = try TextScorer(
      session: options.session(of: engine, positions: ctx),
      reference: try referenceEngine.map { try options.session(of: $0, positions: ctx) },
      context: ctx)
    for window in 0..<count {
      try scorer.score(tokens[(window * ctx)..<((window + 1) * ctx)])
      Console.progress("window \(window + 1)/\(count)  perplexity \(scorer.perplexity)")
    }
    Console.progress("")
    try report(scorer, windows: count)
  }

  private func report(_ scorer: TextScorer, windows: Int) throws {
    guard scorer.perplexity.isFinite else {
      throw CommandFailure(.badInput, "\(options.model): the logits are not finite")
    }
    let result = Result(
      model: options.model, text: textFile, ctx: ctx, windows: windows,
      perplexity: scorer.perplexity, scored_tokens: scorer.scoredTokenCount,
      mean_kl: scorer.meanDivergence, top1_agreement: scorer.topAgreement)
    if json {
      try Console.report(Console.json(result))
      return
    }
    var lines = [
      "perplexity     \(String(format: "%.4f", result.perplexity))",
      "scored tokens  \(result.scored_tokens) (context \(ctx), \(windows) windows)",
    ]
    if let divergence = result.mean_kl, let agreement = result.top1_agreement {
      lines.append("mean KL        \(String(format: "%.6f", divergence)) nats")
      lines.append("top-1 agreed   \(String(format: "%.2f", agreement * 100)) %")
    }
    try Console.report(lines.joined(separator: "\n"))
  }
}
