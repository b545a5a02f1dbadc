import Foundation
import Testing
import TraceExport

/// Version 1 of the file format stays what it was.
@Suite struct GoldenRecordingTests {
  private static let file = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("traces/synthetic-v1.afmtrace")

  @Test func readsAndWritesTheCommittedBytes() throws {
    let written = RecordingFile.encode(SyntheticRecording.recording)
    if ProcessInfo.processInfo.environment["AFM_WRITE_GOLDEN"] != nil {
      try Data(written).write(to: Self.file)
    }
    let golden = try [UInt8](Data(contentsOf: Self.file))
    #expect(written == golden)
    #expect(try RecordingFile.decode(golden.span) == SyntheticRecording.recording)
  }
}
