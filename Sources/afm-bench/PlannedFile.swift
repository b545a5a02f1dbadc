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
      let ending = FileEnding.of(path)
      let isPerfetto = ending.map(OutputKind.perfettoTrace.endings.contains) ?? false
      self = isPerfetto ? .perfetto(recording) : .recording(recording)
    }
  }

  /// Its path, or its name in a bundle.
  var path: String
  var content: Content

  /// Writes the file; it appears whole or not at all.
  func write() throws {
    var file = try OutputFile(creating: path)
    try write(to: &file)
    try file.commit()
  }

  /// Writes a file of its own and a folder's files: all of them appear, or none.
  static func write(_ single: PlannedFile?, bundle: String?, files: [PlannedFile]) throws {
    var singleOutput: OutputFile?
    if let single {
      var file = try OutputFile(creating: single.path)
      try single.write(to: &file)
      try file.flush()
      singleOutput = consume file
    }
    if let bundle {
      var folder = try OutputFolder(creating: bundle)
      for file in files {
        try folder.add(file.path) { (output: inout OutputFile) in try file.write(to: &output) }
      }
      try folder.commit()
    }
    // Its bytes are in place: nothing but its name can fail now.
    if let file = singleOutput.take() { try file.commit() }
  }

  private func write(to file: inout OutputFile) throws {
    switch content {
    case .text(let text): try Self.append(Array(text.utf8), to: &file)
    case .recording(let recording): try Self.append(RecordingFile.encode(recording), to: &file)
    case .perfetto(let recording): try PerfettoOutput.write(recording, to: &file)
    }
  }

  private static func append(_ bytes: [UInt8], to file: inout OutputFile) throws {
    // Bytes have no padding to read.
    try file.append(unsafe bytes.span.bytes)
  }
}
