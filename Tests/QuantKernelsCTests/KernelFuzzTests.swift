import Foundation
import TestSupport
import Testing

/// Some cases of the program that runs the C library's kernels on damaged memory; thousands of
/// them a kernel are a command away.
@Suite struct KernelFuzzTests {
  static let program = URL(fileURLWithPath: Program.path).deletingLastPathComponent()
    .appendingPathComponent("kernel-fuzz").path

  private func expectCleanRun(_ arguments: [String]) throws {
    let seed = ProcessInfo.processInfo.environment["AFM_FUZZ_SEED"] ?? "1"
    let result = try Program.run(
      Self.program, ["--cases", "150", "--seed", seed] + arguments, seconds: 300)
    #expect(result.status == 0, "\(result)")
    let lines = result.outputText.split(separator: "\n")
    // Eight formats a level.
    #expect(lines.count { $0.hasPrefix("portable ") && $0.contains(": 150 memories, ") } == 8)
    #expect(lines.last == "every call ended inside of its memory")
  }

  @Test func kernelsEndInsideOfDamagedMemory() throws { try expectCleanRun([]) }

  @Test(.needs(.cLibrary)) func soDoThoseOfTheSharedLibrary() throws {
    let folder = try Oracle.cLibrary.path()
    try expectCleanRun(["--library", folder + "/lib/libafm_kernels.so"])
  }

  @Test func argumentsAreChecked() throws {
    for arguments in [
      ["--cases", "0"], ["--cases"], ["--level", "sse9"], ["--format", "f32"], ["--what", "1"],
    ] {
      #expect(try Program.run(Self.program, arguments).status == 2, "\(arguments)")
    }
    #expect(try Program.run(Self.program, ["--library", "/nowhere.so"]).status == 4)
  }
}
