import ArgumentParser
import Files
import Foundation
import TensorCore
import TraceCore
import TraceExport

struct TraceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "trace",
    abstract: "Reads recordings: out to profilers, or as a summary.",
    discussion: "Example: afm-bench trace summary run.afmtrace",
    subcommands: [Export.self, Summary.self])

  struct Export: FileUsingCommand {
    static let configuration = CommandConfiguration(
      commandName: "export",
      abstract: "Writes a recording in a profiler's format.",
      discussion: """
        Example: afm-bench trace export run.afmtrace --to perfetto run.perfetto-trace

        Then open run.perfetto-trace in ui.perfetto.dev.
        """)

    /// The formats there are.
    enum Format: String, ExpressibleByArgument, CaseIterable {
      case perfetto

      fileprivate var outputKind: OutputKind {
        switch self {
        case .perfetto: .perfettoTrace
        }
      }
    }

    @Argument(help: "A recording (.afmtrace).")
    var input: String

    @Option(name: .customLong("to"), help: ArgumentHelp("The format.", valueName: "format"))
    var format: Format

    @Argument(help: "The file to write.")
    var output: String

    var files: CommandFiles {
      [.text(input, "the recording"), .output(output, "the file to write", format.outputKind)]
    }

    func run() throws {
      let recording = try RecordingInput.read(input)
      switch format {
      case .perfetto:
        try PerfettoOutput.write(recording, to: output)
        try Console.report("\(output): open it at https://ui.perfetto.dev")
      }
    }
  }

  struct Summary: FileUsingCommand {
    static let configuration = CommandConfiguration(
      commandName: "summary",
      abstract: "The metrics of every request, computed from the recording.",
      discussion: "Example: afm-bench trace summary run.afmtrace --json")

    @Argument(help: "A recording (.afmtrace).")
    var input: String

    @Flag(help: "Prints one JSON object.")
    var json = false

    var files: CommandFiles { [.text(input, "the recording")] }

    func run() throws {
      let summary = TraceSummary(try RecordingInput.read(input))
      let report = SummaryReport(summary)
      try Console.report(json ? Console.json(report) : report.text)
    }
  }
}

/// Recordings from disk.
enum RecordingInput {
  static func read(_ path: String) throws -> Recording {
    switch path == "-" ? nil : FileKind(of: path) {
    // What cannot be read, and what is damaged, is said by what reads it.
    case nil, .recording, .empty, .unknown, .folder, .modelFolder: break
    case .perfettoTrace:
      throw InputError(
        file: path, offset: 0,
        reason: "this is an export for Perfetto; give the recording that it was made from "
          + "(.afmtrace)")
    case let kind?:
      throw InputError(
        file: path, offset: 0,
        reason: "a recording is needed (.afmtrace): this is \(kind.description)")
    }
    let bytes = try WholeFile.read(path, .recording)
    do throws(InputError) { return try RecordingFile.decode(bytes.span) } catch {
      throw error.inFile(path)
    }
  }
}

/// Perfetto traces to disk, whole or not at all.
enum PerfettoOutput {
  static func write(_ recording: Recording, to path: String) throws {
    var file = try OutputFile(creating: path)
    try write(recording, to: &file)
    try file.commit()
  }

  /// The trace's bytes, at the end of a file.
  static func write(_ recording: Recording, to file: inout OutputFile) throws {
    try PerfettoExport(recording).write { (chunk: [UInt8]) throws(FileError) in
      // Bytes have no padding to read.
      try file.append(unsafe chunk.span.bytes)
    }
  }
}
