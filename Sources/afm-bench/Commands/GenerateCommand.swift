import ArgumentParser
import EngineInterface
import Engines
import Foundation
import TensorCore
import Tiers

struct GenerateCommand: FileUsingCommand {
  static let configuration = CommandConfiguration(
    commandName: "generate",
    abstract: "Continues a text, greedily unless told otherwise, until a stop token.",
    discussion: """
      On a terminal the text appears as it is generated. Elsewhere, and with --json, one JSON object \
      is printed: {"ids":[…],"text":…,"finish":…,"cached_tokens":…}. These are the generated ids, \
      the stop token included; their text without control tokens; what ended it: stop (a stop \
      token), length (-n) or context (the model's context is full); and how many of the prompt's \
      positions --cache-file had.

      Example: afm-bench generate model.afmw --prompt 'Why is the sky blue?' --chat
      Example: afm-bench generate model.afmw --prompt-file prompt.txt -n 64 --text
      """)

  @OptionGroup var options: ModelOptions

  @Option(
    name: [.customShort("p"), .long],
    help: ArgumentHelp("The text to continue, as it is.", valueName: "text"))
  var prompt: String?

  @Option(
    help: ArgumentHelp("A file with the text to continue; - is standard input.", valueName: "file"))
  var promptFile: String?

  @Option(
    name: [.customShort("n"), .customLong("n-gen")],
    help: ArgumentHelp("The most tokens to generate.", valueName: "tokens"))
  var count = 128

  @Flag(help: "Wraps the text in the model's chat template, as the user's message.")
  var chat = false

  @OptionGroup var sampling: SamplingOptions

  @Option(
    help: ArgumentHelp(
      "Keys and values of the prompt: written where the file is missing, else read.",
      discussion:
        "A prompt that begins like the file's skips the whole pages that it has. Files of "
        + "another model, adapter or cache are refused.", valueName: "file"))
  var cacheFile: String?

  @Flag(help: "Prints the text alone, as it is generated, on a terminal or not.")
  var text = false

  @Flag(help: "Prints one JSON object, on a terminal or not.")
  var json = false

  struct Result: Encodable {
    var ids: [Int32]
    var text: String
    var finish: String
    var cached_tokens = 0
  }

  func validate() throws {
    if count < 1 { throw ValidationError("-n must be at least 1.") }
    guard (prompt == nil) != (promptFile == nil) else {
      throw ValidationError(
        prompt == nil
          ? "Missing expected argument '--prompt <text>' or '--prompt-file <file>'"
          : "--prompt and --prompt-file are both given: one of them is needed")
    }
    if prompt?.isEmpty ?? false { throw ValidationError("--prompt: the prompt is empty") }
    if text && json { throw ValidationError("--text and --json exclude each other") }
  }

  var files: CommandFiles {
    options.files + [
      .text(promptFile, "--prompt-file"), .cache(cacheFile, "--cache-file", .cacheSnapshot),
    ]
  }

  func run() throws {
    let source = promptFile ?? "--prompt"
    let text = try prompt ?? TextFile.read(source, .prompt)
    guard !text.isEmpty else { throw InputError(file: source, reason: "the prompt is empty") }
    let engine = try options.openEngine()
    let rendered =
      chat
      ? try engine.render([Message(role: .user, content: text)], addsGenerationPrompt: true) : text
    let tokens = try engine.encode(rendered, recognizingSpecialTokens: true)
    guard !tokens.isEmpty else {
      throw InputError(
        file: options.model, place: chat ? "chat template" : "tokenizer",
        reason: "nothing is left of the prompt: there are no tokens to run")
    }
    let limit = engine.facts.trainedContextLength
    guard tokens.count <= limit else {
      throw InputError(
        file: source,
        reason: EngineError.contextExceeded(limit: limit, need: tokens.count).description)
    }
    // The last token is not fed back. The count may be near Int's limits.
    let wanted = count - 1 < limit - tokens.count ? tokens.count + count - 1 : limit
    let session = try options.run.session(
      of: engine, named: options.model, positions: cacheFile == nil ? wanted : limit,
      sharesPrefixes: cacheFile != nil)
    try CommandFailure.naming(options.model) { try prefill(session, tokens) }
    let printer = isStreamed ? TextPrinter(try engine.makeTextStream()) : nil
    var result = try CommandFailure.naming(options.model) {
      try continueText(session, of: engine, printer: printer)
    }
    result.cached_tokens = session.adoptedPositionCount
    if !isStreamed { try Console.report(Console.json(result)) }
  }

  /// Whether the text is printed as it is generated.
  private var isStreamed: Bool { text || !json && StandardOutput.isTerminal }

  /// Runs the prompt; what a file has of its beginning is there already.
  private func prefill(_ session: any Session, _ tokens: [Int32]) throws {
    guard let cacheFile else { return try session.prefill(tokens[...]) }
    let isThere = FileManager.default.fileExists(atPath: cacheFile)
    if isThere {
      try CommandFailure.naming(cacheFile) { try session.restore(from: cacheFile) }
      // The cache keeps the pages, and whoever begins alike finds them.
      session.truncate(to: 0)
    }
    try session.prefill(tokens[...])
    if !isThere { try session.save(to: cacheFile) }
  }

  private func continueText(
    _ session: any Session, of engine: any Engine, printer: TextPrinter?
  ) throws -> Result {
    var printer = printer
    var sampler = Sampler(sampling.options)
    var ids: [Int32] = []
    let finish: String
    while true {
      let token = try session.sample(using: &sampler)
      ids.append(token)
      if printer == nil {
        Console.progress("\(ids.count) tokens")
      } else {
        try printer?.print(token)
      }
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
    if printer == nil { Console.progress("") }
    try printer?.finish()
    return Result(ids: ids, text: try engine.decode(ids), finish: finish)
  }
}

/// Text on standard output, as tokens come.
private struct TextPrinter {
  private var stream: any TextStream
  private var endsLine = true

  init(_ stream: any TextStream) { self.stream = stream }

  mutating func print(_ token: Int32) throws { try write(try stream.append(token)) }

  /// What is still incomplete, and the end of the last line.
  mutating func finish() throws {
    try write(try stream.finish())
    if !endsLine { try StandardOutput.write([UInt8(ascii: "\n")]) }
  }

  private mutating func write(_ text: String) throws {
    guard !text.isEmpty else { return }
    endsLine = text.hasSuffix("\n")
    try StandardOutput.write(Array(text.utf8))
  }
}

/// How tokens are chosen.
struct SamplingOptions: ParsableArguments {
  @Option(
    name: [.customLong("temp"), .long], help: ArgumentHelp("0 is greedy.", valueName: "number"))
  var temperature: Float = 0

  @Option(help: ArgumentHelp("Only the k largest logits; 0 keeps all.", valueName: "k"))
  var topK = 0

  @Option(
    help: ArgumentHelp(
      "Only the smallest set of tokens whose probability reaches p.", valueName: "p"))
  var topP: Float = 1

  @Option(help: ArgumentHelp("Where the random numbers begin.", valueName: "number"))
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
