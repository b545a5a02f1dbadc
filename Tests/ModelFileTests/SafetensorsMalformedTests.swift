import Foundation
import ModelFile
import TensorCore
import TestSupport
import Testing

/// A committed file, named for its defect, and the error that it must be.
struct MalformedSafetensors: Sendable, CustomTestStringConvertible {
  var defect: String
  var place: String
  var offset: Int
  /// Words of the reason.
  var words: String

  init(_ defect: String, _ place: String, _ offset: Int, _ words: String) {
    self.defect = defect
    self.place = place
    self.offset = offset
    self.words = words
  }

  var testDescription: String { defect }

  static let folder = Repository.fixture("malformed/safetensors")

  var path: String { Self.folder.appendingPathComponent("\(defect).safetensors").path }
}

private let a = "tensor a"

private let defects: [MalformedSafetensors] = [
  .init("empty", "header", 0, "too few"),
  .init("length-cut", "header", 3, "too few"),
  .init("length-past-end", "header", 0, "1099511627776 header bytes do not fit"),
  .init("length-negative", "header", 0, "18446744073709551615 header bytes do not fit"),
  .init("header-cut", "header", 0, "200 header bytes do not fit"),
  .init("header-of-no-bytes", "header", 8, "does not begin with {"),
  .init("begins-with-space", "header", 8, "does not begin with {"),
  .init("begins-with-array", "header", 8, "does not begin with {"),
  .init("not-json", "header", 9, "a name is expected"),
  .init("not-utf8", "header", 9, "not valid UTF-8"),
  .init("bytes-behind-json", "header", 10, "bytes behind"),
  .init("trailing-comma", "header", 61, "a name is expected"),
  .init("deep", a, 13, "an object is expected, not an array"),
  .init("half-a-surrogate", "header", 10, "half a surrogate pair"),
  .init("duplicate-name", "header", 61, "occurs twice"),
  .init("duplicate-field", a, 27, "occurs twice"),
  .init("unknown-type", a, 22, "the element type U7 is not known"),
  .init("unknown-field", a, 68, "the field scale is not known"),
  .init("no-shape", a, 13, "missing"),
  .init("negative-dimension", a, 36, "-2 is no integer"),
  .init("fractional-dimension", a, 36, "2.0 is no integer"),
  .init("huge-dimension", a, 36, "18446744073709551616 is no integer"),
  .init("shape-overflows", a, 13, "overflows"),
  .init("bytes-overflow", a, 13, "no whole number of bytes"),
  .init("nine-dimensions", a, 52, "more than 8 dimensions"),
  .init("half-a-byte", a, 13, "no whole number of bytes"),
  .init("three-offsets", a, 59, "more than 2 data offsets"),
  .init("offsets-reversed", a, 13, "no range of 2 bytes"),
  .init("offsets-past-end", a, 13, "no range of 2 bytes"),
  .init("shape-and-offsets-disagree", a, 13, "2 bytes of data"),
  .init("overlap", "tensor b", 65, "overlap those of another tensor by 1 bytes"),
  .init("hole", "tensor b", 65, "1 bytes in front of its data belong to no tensor"),
  .init("hole-at-the-start", a, 13, "1 bytes in front"),
  .init("bytes-behind-data", "header", 117, "1 bytes at the end belong to no tensor"),
  .init("metadata-of-numbers", "header", 29, "a string is expected, not a number"),
  .init("metadata-of-an-array", "header", 24, "an object is expected, not an array"),
]

@Suite struct SafetensorsMalformedTests {
  /// tools/oracles/safetensors_malformed.py makes the files.
  @Test(arguments: defects) func namesFilePlaceAndOffset(_ defect: MalformedSafetensors) throws {
    let error = #expect(throws: InputError.self) { try SafetensorsFile(path: defect.path) }
    #expect(error?.file == defect.path)
    #expect(error?.place == defect.place)
    #expect(error?.offset == defect.offset)
    #expect(error?.reason.contains(defect.words) == true, "\(error?.reason ?? "")")
    // From memory the same.
    let bytes = try Array(Data(contentsOf: URL(filePath: defect.path)))
    let inMemory = #expect(throws: InputError.self) {
      try SafetensorsFile(bytes: bytes, name: defect.path)
    }
    #expect(inMemory == error)
  }

  @Test func everyCommittedFileIsTested() throws {
    let files = try FileManager.default.contentsOfDirectory(
      atPath: MalformedSafetensors.folder.path)
    #expect(Set(files) == Set(defects.map { "\($0.defect).safetensors" }))
  }

  /// PyPI `safetensors` refuses them too, but for what only the specification forbids, and for our
  /// limit of eight dimensions.
  @Test(.needs(.python)) func theOracleAgrees() throws {
    var names: [String: String] = [:]
    for defect in defects { names[defect.path] = defect.defect }
    let answer = try Oracle.python.run(
      [Repository.file("tools/oracles/safetensors_oracle.py").path, "judge"] + names.keys.sorted())
    let accepted = try JSONDecoder().decode([String: Bool].self, from: answer)
    let stricter = accepted.filter(\.value).compactMap { names[$0.key] }
    #expect(
      Set(stricter)
        == ["begins-with-space", "duplicate-name", "unknown-field", "nine-dimensions"])
  }
}
