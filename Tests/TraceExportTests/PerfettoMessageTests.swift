import Foundation
import TestSupport
import Testing
import TraceCore
import TraceExport

/// Perfetto's own message definitions as the oracle: they know every field that is written, and their
/// encoder writes the same bytes.
@Suite(.needs(TraceProcessor.messages))
struct PerfettoMessageTests {
  private struct Fact: Codable, Hashable {
    var name: String
    var value: String
  }

  private struct Reading: Codable {
    var packets: Int
    var facts: [Fact]
    var isCanonical: Bool
  }

  private func read(_ recording: Recording) throws -> Reading {
    let folder = try TemporaryFolder()
    try Data(PerfettoExport(recording).bytes()).write(to: folder.url("trace"))
    return try JSONDecoder().decode(
      Reading.self, from: Oracle.script("perfetto_messages.py", folder.file("trace")))
  }

  @Test func everyFieldIsPerfettosAndInItsOrder() throws {
    let recording = SyntheticRecording.joined
    let reading = try read(recording)
    #expect(reading.isCanonical)
    // Two snapshots, the process, its facts; then tracks, counters and events.
    let events = recording.tracks.reduce(0) { $0 + $1.events.count }
    #expect(reading.packets > events + 4)
    #expect(Set(reading.facts).isSuperset(of: [Fact(name: "tool", value: "test")]))
  }

  /// Around each number of bytes that a message's count takes.
  @Test func messagesOfEveryLengthAreWrittenAlike() throws {
    var recording = SyntheticRecording.recording
    recording.tracks = []
    let counts = [0, 1, 100, 110, 115, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 16_000]
    recording.metadata = (counts + Array(16_360...16_390) + [70_000]).map {
      Recording.Metadata(key: "k\($0)", value: String(repeating: "x", count: $0))
    }
    let reading = try read(recording)
    #expect(reading.isCanonical)
    #expect(reading.facts == recording.metadata.map { Fact(name: $0.key, value: $0.value) })
  }

  /// Random events with every name, key and counter, and values of every size and sign.
  @Test(arguments: 0..<4) func everyEventIsWrittenAlike(round: Int) throws {
    let seed = UInt64(round) + 500
    var random = SeededGenerator(seed: seed)
    var track = TrackBuilder()
    var depth = 0
    var time: UInt64 = 0
    func value() -> Int64 {
      Int64.random(in: .min ... .max, using: &random) >> Int64.random(in: 0..<64, using: &random)
    }
    for _ in 0..<1_500 {
      time += UInt64.random(in: 0...1 << UInt64.random(in: 0...40, using: &random), using: &random)
      let count = Int.random(in: 0...3, using: &random)
      let arguments = TraceKey.allCases.shuffled(using: &random).prefix(count).map {
        ($0, $0.isString ? Int64.random(in: 0..<7, using: &random) : value())
      }
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        track.begin(TraceName.allCases[Int.random(in: 0..<20, using: &random)], at: time, arguments)
        depth += 1
      case 1 where depth > 0:
        track.end(at: time, arguments)
        depth -= 1
      case 2: track.instant(.sample, at: time, arguments)
      default:
        let counter = TraceCounter.allCases[Int.random(in: 0..<11, using: &random)]
        track.counter(counter, at: time, value())
      }
    }
    for _ in 0..<depth { track.end(at: time) }
    var recording = SyntheticRecording.recording
    recording.tracks.append(
      .init(name: "random", threadID: -5, droppedEvents: 0, events: track.events))
    #expect(try read(recording).isCanonical, "seed \(seed)")
  }
}
