import TensorCore
import TestSupport
import Testing
import TraceCore
import TraceExport

@Suite struct RecordingFileTests {
  private static let recording = SyntheticRecording.joined
  private static let bytes = RecordingFile.encode(recording)

  /// The check of the header made right again, so that faults behind it are reached.
  private static func resealed(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    let check = CyclicRedundancyCheck().value(of: bytes.span, from: 16)
    for index in 0..<4 { bytes[12 + index] = UInt8(truncatingIfNeeded: check >> (8 * index)) }
    return bytes
  }

  /// A file with a payload of its own.
  private static func file(_ payload: [UInt8], version: UInt8) -> [UInt8] {
    let count = (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (8 * $0)) }
    return resealed(RecordingFile.magic + [version, 0, 0, 0, 0, 0, 0, 0] + count + payload)
  }

  private static func fault(_ bytes: [UInt8]) -> InputError? {
    do {
      _ = try RecordingFile.decode(bytes.span)
      return nil
    } catch { return error }
  }

  @Test func theCheckIsTheOneOfZlib() {
    // The check value that CRC catalogues give for this text.
    let text = Array("123456789".utf8)
    #expect(CyclicRedundancyCheck().value(of: text.span, from: 0) == 0xCBF4_3926)
  }

  @Test func comesBackEqual() throws {
    #expect(try RecordingFile.decode(Self.bytes.span) == Self.recording)
    let events = Self.recording.tracks.reduce(0) { $0 + $1.events.count }
    print("recording: \(Self.bytes.count) bytes for \(events) events")
    #expect(Self.bytes.count < events * 12 + 500)
  }

  @Test func extremesComeBackEqual() throws {
    var track = TrackBuilder()
    track.begin(.token, at: 0, [(.index, .min), (.position, .max), (.bytes, -1)])
    track.counter(.tokens, at: 1, .min)
    track.counter(.tokens, at: 2, .max)
    track.end(at: .max, [(.tier, 1)])
    var recording = Self.recording
    recording.processID = .min
    recording.strings = ["", "é\u{0}漢🙂"]
    recording.start.realtimeNanoseconds = .max
    recording.tracks = [
      .init(name: "", threadID: .max, droppedEvents: .max, events: track.events),
      .init(name: "lowest", threadID: .min, events: []),
      .init(name: "least", threadID: 0, events: []),
      .init(name: "empty", threadID: -1, events: []), .init(name: "none", events: []),
      .init(name: "none", events: []),
    ]
    recording.argumentSets = [
      [], [TraceArgument(key: .tier, value: 1), TraceArgument(key: .bytes, value: .min)],
    ]
    #expect(try RecordingFile.decode(RecordingFile.encode(recording).span) == recording)
  }

  @Test func everyTruncationIsFound() throws {
    for count in 0..<Self.bytes.count {
      let error = try #require(Self.fault(Array(Self.bytes.prefix(count))), "\(count) bytes")
      #expect(error.offset != nil && !error.place.isEmpty && !error.reason.isEmpty)
    }
  }

  @Test func everyFlippedBitIsFound() throws {
    var bytes = Self.bytes
    for bit in 0..<bytes.count * 8 {
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(Self.fault(bytes) != nil, "bit \(bit)")
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
    }
  }

  /// With the check made right, faults either give a valid recording or an error, never a trap, and
  /// what is accepted encodes to the same bytes or at least reads back equal.
  @Test(arguments: 0..<8) func hostilePayloadsNeverTrap(round: Int) throws {
    let seed = UInt64(round) + 77
    var random = SeededGenerator(seed: seed)
    var accepted = 0
    for _ in 0..<400 {
      var bytes = Self.bytes
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let index = Int.random(in: 24..<bytes.count, using: &random)
        bytes[index] =
          Bool.random(using: &random) ? 0xFF : UInt8.random(in: 0...255, using: &random)
      }
      bytes = Self.resealed(bytes)
      do {
        let recording = try RecordingFile.decode(bytes.span)
        accepted += 1
        #expect(try RecordingFile.decode(RecordingFile.encode(recording).span) == recording)
        _ = TraceSummary(recording)
        _ = PerfettoExport(recording).bytes()
      } catch {
        #expect((24...bytes.count).contains(error.offset ?? -1), "seed \(seed): \(error)")
      }
    }
    #expect(accepted < 400, "seed \(seed)")
  }

  struct Malformed: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var payload: [UInt8]
    var offset: Int
    var version: UInt8 = 1
  }

  /// Process id 0, both snapshots 0, no metadata, one string "s".
  private static let head: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0x73]
  /// One track without a name, of thread 0, without dropped events.
  private static let oneTrack = head + [1, 0, 0, 0]
  /// One set with the one string as the tier; one track without a name, thread or dropped events.
  private static let oneSet = head + [1, 1, 64, 0] + [1, 0, 0, 0]

  @Test(arguments: [
    Malformed(testDescription: "empty payload", payload: [], offset: 24),
    Malformed(
      testDescription: "varint of eleven bytes",
      payload: Array(repeating: 0x80, count: 10) + [0], offset: 24),
    Malformed(
      testDescription: "varint above 64 bits",
      payload: Array(repeating: 0x80, count: 9) + [2], offset: 24),
    Malformed(
      testDescription: "process id above 32 bits",
      payload: [0x80, 0x80, 0x80, 0x80, 0x20], offset: 24),
    Malformed(
      testDescription: "absurd count of strings",
      payload: [0, 0, 0, 0, 0, 0, 0, 0] + Array(repeating: 0xFF, count: 9) + [1], offset: 32),
    Malformed(
      testDescription: "invalid UTF-8", payload: [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0xFF, 0],
      offset: 33),
    Malformed(testDescription: "unknown kind", payload: oneTrack + [1, 7, 0], offset: 40),
    Malformed(testDescription: "four arguments", payload: oneTrack + [1, 0x21, 2, 0], offset: 40),
    Malformed(testDescription: "unknown name", payload: oneTrack + [1, 1, 200, 0], offset: 41),
    Malformed(
      testDescription: "unknown counter", payload: oneTrack + [1, 4, 99, 0, 0], offset: 41),
    Malformed(
      testDescription: "unknown key", payload: oneTrack + [1, 9, 2, 0, 50, 0], offset: 43),
    Malformed(
      testDescription: "string out of range", payload: oneTrack + [1, 9, 2, 0, 64, 2], offset: 43),
    Malformed(
      testDescription: "negative string", payload: oneTrack + [1, 9, 2, 0, 64, 1], offset: 43),
    Malformed(testDescription: "end without begin", payload: oneTrack + [1, 2, 0], offset: 40),
    Malformed(testDescription: "begin without end", payload: oneTrack + [1, 1, 2, 0], offset: 43),
    Malformed(
      testDescription: "time above 64 bits",
      payload: oneTrack + [2, 3, 2] + Array(repeating: 0xFF, count: 9) + [1] + [3, 2, 1],
      offset: 52),
    Malformed(
      testDescription: "one thread id twice",
      payload: head + [2, 0, 0, 0, 0, 0, 0, 0, 0], offset: 40),
    Malformed(testDescription: "bytes left over", payload: oneTrack + [0, 0], offset: 40),
    Malformed(
      testDescription: "a set in version 1", payload: oneTrack + [1, 9, 2, 0, 14, 0], offset: 43),
    Malformed(
      testDescription: "absurd count of sets",
      payload: head + Array(repeating: 0xFF, count: 9) + [1], offset: 35, version: 2),
    Malformed(
      testDescription: "a set within a set", payload: head + [2, 1, 7, 0, 1, 14, 0], offset: 40,
      version: 2),
    Malformed(
      testDescription: "a set's string out of range", payload: head + [1, 1, 64, 2], offset: 37,
      version: 2),
    Malformed(
      testDescription: "set out of range", payload: oneSet + [2, 9, 2, 0, 14, 2, 2, 0], offset: 47,
      version: 2),
    Malformed(
      testDescription: "thread id above 32 bits",
      payload: head + [0, 1, 0, 0x81, 0x80, 0x80, 0x80, 0x10], offset: 38, version: 2),
    Malformed(
      testDescription: "one thread twice in version 2",
      payload: head + [0, 2, 0, 5, 0, 0, 0, 5, 0, 0], offset: 41, version: 2),
  ])
  func malformedPayloadsAreNamedByTheirOffset(_ malformed: Malformed) {
    let error = Self.fault(Self.file(malformed.payload, version: malformed.version))
    #expect(error?.offset == malformed.offset, "\(String(describing: error))")
  }

  @Test func foreignAndFutureFilesAreRefused() {
    var future = Self.bytes
    for version in [0, 3] as [UInt8] {
      future[8] = version
      #expect(Self.fault(future)?.reason == "version \(version) instead of 1 to 2")
    }
    #expect(Self.fault(Array("GGUF".utf8) + Self.bytes)?.offset == 0)
    #expect(Self.fault(Self.bytes + [0])?.offset == 16)
  }
}
