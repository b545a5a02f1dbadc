import Files
import TraceCore
import TraceExport

/// A file of a run's results.
struct PlannedFile {
  /// What it holds.
  enum Content {
    case text(String)
    case recording(Recording)
    case perfetto(Recording)

    /// A recording in the form that its file's name asks for.
    init(_ recording: Recording, path: String) {
      let isPerfetto = path.hasSuffix(".perfetto-trace") || path.hasSuffix(".pftrace")
      self = isPerfetto ? .perfetto(recording) : .recording(recording)
    }
  }

  var path: String
  var content: Content

  /// Writes all files, then lets all of them appear.
  static func write(_ files: ArraySlice<PlannedFile>) throws {
    guard let first = files.first else { return }
    var file = try OutputFile(creating: first.path)
    switch first.content {
    case .text(let text): try append(Array(text.utf8), to: &file)
    case .recording(let recording): try append(RecordingFile.encode(recording), to: &file)
    case .perfetto(let recording): try PerfettoOutput.write(recording, to: &file)
    }
    try write(files.dropFirst())
    try file.commit()
  }

  private static func append(_ bytes: [UInt8], to file: inout OutputFile) throws {
    // Bytes have no padding to read.
    try file.append(unsafe bytes.span.bytes)
  }
}
