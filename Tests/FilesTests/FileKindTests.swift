import Files
import Foundation
import TestSupport
import Testing

@Suite struct FileKindTests {
  private func kind(_ bytes: [UInt8], byteCount: Int? = nil) -> FileKind {
    FileKind(head: bytes, byteCount: byteCount ?? bytes.count)
  }

  private func kind(_ text: String) -> FileKind { kind(Array(text.utf8)) }

  @Test func magics() {
    #expect(kind("GGUF\u{3}\0\0\0") == .gguf)
    #expect(kind("tjgg") == .ggml)
    #expect(kind([0x50, 0x2A, 0x4D, 0x18, 56, 0, 0, 0] + Array("AFMW".utf8)) == .container)
    #expect(kind("AFMTRACE\u{1}") == .recording)
    #expect(kind([0x13, 0xAB, 0xA1, 0x5C, 6, 6, 1]) == .astcImage)
    #expect(kind([0x1F, 0x8B, 8]) == .gzip)
    #expect(kind([0x7F] + Array("ELF".utf8)) == .executable)
    #expect(kind([0x93] + Array("NUMPY".utf8)) == .numPy)
    #expect(kind("SQLite format 3\0") == .sqlite)
    #expect(kind("version https://git-lfs.github.com/spec/v1\n") == .lfsPointer)
    #expect(kind([]) == .empty)
  }

  @Test func checkpointsOfPyTorch() {
    #expect(kind([0x80, 2, 0x8A, 0x0A]) == .pickle)
    #expect(kind("PK\u{3}\u{4}archive/data.pkl") == .pickle)
    #expect(kind("PK\u{3}\u{4}other.txt") == .zip)
  }

  @Test func safetensors() {
    #expect(kind([16, 0, 0, 0, 0, 0, 0, 0] + Array("{\"a\":{}}".utf8)) == .safetensors)
    // Eight letters are no length.
    #expect(kind("abcdefgh{") == .text)
  }

  @Test func texts() {
    #expect(kind("Why is the sky blue?\n") == .text)
    #expect(kind("für 10 €\r\n\t") == .text)
    #expect(kind("  {\"ids\": [1]}") == .json)
    #expect(kind("[1, 2]") == .json)
    #expect(kind("<!DOCTYPE html><title>404</title>") == .html)
    #expect(
      kind("\n\nA text that begins with line ends, and is long enough to hold more.") == .text)
    #expect(kind([0x61, 0xFF, 0x62]) == .unknown)
    #expect(kind([0x61, 0, 0x62]) == .unknown)
  }

  @Test func aCharacterThatTheHeadCutsIsText() {
    let long = Array(String(repeating: "€", count: 2_000).utf8)
    for count in 4_090...FileKind.headByteCount {
      #expect(kind(Array(long.prefix(count)), byteCount: long.count) == .text)
    }
    #expect(kind(Array(long.prefix(4_000)), byteCount: 4_000) == .unknown)
  }

  @Test func tracesOfPerfetto() {
    let packet: [UInt8] = [0x0A, 4, 0x08, 0, 0x10, 1]
    #expect(kind(packet + packet + packet) == .perfettoTrace)
    #expect(kind(packet + [0x0B, 0, 1]) == .unknown)
  }

  @Test func filesAndFolders() throws {
    let folder = try TemporaryFolder()
    #expect(FileKind(of: folder.file("absent")) == nil)
    #expect(FileKind(of: folder.path) == .folder(containers: 0))
    for name in ["a.afmw", "b.afmw", "notes.txt"] {
      try Data("text".utf8).write(to: folder.url(name))
    }
    #expect(FileKind(of: folder.file("a.afmw")) == .text)
    #expect(FileKind(of: folder.path) == .folder(containers: 2))
    try Data("{}".utf8).write(to: folder.url("config.json"))
    #expect(FileKind(of: folder.path) == .modelFolder)
    // Devices and pipes are not opened as files.
    #expect(FileKind(of: "/dev/zero") == nil)
  }
}
