import Foundation
import TestSupport
import Testing

/// The Python module that is installed with the C library.
@Suite struct PythonModuleTests {
  /// Runs Python with the module laid out as the wheel has it.
  private func python(_ arguments: [String]) throws -> Program.Result {
    let library = try Oracle.cLibrary.path()
    let folder = try TemporaryFolder()
    let module = folder.file("afm_kernels")
    let files = FileManager.default
    try files.copyItem(atPath: Repository.file("packaging/afm_kernels").path, toPath: module)
    try files.copyItem(
      atPath: "\(library)/lib/libafm_kernels.so", toPath: "\(module)/libafm_kernels.so")
    try files.copyItem(
      atPath: "\(library)/include/afm_kernels.h", toPath: "\(module)/afm_kernels.h")
    return try Program.run(
      try Oracle.tool("python3").path(), arguments,
      environment: ["PYTHONPATH": folder.path, "PYTHONDONTWRITEBYTECODE": "1"])
  }

  @Test(.needs(.cLibrary, .tool("python3"))) func theExampleInItsTextIsRight() throws {
    let result = try python([
      "-c", "import doctest, afm_kernels; r = doctest.testmod(afm_kernels); print(*r)",
    ])
    #expect(result.status == 0, "\(result)")
    // Failures, and how many were tried.
    #expect(result.outputText.contains(/^0 [1-9]/), "\(result)")
  }

  @Test(.needs(.cLibrary, .tool("python3"))) func itTypesEveryFunctionOfTheHeader() throws {
    let program = """
      import ctypes, afm_kernels
      library = afm_kernels.load()
      for name, (result, kind, parameters) in afm_kernels._header.functions.items():
          function = getattr(library, name)
          assert function.argtypes == parameters and function.restype == kind
          print(name, len(parameters))
      """
    let result = try python(["-c", program])
    #expect(result.status == 0, "\(result)")
    let typed = result.outputText.split(separator: "\n").map { line in
      String(line.prefix { $0 != " " })
    }
    #expect(Set(typed) == (try CLibraryFileTests.declared()))
    #expect(typed.count > 20)
  }

  @Test(.needs(.cLibrary, .tool("python3"))) func anErrorIsRaisedWithItsWords() throws {
    let program = """
      import ctypes, afm_kernels
      try:
          afm_kernels.load().afm_matrix_bytes(3, 1, 1, ctypes.byref(ctypes.c_size_t()))
      except afm_kernels.KernelError as error:
          print(error.code == afm_kernels.AFM_ERROR_FORMAT, error)
      """
    let result = try python(["-c", program])
    #expect(result.outputText.hasPrefix("True afm_matrix_bytes: "), "\(result)")
  }

  @Test(.needs(.cLibrary, .tool("python3"))) func itSaysWhereItIs() throws {
    let result = try python(["-m", "afm_kernels"])
    #expect(result.status == 0, "\(result)")
    #expect(result.outputText.contains(/levels: portable/), "\(result)")
    #expect(try python(["-m", "afm_kernels", "--bogus"]).status == 2)
  }
}
