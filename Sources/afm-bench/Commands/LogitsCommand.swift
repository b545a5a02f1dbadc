import ArgumentParser
import EngineInterface
import Engines
import Foundation
import TensorCore

struct LogitsCommand: FileUsingCommand {
  static let configuration = CommandConfiguration(
    commandName: "logits",
    abstract: "The largest logits and the logsumexp after every position.",
    usage: "afm-bench logits [<options>] --ids-file <file> <file>",
    discussion: """
      Example: afm-bench logits model.afmw --ids-file ids.json --top 8 --json
      """)

  @OptionGroup var options: ModelOptions

  @Option(
    help: ArgumentHelp(
      "A JSON array of token ids, or {\"ids\":[…]}; - is standard input.", valueName: "file"))
  var idsFile: String

  @Option(help: ArgumentHelp("How many of the largest logits.", valueName: "count"))
  var top = 8

  @Flag(help: "Prints one JSON object: ids, top_ids, top_logits, logsumexp.")
  var json = false

  struct Result: Encodable {
    var ids: [Int32]
    var top_ids: [[Int32]] = []
    var top_logits: [[Float]] = []
    var logsumexp: [Double] = []
  }

  func validate() throws {
    if top < 1 { throw ValidationError("--top must be at least 1.") }
  }

  var files: CommandFiles { options.files + [.text(idsFile, "--ids-file")] }

  func run() throws {
    let ids = try TokenIds.parse(try WholeFile.read(idsFile, .tokenIds), source: idsFile)
    guard !ids.isEmpty else { throw InputError(file: idsFile, reason: "there are no token ids") }
    let engine = try options.openEngine()
    try TokenIds.check(ids, vocabularyCount: engine.facts.vocabularyCount, source: idsFile)
    let limit = engine.facts.trainedContextLength
    guard ids.count <= limit else {
      throw InputError(
        file: idsFile,
        reason: EngineError.contextExceeded(limit: limit, need: ids.count).description)
    }
    let session = try options.run.session(
      of: engine, named: options.model, positions: ids.count)
    var result = Result(ids: ids)
    let count = min(top, engine.facts.vocabularyCount)
    try CommandFailure.naming(options.model) {
      try session.prefill(ids[...]) { _, logits in
        let best = LogitStatistics.largest(count, of: logits)
        result.top_ids.append(best.map(\.token))
        result.top_logits.append(best.map(\.logit))
        result.logsumexp.append(LogitStatistics.logSumExp(logits))
      }
    }
    guard result.logsumexp.allSatisfy(\.isFinite) else {
      throw CommandFailure(.badInput, "\(options.model): the logits are not finite")
    }
    try Console.report(json ? Console.json(result) : text(result))
  }

  private func text(_ result: Result) -> String {
    var lines = ["position  token  logsumexp  largest (id: logit)"]
    for (position, id) in result.ids.enumerated() {
      let best = zip(result.top_ids[position], result.top_logits[position])
        .map { "\($0): \(String(format: "%.4f", $1))" }.joined(separator: "  ")
      let sum = String(format: "%.4f", result.logsumexp[position])
      lines.append("\(position)  \(id)  \(sum)  \(best)")
    }
    return lines.joined(separator: "\n")
  }
}
