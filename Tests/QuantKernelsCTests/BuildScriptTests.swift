import Foundation
import TestSupport
import Testing

/// What tools/build-c-library does to a folder that is somebody else's too.
@Suite struct BuildScriptTests {
  private static let script = Repository.file("tools/build-c-library").path

  /// The library is there already: the script only copies.
  @Test(.needs(.cLibrary)) func aPrefixKeepsWhatIsInIt() throws {
    let folder = try TemporaryFolder()
    let prefix = folder.url("a prefix")
    let files = FileManager.default
    for name in ["lib", "include", "share"] {
      try files.createDirectory(
        at: prefix.appendingPathComponent(name), withIntermediateDirectories: true)
    }
    let mine = [
      "lib/my_other_library.txt", "include/other.h", "share/notes", "README", ".hidden",
      "lib/libafm_kernels.so.old",
    ]
    for name in mine {
      try Data(name.utf8).write(to: prefix.appendingPathComponent(name))
    }
    // A file of an earlier build, by a link that another name shares.
    try Data("old".utf8).write(to: prefix.appendingPathComponent("lib/kept"))
    try files.linkItem(
      at: prefix.appendingPathComponent("lib/kept"),
      to: prefix.appendingPathComponent("lib/libafm_kernels.a"))
    let result = try Program.run(Self.script, [prefix.path], seconds: 900)
    #expect(result.status == 0, "\(result)")
    for name in mine {
      let found = try Data(contentsOf: prefix.appendingPathComponent(name))
      #expect(found == Data(name.utf8), "\(name)")
    }
    #expect(try Data(contentsOf: prefix.appendingPathComponent("lib/kept")) == Data("old".utf8))
    let built = try files.subpathsOfDirectory(atPath: prefix.path).filter {
      let path = prefix.appendingPathComponent($0).path
      let isFile =
        try files.attributesOfItem(atPath: path)[.type] as? FileAttributeType
        == .typeRegular
      return isFile && !mine.contains($0) && $0 != "lib/kept"
    }
    let expected = ["include/afm_kernels.h", "lib/libafm_kernels.a", "lib/libafm_kernels.so"]
    #expect(built.sorted() == expected)
    let library = try Oracle.cLibrary.path()
    for name in expected {
      #expect(
        files.contentsEqual(
          atPath: prefix.appendingPathComponent(name).path, andPath: "\(library)/\(name)"))
    }
  }

  @Test(arguments: [["-h"], ["--help"], ["a", "b"], ["--prefix=x"]])
  func otherArgumentsAreNoFolder(_ arguments: [String]) throws {
    let result = try Program.run(Self.script, arguments)
    #expect(result.status == 2 && result.error.contains("usage: tools/build-c-library"))
  }
}
