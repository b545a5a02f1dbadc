import ArgumentParser
import Comparison
import Foundation
import TensorCore

struct CompareCommand: FileUsingCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract: "Compares two results: what is faster, by how much, and how sure.",
    usage: "afm-bench compare [<options>] <a> <b>",
    discussion: """
      A and B are bundles (--bundle), or JSON of afm-bench run, llama-bench or hyperfine. Rows are \
      joined by what was measured; the fields in which the two sides differ as a whole are what is \
      compared.

      A ratio is B's median over A's. Its 95 % interval inverts the Mann–Whitney test on logarithms. \
      B is faster or slower where the test rejects with Holm's correction over all rows, equal where \
      the 99 % interval lies within half of --smallest-effect, else undecided.

      Example: afm-bench compare before after --max-slowdown 3
      """)

  @Argument(help: "A bundle or a file of results: what B is compared with.")
  var a: String

  @Argument(help: "A bundle or a file of results.")
  var b: String

  @Option(help: ArgumentHelp("The smallest difference that matters.", valueName: "percent"))
  var smallestEffect = 2.0

  @Option(
    help: ArgumentHelp(
      "Ends with exit code 1 where B is slower by more than this.", valueName: "percent"))
  var maxSlowdown: Double?

  @Flag(help: "Prints one JSON object.")
  var json = false

  func validate() throws {
    guard smallestEffect > 0, smallestEffect <= 100 else {
      throw ValidationError("--smallest-effect must be above 0 and at most 100.")
    }
    if let maxSlowdown, !(0...1e6 ~= maxSlowdown) {
      throw ValidationError("--max-slowdown must be in 0...1000000.")
    }
  }

  var files: CommandFiles { [.text(Self.file(a), "A"), .text(Self.file(b), "B")] }

  func run() throws {
    let comparison = Comparison(
      try Self.read(a), try Self.read(b), rule: DecisionRule(smallestEffect: smallestEffect / 100))
    let report = ComparisonReport(comparison, a: a, b: b)
    try Console.report(json ? Console.json(report) : report.text)
    if let maxSlowdown { try Self.check(comparison, bound: maxSlowdown / 100) }
  }

  private static func read(_ path: String) throws -> Measurements {
    let file = file(path)
    return try ResultFile.measurements(in: WholeFile.read(file, .results), path: file)
  }

  /// The file with the rows: a bundle's, or the path itself.
  private static func file(_ path: String) -> String {
    var isFolder: ObjCBool = false
    // The flag outlives the call.
    let exists = unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
    return exists && isFolder.boolValue ? "\(path)/results.json" : path
  }

  private static func check(_ comparison: Comparison, bound: Double) throws {
    let broken = comparison.rows.filter { row in
      row.outcome == .slower && row.slowdown.map { $0 > bound } ?? false
    }
    guard let worst = broken.max(by: { ($0.slowdown ?? 0) < ($1.slowdown ?? 0) }) else { return }
    let percent = ComparisonReport.percent(worst.slowdown ?? 0)
    throw CommandFailure(
      .checkFailed,
      "\(broken.count) of \(comparison.rows.count) rows are slower by more than "
        + "\(ComparisonReport.percent(bound)): \(worst.test) \(worst.metric) by \(percent)")
  }
}
