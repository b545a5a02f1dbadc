import ArgumentParser
import EngineInterface
import Engines
import Foundation
import ModelFile
import TensorCore

struct ScoreCommand: FileUsingCommand {
  static let configuration = CommandConfiguration(
    commandName: "score",
    abstract: "Perplexity of a text; with a reference model also mean KL and top-1 agreement.",
    discussion: """
      Non-overlapping windows of --ctx tokens without a begin token; the predictions of the second \
      half's tokens are scored. --save-logits keeps a model's logits for those predictions, as a \
      --reference for other models that need not run it again.

      Example: afm-bench score model.afmw --text-file text.txt --windows 8
      """)

  @OptionGroup var options: ModelOptions

  @Option(help: ArgumentHelp("The text; - is standard input.", valueName: "file"))
  var textFile: String

  @Option(help: ArgumentHelp("Tokens in a window.", valueName: "tokens"))
  var ctx = 512

  @Option(help: ArgumentHelp("Windows to score; by default all whole ones.", valueName: "count"))
  var windows: Int?

  @Option(help: ArgumentHelp("Windows to pass over first.", valueName: "count"))
  var skipWindows = 0

  @Option(
    help: ArgumentHelp(
      "A model to compare with, with the same vocabulary, or what --save-logits wrote.",
      valueName: "file"))
  var reference: String?

  @Option(help: ArgumentHelp("Writes the logits of the scored predictions.", valueName: "file"))
  var saveLogits: String?

  @Flag(help: "Prints one JSON object.")
  var json = false

  struct Result: Encodable {
    var model: String
    var text: String
    var ctx: Int
    var windows: Int
    var skipped_windows: Int
    var perplexity: Double
    var scored_tokens: Int
    var mean_kl: Double?
    var top1_agreement: Double?
  }

  func validate() throws {
    if ctx < 4 { throw ValidationError("--ctx must be at least 4.") }
    if let windows, windows < 1 { throw ValidationError("--windows must be at least 1.") }
    if skipWindows < 0 { throw ValidationError("--skip-windows must be at least 0.") }
  }

  var files: CommandFiles {
    options.files + [
      .text(textFile, "--text-file"), .model(reference, "--reference"),
      .output(saveLogits, "--save-logits", .safetensors),
    ]
  }

  func run() throws {
    let text = try TextFile.read(textFile, .text)
    let engine = try options.openEngine()
    guard ctx <= engine.facts.trainedContextLength else {
      throw CommandFailure(
        .usage, "--ctx \(ctx) is more than the model's \(engine.facts.trainedContextLength)")
    }
    let tokens = try engine.encode(text, recognizingSpecialTokens: true)
    let available = tokens.count / ctx
    let rest = max(0, available - skipWindows)
    let count = min(windows ?? rest, rest)
    guard count >= 1, windows.map({ $0 <= rest }) ?? true else {
      throw InputError(
        file: textFile,
        reason: "\(tokens.count) tokens hold \(available) windows of \(ctx), "
          + "\(min(skipWindows, available) + (windows ?? 1)) needed")
    }
    let scored = ScoredText(
      tokens: tokens, context: ctx, firstWindow: skipWindows, windowCount: count)
    let scorer = try score(tokens, scored, engine)
    Console.progress("")
    try report(scorer, windows: count)
  }

  /// Scores the windows, and writes the logits if that was asked for.
  private func score(
    _ tokens: [Int32], _ text: ScoredText, _ engine: any Engine
  ) throws -> TextScorer {
    let vocabularyCount = engine.facts.vocabularyCount
    var scorer = TextScorer(
      session: try options.run.session(of: engine, named: options.model, positions: ctx),
      reference: try openReference(text, vocabularyCount: vocabularyCount), context: ctx,
      keepsLogits: saveLogits != nil)
    var writer: LogitsWriter?
    if let saveLogits {
      writer = try LogitsWriter(creating: saveLogits, for: text, vocabularyCount: vocabularyCount)
    }
    for window in 0..<text.windowCount {
      let start = (text.firstWindow + window) * ctx
      try CommandFailure.naming(options.model) { try scorer.score(tokens[start..<start + ctx]) }
      try writer?.append(scorer.logits)
      Console.progress(
        "window \(window + 1)/\(text.windowCount)  perplexity \(scorer.perplexity)")
    }
    if let writer = writer.take() { try writer.finish() }
    return scorer
  }

  private func openReference(
    _ text: ScoredText, vocabularyCount: Int
  ) throws -> TextScorer.Reference? {
    guard let reference else { return nil }
    let opened: TextScorer.Reference
    let found: Int
    if let saved = try SavedLogits(path: reference, for: text) {
      opened = .saved(saved)
      found = saved.vocabularyCount
    } else {
      let engine = try EngineLoader.load(
        reference, options: options.run.engineOptions)
      guard ctx <= engine.facts.trainedContextLength else {
        throw CommandFailure(
          .badInput,
          "\(reference): its context of \(engine.facts.trainedContextLength) positions does not "
            + "hold --ctx \(ctx)")
      }
      opened = .session(try options.run.session(of: engine, named: reference, positions: ctx))
      found = engine.facts.vocabularyCount
    }
    guard found == vocabularyCount else {
      throw CommandFailure(
        .badInput, "\(reference): its vocabulary has another size than \(options.model)'s")
    }
    return opened
  }

  private func report(_ scorer: TextScorer, windows: Int) throws {
    guard scorer.perplexity.isFinite else {
      throw CommandFailure(
        .badInput, "\(options.model): the logits, or the perplexity, are not finite")
    }
    guard scorer.meanDivergence?.isFinite ?? true else {
      throw CommandFailure(
        .badInput,
        "\(reference ?? ""): its logits, or their divergence from \(options.model)'s, are not "
          + "finite")
    }
    let result = Result(
      model: options.model, text: textFile, ctx: ctx, windows: windows,
      skipped_windows: skipWindows, perplexity: scorer.perplexity,
      scored_tokens: scorer.scoredTokenCount, mean_kl: scorer.meanDivergence,
      top1_agreement: scorer.topAgreement)
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
