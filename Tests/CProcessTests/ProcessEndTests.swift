import CFaults
import CProcess
import Foundation
import TestSupport
import Testing

/// How a process with the program's handlers ends: the exit code or signal, the line, and no
/// partial file.
@Suite(.serialized) struct ProcessEndTests {
  struct End: CustomTestStringConvertible, Sendable {
    var way: cf_way
    var status: Int32
    /// What the line says; empty where there is none.
    var says: String
    var testDescription: String { "\(way.rawValue): \(status) \(says)" }
  }

  static let ends: [End] = [
    End(way: CF_NULL_POINTER, status: 4, says: "internal error, please report it: SIGSEGV at 0x10"),
    End(way: CF_TRAP, status: 4, says: "internal error, please report it: SIGILL at 0x"),
    End(way: CF_ABORT, status: 4, says: "internal error, please report it: SIGABRT"),
    End(way: CF_DIVISION, status: 4, says: "internal error, please report it: SIGFPE"),
    End(way: CF_STACK_OVERFLOW, status: 4, says: "out of memory: the stack cannot grow"),
    End(way: CF_SHORTENED_FILE, status: 3, says: "/mapped: cannot read: the file became shorter"),
    End(way: CF_OUT_OF_MEMORY, status: 4, says: "out of memory: the system refused 12345 bytes"),
    End(way: CF_FAULT_OF_A_THREAD, status: 4, says: "internal error, please report it: SIGSEGV"),
    End(way: CF_TIME_LIMIT, status: 4, says: "the limit on processor time is used up"),
    End(way: CF_SIGNAL_OF_ANOTHER, status: -SIGSEGV, says: ""),
    End(way: CF_TERMINATION, status: -SIGTERM, says: ""),
    End(way: CF_QUIT, status: -SIGQUIT, says: ""),
  ]

  @Test(arguments: ends) func endsInOneLine(_ end: End) throws {
    let folder = try TemporaryFolder()
    try Data("partial".utf8).write(to: folder.url("partial"))
    try Data(repeating: 7, count: 4096).write(to: folder.url("mapped"))
    var text = [CChar](repeating: 0, count: 4096)
    // All three outlive the call, which writes at most that many characters and a zero.
    let status = unsafe cf_end_child(
      end.way, folder.file("partial"), folder.file("mapped"), &text, text.count)
    let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    let said = String(decoding: bytes, as: UTF8.self)
    #expect(status == end.status, "\(said)")
    if end.says.isEmpty {
      #expect(said.isEmpty)
    } else {
      #expect(said.hasPrefix("program: ") && said.hasSuffix("\n"), "\(said)")
      #expect(said.contains(end.says), "\(said)")
      #expect(said.split(separator: "\n").count == 1, "\(said)")
    }
    #expect(folder.names == ["mapped"], "the partial file is there")
  }

  @Test func aLibrarysProcessKeepsItsHandlers() {
    // Noting a partial file, as writing a file does, installs nothing.
    let number = unsafe cpr_note_partial("/nowhere/at/all")
    #expect(number >= 0)
    cpr_forget_partial(number)
    #expect(!cpr_is_installed())
  }

  @Test func onlyWhatIsNotedIsKept() {
    #expect(unsafe cpr_note_partial(String(repeating: "x", count: 4096)) == -1)
    var numbers: [Int32] = []
    for _ in 0..<300 {
      let number = unsafe cpr_note_partial("/nowhere/p")
      if number >= 0 { numbers.append(number) }
    }
    #expect(numbers.count == 256)
    for number in numbers { cpr_forget_partial(number) }
  }
}
