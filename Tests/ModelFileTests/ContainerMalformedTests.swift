import Foundation
import ModelFile
import TensorCore
import Testing

/// One defect in an otherwise right file, and a part of the reason that must be given.
struct Defect: Sendable, CustomTestStringConvertible {
  let name: String
  let reason: String
  let place: String
  let change: @Sendable (inout ContainerParts) -> Void

  init(
    _ name: String, _ place: String, _ reason: String,
    _ change: @escaping @Sendable (inout ContainerParts) -> Void
  ) {
    self.name = name
    self.place = place
    self.reason = reason
    self.change = change
  }

  var testDescription: String { name }
}

/// The file has tensors `a` (u2c, 2×3: frames 0 and 1) and `b` (f32, 4: frame 2), and 4 tokens.
/// In section TENS, `a` begins at 8 (dimensions at 16, planes at 32 and 64, name at 96) and `b` at
/// 104 (dimension at 112, plane at 120, name at 152).
@Suite struct ContainerMalformedTests {
  static let prologue: [Defect] = [
    Defect("version 2", "prologue", "version 2 is not supported") { $0.version = 2 },
    Defect("feature bit", "prologue", "required feature bit 5") { $0.features = 1 << 5 },
    Defect("byte count", "prologue", "the file has") { $0.fileByteCountExcess = 1 },
    Defect("index at 2^63", "prologue", "the index offset is") { $0.indexOffset = 1 << 63 },
    Defect("index far away", "prologue", "does not lie in the file") {
      $0.indexOffset = UInt64(Int.max)
    },
    Defect("index of 2^62", "prologue", "does not lie in the file") {
      $0.indexByteCount = 1 << 62
    },
    Defect("index in prologue", "prologue", "does not lie in the file") { $0.indexOffset = 8 },
  ]

  static let sections: [Defect] = [
    Defect("critical section", "index", "critical section ABCD") {
      $0.sections.append(("ABCD", [1]))
    },
    Defect("second section", "index", "a second section TENS") {
      $0.sections.append($0.sections.first { $0.id == "TENS" } ?? ("", []))
    },
    Defect("id of digits", "index", "four letters") { $0.sections.append(("ab1d", [])) },
    Defect("no header", "index", "section HEAD is missing") {
      $0.sections.removeAll { $0.id == "HEAD" }
    },
    Defect("no directory", "index", "section TENS is missing") {
      $0.sections.removeAll { $0.id == "TENS" }
    },
    Defect("deep JSON", "section HEAD", "nests deeper") {
      $0.edit("HEAD") { $0 = Array(repeating: UInt8(ascii: "["), count: 100_000) }
    },
    Defect("no JSON", "section HEAD", "not valid JSON") {
      $0.edit("HEAD") { $0 = Array("{".utf8) }
    },
    Defect("no UTF-8", "section HEAD", "not valid UTF-8") {
      $0.edit("HEAD") { $0 = Array("{\"name\":\"".utf8) + [0xFF] + Array("\"}".utf8) }
    },
    Defect("key missing", "section HEAD", "is missing") {
      $0.edit("HEAD") { $0 = Array("{}".utf8) }
    },
    Defect("wrong type", "section prov", "wrong type") {
      $0.edit("prov") { $0 = Array("{\"a\":[1]}".utf8) }
    },
    Defect("negative layers", "section HEAD", "layerCount is -1") {
      $0.replaceNumber("layerCount", by: "-1")
    },
    Defect("a fraction", "section HEAD", "layerCount is 1.5, not an integer") {
      $0.replaceNumber("layerCount", by: "1.5")
    },
    Defect("2^63", "section HEAD", "layerCount is 9223372036854775808, out of range") {
      $0.replaceNumber("layerCount", by: "9223372036854775808")
    },
    Defect("no double", "section HEAD", "1e400 is no finite number") {
      $0.replaceNumber("ropeBase", by: "1e400")
    },
    Defect("null", "section HEAD", "a JSON object is expected") {
      $0.edit("HEAD") { $0 = Array("null".utf8) }
    },
    Defect("array", "section HEAD", "a JSON object is expected") {
      $0.edit("HEAD") { $0 = Array("[]".utf8) }
    },
  ]

  static let frames: [Defect] = [
    Defect("2^60 frames", "section FRAM", "the frame count is") { $0.claimedFrameCount = 1 << 60 },
    Defect("one frame less", "section FRAM", "do not fill") { $0.claimedFrameCount = 2 },
    Defect("content above limit", "frame 2", "cannot hold") {
      $0.frames[2].contentByteCount = 1 << 20 + 1
    },
    Defect("content of 4 GiB", "frame 2", "cannot hold") {
      $0.frames[2].contentByteCount = Int(UInt32.max)
    },
    Defect("content out of ratio", "frame 2", "cannot hold") {
      $0.frames[2].contentByteCount = 17 * $0.frames[2].bytes.count
    },
    Defect("frame kind", "frame 1", "kind 7 is unknown") { $0.frames[1].kind = 7 },
    Defect("stored frame too small", "frame 1", "is impossible") {
      $0.frames[1].kind = 1
      $0.frames[1].contentByteCount = 0
      $0.frames[1].contentChecksum = 0x51D8_E999
    },
  ]

  static let directory: [Defect] = [
    Defect("2^60 tensors", "section TENS", "the tensor count is") {
      $0.edit("TENS") { $0.set(0, 1 << 60, 8) }
    },
    Defect("three tensors", "tensor 2", "needs") { $0.edit("TENS") { $0.set(0, 3, 8) } },
    Defect("one tensor", "section TENS", "follow the last") { $0.edit("TENS") { $0.set(0, 1, 8) } },
    Defect("overflowing shape", "tensor a", "product of the dimensions") {
      $0.edit("TENS") {
        $0.set(16, 1 << 40, 8)
        $0.set(24, 1 << 40, 8)
      }
    },
    Defect("dimension of 2^63", "tensor 0", "a dimension is") {
      $0.edit("TENS") { $0.set(16, 1 << 63, 8) }
    },
    Defect("bits above 2^63", "tensor b", "more than can be addressed") {
      $0.edit("TENS") { $0.set(112, 1 << 61, 8) }
    },
    Defect("empty tensor", "tensor a", "no elements") { $0.edit("TENS") { $0.set(16, 0, 8) } },
    Defect("duplicate name", "tensor a", "second tensor") {
      $0.edit("TENS") { $0.set(152, UInt64(UInt8(ascii: "a")), 1) }
    },
    Defect("name not UTF-8", "tensor 1", "not valid UTF-8") {
      $0.edit("TENS") { $0.set(152, 0xFF, 1) }
    },
    Defect("long name", "tensor 1", "needs 600 bytes") {
      $0.edit("TENS") { $0.set(108, 600, 2) }
    },
    Defect("no name", "tensor 1", "a name has") {
      $0.edit("TENS") {
        $0.set(108, 0, 2)
        $0.removeLast(8)
      }
    },
    Defect("unknown format", "tensor b", "format 999") { $0.edit("TENS") { $0.set(104, 999, 2) } },
    Defect("unknown layout", "tensor b", "layout 255") { $0.edit("TENS") { $0.set(106, 255, 2) } },
    // What ASTC tiles were before.
    Defect("former layout", "tensor b", "layout 2 is") { $0.edit("TENS") { $0.set(106, 2, 2) } },
    Defect("layout without the format", "tensor b", "layout row-tiles has no f32") {
      $0.edit("TENS") { $0.set(106, 1, 2) }
    },
    Defect("rank of 255", "tensor 1", "rank 255") { $0.edit("TENS") { $0.set(110, 255, 1) } },
    Defect("plane missing", "tensor", "") { $0.edit("TENS") { $0.set(15, 1, 1) } },
    Defect("other plane", "tensor a", "plane 2 where") { $0.edit("TENS") { $0.set(64, 2, 1) } },
    Defect("unknown storage", "tensor b", "storage 9") { $0.edit("TENS") { $0.set(121, 9, 1) } },
    Defect("reserved field", "tensor b", "reserved") { $0.edit("TENS") { $0.set(122, 1, 1) } },
    Defect("shared frame", "tensor b", "belongs to another") {
      $0.edit("TENS") { $0.set(128, 0, 4) }
    },
    Defect("frames out of range", "tensor b", "frames 2 to") {
      $0.edit("TENS") { $0.set(132, UInt64(UInt32.max), 4) }
    },
    Defect("no frames", "tensor b", "frames 2 to 2") { $0.edit("TENS") { $0.set(132, 0, 4) } },
    Defect("plane byte count", "tensor b", "codes has 20 bytes") {
      $0.edit("TENS") { $0.set(136, 20, 8) }
    },
    Defect("frame of another size", "tensor b", "does not hold") {
      $0.edit("TENS") {
        $0.set(112, 5, 8)
        $0.set(136, 20, 8)
      }
    },
    Defect("stored where compressed", "tensor b", "does not hold") {
      $0.edit("TENS") { $0.set(121, 1, 1) }
    },
  ]

  static let tokenizer: [Defect] = [
    Defect("2^32 tokens", "section TOKN", "needs") {
      $0.edit("TOKN") { $0.set(0, 0xFFFF_FFFF, 4) }
    },
    Defect("2^32 merges", "section TOKN", "needs") {
      $0.edit("TOKN") { $0.set(4, 0xFFFF_FFFF, 4) }
    },
    Defect("begin token", "section TOKN", "begin token is 4 of 4") {
      $0.edit("TOKN") { $0.set(8, 4, 4) }
    },
    Defect("flags", "section TOKN", "flags") { $0.edit("TOKN") { $0.set(24, 4, 4) } },
    Defect("merge", "section TOKN", "merge 0 of tokens 4") { $0.edit("TOKN") { $0.set(56, 4, 4) } },
    Defect("kind", "section TOKN", "unknown kind 9") { $0.edit("TOKN") { $0.set(65, 9, 1) } },
    Defect("token ends", "section TOKN", "ends before it begins") {
      $0.edit("TOKN") { $0.set(44, 0, 4) }
    },
    Defect("token not UTF-8", "section TOKN", "token 3 is not valid UTF-8") {
      $0.edit("TOKN") { $0[$0.count - 1] = 0xFF }
    },
    Defect("bytes behind", "section TOKN", "follow the last token") {
      $0.edit("TOKN") { $0.append(0) }
    },
  ]

  private func parts(in folder: ScratchFolder) throws -> ContainerParts {
    let path = folder.path("good.afmw")
    try write(
      [try SampleTensor("a", [2, 3], .u2c, seed: 1), try SampleTensor("b", [4], .f32, seed: 2)],
      to: path, compression: .raw)
    let file = [UInt8](try Data(contentsOf: URL(filePath: path)))
    let parts = ContainerParts(file)
    // The second implementation of the format agrees with the first.
    #expect(parts.encoded() == file)
    return parts
  }

  private func opened(_ parts: ContainerParts, in folder: ScratchFolder) throws -> AFMWFile {
    try Data(parts.encoded()).write(to: URL(filePath: folder.path("bad.afmw")))
    return try AFMWFile(opening: folder.path("bad.afmw"))
  }

  @Test(arguments: prologue + sections + frames + directory + tokenizer)
  func isRefusedWhenOpened(defect: Defect) throws {
    let folder = try ScratchFolder()
    var parts = try parts(in: folder)
    defect.change(&parts)
    let error = #expect(throws: InputError.self) { try opened(parts, in: folder) }
    #expect(error?.reason.contains(defect.reason) == true || defect.reason.isEmpty, "\(error!)")
    #expect(error?.place.hasPrefix(defect.place) == true, "\(error!)")
    #expect(error?.offset != nil)
  }

  @Test func unknownAncillarySectionsAndUnnamedFramesAreSkipped() throws {
    let folder = try ScratchFolder()
    var parts = try parts(in: folder)
    parts.sections.insert(("abcd", [1, 2, 3]), at: 0)
    parts.frames.append(parts.frames[0])
    let file = try opened(parts, in: folder)
    try file.verify()
    #expect(file.tensors.count == 2)
    // But what they hold is still checked.
    parts.frames[3].digest = 1
    let damaged = try opened(parts, in: folder)
    #expect(try damaged.loadAllTensors(threads: 1).count == 2)
    let error = #expect(throws: InputError.self) { try damaged.verify() }
    #expect(error?.place == "frame 3")
  }

  /// Defects of frame 2, all of whose digests are right.
  static let frameDefects: [Defect] = [
    Defect("not zstd", "", "not one whole zstd frame") { $0.frames[2].bytes[0] ^= 1 },
    Defect("no checksum flag", "", "without checksum") {
      $0.frames[2].bytes[4] &= ~4
      $0.frames[2].bytes.removeLast(4)
    },
    Defect("other content size", "", "declares another content") { $0.frames[2].bytes[5] = 17 },
    Defect("table disagrees", "", "another content checksum") {
      $0.frames[2].contentChecksum ^= 1
    },
    Defect("content changed", "", "zstd: ") { $0.frames[2].bytes[12] ^= 1 },
    Defect("compressed garbage", "", "zstd: ") { $0.frames[2].bytes[6] |= 4 },
    Defect("two frames", "", "not one whole zstd frame") {
      $0.frames[2].bytes += $0.frames[2].bytes
    },
    Defect("bytes missing", "", "not one whole zstd frame") { $0.frames[2].bytes.removeLast() },
    Defect("digest", "", "do not match their digest") { $0.frames[2].digest = 0 },
  ]

  @Test(arguments: frameDefects)
  func isRefusedWhenLoaded(defect: Defect) throws {
    let folder = try ScratchFolder()
    var parts = try parts(in: folder)
    defect.change(&parts)
    let file = try opened(parts, in: folder)
    let error = #expect(throws: InputError.self) { try file.loadAllTensors(threads: 2) }
    #expect(error?.reason.contains(defect.reason) == true, "\(error!)")
    #expect(error?.place == "tensor b: frame 2")
    #expect(error?.offset == 64 + parts.frames[0].bytes.count + parts.frames[1].bytes.count)
    #expect(try file.loadTensor(named: "a").byteCount == 10)
    #expect(throws: InputError.self) { try file.verify() }
  }

  @Test func aWrongPlaneDigestIsFoundByVerify() throws {
    let folder = try ScratchFolder()
    var parts = try parts(in: folder)
    parts.edit("TENS") { $0[120 + 24] ^= 1 }
    let file = try opened(parts, in: folder)
    let error = #expect(throws: InputError.self) { try file.verify() }
    #expect(error?.place == "tensor b")
  }

  @Test func forbiddenValuesAreRefused() throws {
    let folder = try ScratchFolder()
    let path = folder.path("bad.afmw")
    var tensor = try SampleTensor("b", [4], .f32, seed: 2)
    tensor.planes[.codes]?.replaceSubrange(4..<8, with: [0, 0, 0xC0, 0x7F])
    try write([tensor], to: path)
    let error = #expect(throws: InputError.self) { try AFMWFile(opening: path).verify() }
    #expect(error?.place == "tensor b")
    #expect(throws: InputError.self) { try AFMWFile(opening: path).loadTensor(named: "b") }
  }
}

extension ContainerParts {
  /// Replaces a number of the header.
  fileprivate mutating func replaceNumber(_ name: String, by text: String) {
    edit("HEAD") { bytes in
      let header = String(decoding: bytes, as: UTF8.self)
      guard let key = header.range(of: "\"\(name)\":"),
        let end = header[key.upperBound...].firstIndex(where: { $0 == "," || $0 == "}" })
      else { preconditionFailure("the header has no \(name)") }
      bytes = Array((header[..<key.upperBound] + text + header[end...]).utf8)
    }
  }
}
