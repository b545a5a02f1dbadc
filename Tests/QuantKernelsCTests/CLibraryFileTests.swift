import Foundation
import TestSupport
import Testing

/// The files that tools/build-c-library makes, and programs that use them.
@Suite struct CLibraryFileTests {
  static func run(_ program: String, _ arguments: String...) throws -> String {
    try String(decoding: Oracle.tool(program).run(arguments), as: UTF8.self)
  }

  /// The functions that the header declares.
  static func declared() throws -> Set<String> {
    let header = Repository.file("Sources/CQuantKernels/include/afm_kernels.h")
    let text = try String(contentsOf: header, encoding: .utf8)
    return Set(text.matches(of: /\b(afm_[a-z_]+)\(/).map { String($0.1) })
  }

  @Test(.needs(.cLibrary, .tool("readelf")))
  func theSharedLibraryNeedsTheCLibraryAndNothingElse() throws {
    let path = try Oracle.cLibrary.path() + "/lib/libafm_kernels.so"
    let dynamic = try Self.run("readelf", "-dW", path)
    let needed = dynamic.matches(of: /\(NEEDED\).*\[(.*)\]/).map { String($0.1) }
    #expect(needed.contains("libc.so.6"))
    #expect(Set(needed).subtracting(["libc.so.6", "ld-linux-x86-64.so.2"]).isEmpty, "\(needed)")
    #expect(!dynamic.contains("TEXTREL"))
    let segments = try Self.run("readelf", "-lW", path)
    #expect(segments.contains(/GNU_STACK.*\sRW\s/), "an executable stack")
  }

  @Test(.needs(.cLibrary, .tool("nm")))
  func theSharedLibraryExportsTheHeadersFunctionsAlone() throws {
    let path = try Oracle.cLibrary.path() + "/lib/libafm_kernels.so"
    let symbols = try Self.run("nm", "-D", "--defined-only", path)
    let exported = symbols.matches(of: /\ T ([^@\n]+)/).map { String($0.1) }
    #expect(Set(exported) == (try Self.declared()))
    // The others are the name of the version.
    #expect(symbols.split(separator: "\n").count == exported.count + 1)
    // What it takes from libc: no printing, no files, no exit, no locale.
    let undefined = try Self.run("nm", "-D", "--undefined-only", path)
    let taken = Set(undefined.matches(of: /\ U ([^@\n]+)/).map { String($0.1) })
    let allowed: Set = [
      "__errno_location", "__sched_cpucount", "__stack_chk_fail", "clock_gettime", "free", "getpid",
      "madvise", "memcmp", "memcpy", "memmove", "memset", "mmap", "munmap", "posix_memalign",
      "pthread_create", "pthread_join", "pthread_sigmask", "sched_getaffinity", "sched_setaffinity",
      "sigdelset", "sigfillset", "syscall",
    ]
    #expect(taken.isSubset(of: allowed), "\(taken.subtracting(allowed))")
  }

  @Test(.needs(.cLibrary, .tool("nm")))
  func theStaticLibraryDefinesTheHeadersFunctionsAlone() throws {
    let path = try Oracle.cLibrary.path() + "/lib/libafm_kernels.a"
    let symbols = try Self.run("nm", "-g", "--defined-only", path)
    let defined = symbols.matches(of: /[0-9a-f]\ [A-Z] (.+)/).map { String($0.1) }
    #expect(Set(defined) == (try Self.declared()))
  }

  /// The levels whose kernels the example has named.
  static func levels(_ output: String) -> Set<String> {
    Set(output.matches(of: /_(portable|avx2|avx2vnni|avx512vnni) +\d+ token/).map { String($0.1) })
  }

  @Test(.needs(.cLibrary, .tool("cc"))) func theCExampleRunsWithBothLibraries() throws {
    let folder = try Oracle.cLibrary.path()
    let scratch = try TemporaryFolder()
    let source = Repository.file("Documentation/Examples/packed_product.c").path
    let flags = [
      "-std=c11", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I\(folder)/include",
      source,
    ]
    _ = try Oracle.tool("cc").run(
      flags + ["\(folder)/lib/libafm_kernels.a", "-o", scratch.file("static")])
    _ = try Oracle.tool("cc").run(
      flags + [
        "-L\(folder)/lib", "-lafm_kernels", "-Wl,-rpath,\(folder)/lib", "-o",
        scratch.file("shared"),
      ])
    for name in ["static", "shared"] {
      let result = try Program.run(scratch.file(name), [])
      #expect(result.status == 0, "\(name): \(result)")
      #expect(result.outputText.hasSuffix("all right\n"), "\(name): \(result)")
      #expect(Self.levels(result.outputText).contains("portable"))
    }
    // One program for old and new CPUs: what it picks is what they have.
    guard let emulator = try? Oracle.tool("qemu-x86_64").path() else {
      if Oracle.mustRun { Issue.record("no qemu-x86_64 on PATH") }
      return
    }
    for (cpu, expected) in [
      ("Nehalem", ["portable"]), ("Haswell", ["portable", "avx2"]),
    ] as [(String, Set<String>)] {
      let result = try Program.run(emulator, ["-cpu", cpu, scratch.file("static")], seconds: 600)
      #expect(result.status == 0 && result.outputText.hasSuffix("all right\n"), "\(cpu)")
      #expect(Self.levels(result.outputText) == expected, "\(cpu)")
    }
  }

  @Test(.needs(.cLibrary, .tool("c++"))) func theHeaderIsAHeaderOfCPlusPlusToo() throws {
    let folder = try Oracle.cLibrary.path()
    let scratch = try TemporaryFolder()
    let source = scratch.file("main.cpp")
    try "#include \"afm_kernels.h\"\nint main() { return afm_version() == AFM_VERSION ? 0 : 1; }\n"
      .write(toFile: source, atomically: true, encoding: .utf8)
    _ = try Oracle.tool("c++").run([
      "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I\(folder)/include", source,
      "\(folder)/lib/libafm_kernels.a", "-o", scratch.file("program"),
    ])
    #expect(try Program.run(scratch.file("program"), []).status == 0)
  }

  @Test(.needs(.cLibrary, .python)) func thePythonExampleRuns() throws {
    let output = try Oracle.python.run([
      Repository.file("Documentation/Examples/packed_product.py").path,
      Oracle.cLibrary.path() + "/lib/libafm_kernels.so",
    ])
    let text = String(decoding: output, as: UTF8.self)
    #expect(text.hasPrefix("portable") && text.hasSuffix("all right\n"), "\(text)")
  }
}
