import ArgumentParser
import EngineInterface
import Engines
import Foundation
import TensorCore
import Tiers

struct GenerateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "generate",
    abstract: "Continues a text, greedily unless told otherwise, until a stop token.",
    discussion: """
      Prints {"ids":[…],"text":…,"finish":…,"cached_tokens":…}: the generated ids, the stop token
      included, their text without control tokens, what ended it: stop (a stop token), length (-n)
      or context (the model's context is full), and the prompt's positions that --cache-file had.

      Example: afm-bench generate --model model.afmw --prompt-file prompt.txt -n 64 --chat
      """)

  @OptionGroup var options: ModelOptions
  @OptionGroup var sampling: SamplingOptions

  @Option(help: "The text to continue, as it is; - is standard input.")
  var promptFile: String

  @Option(name: .customShort("n"), help: "The most tokens to generate.")
  var count = 128

  @Flag(help: "Wraps the text in the model's chat template, as the user's message.")
  var chat = false

  @Option(
    help: ArgumentHelp(
      "Keys and values of the prompt: written where the file is missing, else read.",
      discussion:
        "A prompt that begins like the file's skips the whole pages that it has. Files of "
        + "another model, adapter or cache are refused."))
  var cacheFile: String?

  @Flag(help: "Prints JSON; the only form there is.")
  var json = false

  struct Result: Encodable {
    var ids: [Int32]
    var text: String
    var finish: String
    var cached_tokens = 0
  }

  func validate() throws {
    if count < 1 { throw ValidationError("-n must be at least 1.") }
  }

  func run() throws {
    let text = String(decoding: try WholeFile.read(promptFile), as: UTF8.self)
    guard !text.isEmpty else { throw InputError(file: promptFile, reason: "the prompt is empty") }
    let engine = try options.openEngine()
    let prompt =
      chat
      ? try engine.render([Message(role: .user, content: text)], addsGenerationPrompt: true) : text
    let tokens = try engine.encode(prompt, recognizingSpecialTokens: true)
    let limit = engine.facts.trainedContextLength
    guard tokens.count <= limit else {
      throw InputError(
        file: promptFile,
        reason: EngineError.contextExceeded(limit: limit, need: tokens.count).description)
    }
    // The last token is not fed back. The count may be near Int's limits.
    let wanted = count - 1 < limit - tokens.count ? tokens.count + count - 1 : limit
    let session = try options.session(
      of: engine, positions: cacheFile == nil ? wanted : limit, sharesPrefixes: cacheFile != nil)
    try prefill(session, tokens)
    var result = try continueText(session, of: engine)
    result.cached_tokens = session.adoptedPositionCount
    try Console.report(Console.json(result))
  }

  /// Runs the prompt; what a file has of its beginning is there already.
  private func prefill(_ session: any Session, _ tokens: [Int32]) throws {
    guard let cacheFile else { return try session.prefill(tokens[...]) }
    let isThere = FileManager.default.fileExists(atPath: cacheFile)
    if isThere {
      try session.restore(from: cacheFile)
      // The cache keeps the pages, and whoever begins alike finds them.
      session.truncate(to: 0)
    }
    try session.prefill(tokens[...])
    if !isThere { try session.save(to: cacheFile) }
  }

  private func continueText(_ session: any Session, of engine: any Engine) throws -> Result {
    var sampler = Sampler(sampling.options)
    var ids: [Int32] = []
    let finish: String
    while true {
      let token = try session.sample(using: &sampler)
      ids.append(token)
      Console.progress("\(ids.count) tokens")
      if engine.facts.stopTokens.contains(token) {
        finish = "stop"
      } else if ids.count == count {
        finish = "length"
      } else if session.positionCount == session.contextLimit {
        finish = "context"
      } else {
        try session.decode(token)
        continue
      }
      break
    }
    Console.progress("")
    return Result(ids: ids, text: try engine.decode(ids), finish: finish)
  }
}

/// How tokens are chosen.
struct SamplingOptions: ParsableArguments {
  @Option(name: [.customLong("temp"), .long], help: "0 is greedy.")
  var temperature: Float = 0

  @Option(help: "Only the k largest logits; 0 keeps all.")
  var topK = 0

  @Option(help: "Only the smallest set of tokens whose probability reaches p.")
  var topP: Float = 1

  @Option(help: "Where the random numbers begin.")
  var seed: UInt64 = 0

  func validate() throws {
    guard temperature >= 0, temperature.isFinite else {
      throw ValidationError("--temperature must be 0 or more.")
    }
    guard topK >= 0 else { throw ValidationError("--top-k must be 0 or more.") }
    guard topP > 0, topP <= 1 else { throw ValidationError("--top-p must be in (0, 1].") }
  }

  var options: Sampler.Options {
    Sampler.Options(temperature: temperature, topK: topK, topP: topP, seed: seed)
  }
}
