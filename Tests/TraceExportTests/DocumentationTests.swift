import Foundation
import TestSupport
import Testing
import TraceCore
import TraceExport

/// The example of the module's page, word for word.
private func exported() throws -> (file: [UInt8], perfetto: [UInt8], tokens: Int) {
  let recorder = TraceRecorder(eventCapacity: 1024)
  let writer = recorder.makeWriter(trackName: "session")
  writer.begin(.request, .request, 0)
  writer.begin(.prefill, .tokens, 12)
  writer.end()
  writer.begin(.response)
  for index in 0..<2 as Range<Int64> {
    writer.begin(.token, .index, index)
    writer.end()
  }
  writer.end()
  writer.end()

  let file = RecordingFile.encode(recorder.finish())
  let recording = try RecordingFile.decode(file.span)
  let summary = TraceSummary(recording)
  let perfetto = PerfettoExport(recording, processName: "my engine").bytes()
  return (file, perfetto, summary.requests[0].outputTokens)
}

@Suite struct DocumentationTests {
  @Test func theExampleOfThePageDoesWhatItSays() throws {
    let (file, perfetto, tokens) = try exported()
    #expect(file.starts(with: RecordingFile.magic))
    #expect(perfetto.count > 100)
    #expect(tokens == 2)
  }

  @Test func thePageHasThisExample() throws {
    let page = try String(
      contentsOf: Repository.file("Sources/TraceExport/TraceExport.docc/TraceExport.md"),
      encoding: .utf8)
    let block = try #require(page.firstMatch(of: /```swift\n((?:.|\n)*?)```/))
    let source = try String(contentsOfFile: #filePath, encoding: .utf8)
    // All but the imports and the blank line behind them, with this file's access.
    let function = try #require(block.1.range(of: "func exported"))
    #expect(source.contains("private " + block.1[function.lowerBound...]))
  }
}
