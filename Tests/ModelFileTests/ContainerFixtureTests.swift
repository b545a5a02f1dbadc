import Foundation
import ModelFile
import TensorCore
import TestSupport
import Testing

/// The malformed files of Tests/Fixtures/malformed, each with the one line that refuses it.
///
/// Regenerate with `python3 tools/oracles/afmw_malformed.py Tests/Fixtures/malformed`, an
/// implementation of its own of the format.
@Suite struct ContainerFixtureTests {
  /// File names without `.afmw`; what follows the path in the error.
  static let errors = [
    "another-magic": "prologue: offset 0: not an .afmw file",
    "bits-behind-a-row":
      "tensor a: offset 64: plane codes, row 1, column 3: the unused bits of the row are not zero",
    "empty-tensor": "tensor b: offset 769: the tensor has no elements",
    "empty": "prologue: offset 0: the file has 0 bytes, too few for an .afmw file",
    "frame-content-checksum":
      "tensor b: frame 2: offset 100: zstd: Restored data doesn't match checksum",
    "frame-digest": "tensor b: frame 2: offset 100: the compressed bytes do not match their digest",
    "frame-in-two-planes": "tensor b: offset 793: frame 0 belongs to another plane already",
    "frame-number-beyond-the-table": "tensor b: offset 793: frames 3 to 4 of 3",
    "frame-of-unknown-kind": "frame 1: offset 885: frame kind 7 is unknown",
    "frame-promises-too-much":
      "frame 2: offset 897: a frame of 29 bytes cannot hold 1048576 content bytes",
    "header-with-no-layers": "section HEAD: offset 153: layerCount is 0",
    "header-without-a-name": "section HEAD: offset 153: name is missing",
    "index-beyond-the-file": "prologue: offset 32: the index does not lie in the file",
    "index-digest": "index: offset 129: the index does not match its digest",
    "infinite-value":
      "tensor b: offset 100: plane codes, row 0, column 1: a weight is NaN or infinite",
    "json-too-deep": "section HEAD: offset 169: JSON nests deeper than 16",
    "last-byte-missing": "prologue: offset 24: the file has 997 bytes instead of 998",
    "name-not-utf-8": "tensor 1: offset 817: the name is not valid UTF-8",
    "name-twice": "tensor a: offset 769: a second tensor has this name",
    "no-directory": "index: offset 129: section TENS is missing",
    "overflowing-shape": "tensor a: offset 681: the product of the dimensions is too large",
    "plane-digest": "tensor b: offset 100: the codes do not match their digest",
    "plane-too-long": "tensor b: offset 801: codes has 20 bytes, f32 of 4 has 16",
    "prologue-cut-short": "prologue: offset 63: the file has 63 bytes, too few for an .afmw file",
    "prologue-digest": "prologue: offset 0: the prologue does not match its digest",
    "required-feature": "prologue: offset 16: required feature bit 5 is not supported",
    "reserved-field": "tensor b: offset 787: a reserved field is 1 instead of 0",
    "section-twice": "index: offset 921: a second section HEAD",
    "seek-table-differs": "seek table: offset 945: differs from the frame table",
    "token-of-unknown-kind": "section TOKN: offset 610: token 1 has the unknown kind 9",
    "token-outside-the-vocabulary": "section TOKN: offset 609: merge 0 of tokens 0 and 2 of 2",
    "two-billion-frames":
      "section FRAM: offset 841: the frame count is 2147483648, at most 3 is possible",
    "two-billion-tensors":
      "section TENS: offset 665: the tensor count is 2147483648, at most 4 is possible",
    "unknown-critical-section": "index: offset 921: the critical section ABCD is unknown",
    "unknown-format": "tensor b: offset 769: format 999 is unknown",
    "unknown-layout": "tensor b: offset 771: layout 77 is unknown",
    "version-2": "prologue: offset 12: version 2 is not supported; this reader knows 1",
  ]

  private static let folder = Repository.fixture("malformed")

  @Test(arguments: errors.keys.sorted())
  func isRefusedInOneLine(name: String) throws {
    let path = Self.folder.appendingPathComponent("\(name).afmw").path
    let error = #expect(throws: InputError.self) {
      try AFMWFile(opening: path).verify(threads: 1)
    }
    let found = error?.description ?? ""
    #expect(found == "\(path): \(Self.errors[name] ?? "")")
  }

  @Test func everyFixtureHasItsError() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    let containers = names.filter { $0.hasSuffix(".afmw") }.map { String($0.dropLast(5)) }
    #expect(containers.sorted() == Self.errors.keys.sorted())
  }
}
