import ArgumentParser
import EngineInterface
import Engines
import TensorCore
import Tiers

struct GenerateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "generate",
    abstract: "Continues a text, greedily unless told otherwise, until a stop token.",
    discussion: """
      Prints {"ids":[…],"text":…}: the generated ids, the stop token included, and their text
      without control tokens.

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

  @Flag(help: "Prints JSON; the only form there is.")
  var json = false

  struct Result: Encodable {
    var ids: [Int32]
    var text: String
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
    let session = try options.session(of: engine, positions: tokens.count + count - 1)
    try session.prefill(tokens[...])
    var sampler = Sampler(sampling.options)
    var ids: [Int32] = []
    while true {
      let token = try session.sample(using: &sampler)
      ids.append(token)
      if engine.facts.stopTokens.contains(token) || ids.count == count { break }
      try session.decode(token)
    }
    try Console.report(Console.json(Result(ids: ids, text: try engine.decode(ids))))
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
