import Files
import Foundation
import Testing

/// A folder that goes away with the test.
struct ScratchFolder: ~Copyable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "files-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func path(_ name: String) -> String { url.appending(path: name).path }
  var entries: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: url.path).sorted()) ?? []
  }
}

func append(_ bytes: [UInt8], to file: inout OutputFile) throws(FileError) {
  let span = bytes.span
  // Bytes have no padding.
  try unsafe file.append(span.bytes)
}

@Suite struct OutputFileTests {
  @Test(arguments: [true, false])
  func appearsWholeAtCommit(anonymous: Bool) throws {
    let folder = try ScratchFolder()
    var file = try OutputFile(creating: folder.path("out"), anonymous: anonymous)
    try append([1, 2, 3], to: &file)
    try append([4], to: &file)
    let zero: [UInt8] = [9]
    try unsafe file.write(zero.span.bytes, at: 0)
    #expect(file.byteCount == 4)
    #expect(!folder.entries.contains("out"))
    // What the system frees by itself has no name that SIGKILL could leave behind.
    if anonymous { #expect(folder.entries.isEmpty) }
    try file.commit(synchronize: true)
    #expect(folder.entries == ["out"])
    #expect(try Data(contentsOf: URL(filePath: folder.path("out"))) == Data([9, 2, 3, 4]))
  }

  @Test(arguments: [true, false])
  func replacesWhatIsThereOnlyAtCommit(anonymous: Bool) throws {
    let folder = try ScratchFolder()
    try Data("old".utf8).write(to: URL(filePath: folder.path("out")))
    var file = try OutputFile(creating: folder.path("out"), anonymous: anonymous)
    try append(Array("new".utf8), to: &file)
    #expect(try String(contentsOfFile: folder.path("out"), encoding: .utf8) == "old")
    try file.commit()
    #expect(try String(contentsOfFile: folder.path("out"), encoding: .utf8) == "new")
    #expect(folder.entries == ["out"])
  }

  @Test(arguments: [true, false])
  func leavesNothingWithoutCommit(anonymous: Bool) throws {
    let folder = try ScratchFolder()
    func interrupted() throws {
      var file = try OutputFile(creating: folder.path("out"), anonymous: anonymous)
      try append([1, 2, 3], to: &file)
    }
    try interrupted()
    #expect(folder.entries.isEmpty)
  }

  @Test(arguments: [true, false])
  func leavesNothingWhenAWriteFails(anonymous: Bool) throws {
    let folder = try ScratchFolder()
    func tooLarge() throws {
      var file = try OutputFile(creating: folder.path("out"), anonymous: anonymous)
      let bytes: [UInt8] = [1]
      // Beyond what any file system holds: EFBIG.
      try unsafe file.write(bytes.span.bytes, at: 1 << 62)
    }
    let error = #expect(throws: FileError.self) { try tooLarge() }
    #expect(error?.operation == .write)
    #expect(error?.description.hasPrefix(folder.path("out") + ": cannot write: ") == true)
    #expect(folder.entries.isEmpty)
  }

  @Test func throughALinkReplacesItsTarget() throws {
    let folder = try ScratchFolder()
    try Data("old".utf8).write(to: URL(filePath: folder.path("target")))
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("link"), withDestinationPath: folder.path("target"))
    var file = try OutputFile(creating: folder.path("link"))
    try append(Array("new".utf8), to: &file)
    try file.commit()
    #expect(try String(contentsOfFile: folder.path("target"), encoding: .utf8) == "new")
    #expect(
      try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("link"))
        == folder.path("target"))
  }

  @Test func refusesWhatIsNoFileBeforeAnyWork() throws {
    let folder = try ScratchFolder()
    try Data().write(to: URL(filePath: folder.path("file")))
    func reason(_ path: String) -> FileError.Reason? {
      do {
        _ = try OutputFile(creating: path)
        return nil
      } catch {
        return error.reason
      }
    }
    #expect(reason(folder.url.path) == .isDirectory)
    #expect(reason("/dev/null") == .isNotRegular)
    #expect(reason(folder.path("missing/out")) == .system(ENOENT))
    #expect(reason(folder.path("file/out")) == .system(ENOTDIR))
    #expect(reason("") == .system(ENOENT))
    #expect(reason(folder.path("missing") + "/") == .system(ENOENT))
    #expect(reason("/proc/out") != nil)
    #expect(folder.entries == ["file"])
  }

  @Test func saysWhatFailedInOneLine() {
    let error = FileError(path: "a\nb", operation: .write, reason: .system(ENOSPC))
    #expect(error.description == "a\\nb: cannot write: No space left on device")
  }
}

@Suite struct InputFileTests {
  @Test func readsExactlyWhatIsAskedFor() throws {
    let folder = try ScratchFolder()
    try Data([0, 1, 2, 3, 4]).write(to: URL(filePath: folder.path("in")))
    let file = try InputFile(opening: folder.path("in"))
    #expect(file.byteCount == 5)
    func read(_ offset: Int, _ count: Int) throws(FileError) -> [UInt8] {
      var bytes = [UInt8](repeating: 0xFF, count: count)
      var span = bytes.mutableSpan
      // Any bytes are valid ones.
      var raw = unsafe span.mutableBytes
      try file.read(at: offset, into: &raw)
      return bytes
    }
    #expect(try read(1, 3) == [1, 2, 3])
    #expect(try read(5, 0) == [])
    let error = #expect(throws: FileError.self) { try read(3, 3) }
    #expect(error?.reason == .ended(at: 5))
  }

  @Test func mapsAPage() throws {
    let folder = try ScratchFolder()
    try Data((0..<5000).map { UInt8($0 & 0xFF) }).write(to: URL(filePath: folder.path("in")))
    let file = try InputFile(opening: folder.path("in"))
    let mapping = try FileMapping(of: file, at: 4096, byteCount: 904)
    #expect(unsafe mapping.bytes.unsafeLoad(fromByteOffset: 3, as: UInt8.self) == 3)
    #expect(throws: FileError.self) { _ = try FileMapping(of: file, at: 4096, byteCount: 905) }
  }

  @Test func refusesWhatIsNoFile() throws {
    let folder = try ScratchFolder()
    func reason(_ path: String) -> FileError.Reason? {
      do {
        _ = try InputFile(opening: path)
        return nil
      } catch {
        return error.reason
      }
    }
    #expect(reason(folder.url.path) == .isDirectory)
    #expect(reason("/dev/zero") == .isNotRegular)
    #expect(reason(folder.path("missing")) == .system(ENOENT))
  }
}
