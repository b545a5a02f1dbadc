import Foundation
import Testing
import TraceCore
import TraceExport

/// The versions of the file format stay what they were.
@Suite struct GoldenRecordingTests {
  private static func file(_ name: String) -> URL {
    URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("traces/\(name)")
  }

  @Test func readsVersion1() throws {
    let golden = try [UInt8](Data(contentsOf: Self.file("synthetic-v1.afmtrace")))
    #expect(golden[8] == 1)
    #expect(try RecordingFile.decode(golden.span) == SyntheticRecording.recording)
  }

  @Test func readsAndWritesVersion2() throws {
    let file = Self.file("synthetic-v2.afmtrace")
    let written = RecordingFile.encode(SyntheticRecording.joined)
    if ProcessInfo.processInfo.environment["AFM_WRITE_GOLDEN"] != nil {
      try Data(written).write(to: file)
    }
    let golden = try [UInt8](Data(contentsOf: file))
    #expect(written == golden)
    #expect(try RecordingFile.decode(golden.span) == SyntheticRecording.joined)
  }
}
