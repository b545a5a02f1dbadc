/// The text files of a result bundle: a folder that holds all that is known of a run.
///
///     results.json             the rows, as `-o json` prints them
///     samples.jsonl            one measured request a line, with its raw times
///     environment.json         machine, build, state before and after, definitions of the metrics
///     trace.afmtrace           the recording
///     trace.perfetto-trace     the same for ui.perfetto.dev
///     README.md                this list and the definitions
///     afm-bench.xxh64          digests of the other files, which the folder is known by
package enum BundleText {
  /// The name of the recording's file, which is not text.
  package static let recordingName = "trace.afmtrace"
  /// The name of the exported trace's file.
  package static let perfettoName = "trace.perfetto-trace"

  /// The names of all files, with which a folder is known as a bundle.
  package static let names = [
    "results.json", "samples.jsonl", "environment.json", "README.md", recordingName, perfettoName,
  ]

  /// One file of the bundle.
  package struct File: Hashable, Sendable {
    package var name: String
    package var text: String
  }

  /// The contents of the text files, all derived from what is given.
  package static func files(
    rows: [RunRow], samples: [SampleRecord], environment: Environment
  ) throws -> [File] {
    let lines = try samples.map { try JSONValue($0).text + "\n" }
    let record = EnvironmentFile(environment: environment, definitions: MetricDefinition.all)
    return [
      File(name: "results.json", text: try JSONValue(rows).indentedText + "\n"),
      File(name: "samples.jsonl", text: lines.joined()),
      File(name: "environment.json", text: try JSONValue(record).indentedText + "\n"),
      File(name: "README.md", text: readme(isComplete: environment.isComplete ?? true)),
    ]
  }

  /// The machine's record and what the metrics mean.
  private struct EnvironmentFile: Encodable {
    var environment: Environment
    var definitions: [MetricDefinition]

    func encode(to encoder: any Encoder) throws {
      try environment.encode(to: encoder)
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(definitions, forKey: .definitions)
    }

    enum Key: String, CodingKey { case definitions }
  }

  private static func readme(isComplete: Bool) -> String {
    let warning =
      isComplete
      ? ""
      : "\n**Incomplete**: the run was ended early; rows that were measured until then are here.\n"
    return """
      # Results of one afm-bench run
      \(warning)
      | file | holds |
      | --- | --- |
      | results.json | one row a test, tier and reasoning level, as `afm-bench run -o json` prints |
      | samples.jsonl | one measured request per line: raw times since it was submitted, and texts |
      | environment.json | machine and build, system counters before and after, these definitions |
      | \(recordingName) | the recording: `afm-bench trace summary`, `afm-bench trace export` |
      | \(perfettoName) | the same recording for https://ui.perfetto.dev |
      | afm-bench.xxh64 | digests of these files, as `xxhsum -c` checks them; a folder in which a \
      file was added or changed is not replaced |

      Times are nanoseconds, sizes bytes, rates tokens per second.

      ## What the numbers mean

      \(MetricDefinition.all.map { "- **\($0.name)**: \($0.meaning)" }.joined(separator: "\n"))

      """
  }
}
