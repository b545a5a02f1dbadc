import KernelContract

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// OpenBLAS, loaded at run time: the float baseline that our kernels are measured against.
///
/// It is loaded and not linked because it reads `OPENBLAS_CORETYPE` and `OPENBLAS_NUM_THREADS` once,
/// when its code is loaded, long before a program's own options are parsed. Here the instruction set
/// that was forced decides the core type, so that "avx2" measures OpenBLAS's AVX2 kernels too, and
/// Debian 12's release does not fall back to old kernels on a CPU that it does not know. A value
/// that the user set wins. OpenBLAS computes on the calling thread only; `multiply` splits
/// the rows over the caller's threads.
///
/// One process loads it once: the first instruction set decides, and `coreType` says what runs.
@safe package struct OpenBLAS: Sendable {
  /// The core type that OpenBLAS says it runs, such as "Haswell".
  package let coreType: String
  /// Its own line about its version and build.
  package let configuration: String

  // C's cblas_sgemm and cblas_sgemv: order and transposition are CBLAS's enumerations.
  typealias Gemm =
    @Sendable @convention(c) (
      Int32, Int32, Int32, Int32, Int32, Int32, Float, UnsafePointer<Float>, Int32,
      UnsafePointer<Float>, Int32, Float, UnsafeMutablePointer<Float>, Int32
    ) -> Void
  typealias Gemv =
    @Sendable @convention(c) (
      Int32, Int32, Int32, Int32, Float, UnsafePointer<Float>, Int32, UnsafePointer<Float>, Int32,
      Float, UnsafeMutablePointer<Float>, Int32
    ) -> Void

  let gemm: Gemm
  let gemv: Gemv

  /// Loads the library, or fails where it is not installed or lacks a function.
  ///
  /// Changes this process's environment: call it before there are threads that read it.
  package init(
    for level: InstructionSet, path: String = "libopenblas.so.0"
  ) throws(FloatBaselineError) {
    Self.prepareEnvironment(for: level)
    let library = try SystemLibrary(path)
    // The types are those of OpenBLAS's cblas.h, with 32-bit integers, as Debian builds it.
    unsafe gemm = try unsafe unsafeBitCast(library.symbol("cblas_sgemm"), to: Gemm.self)
    unsafe gemv = try unsafe unsafeBitCast(library.symbol("cblas_sgemv"), to: Gemv.self)
    typealias Text = @convention(c) () -> UnsafePointer<CChar>?
    let core = try unsafe unsafeBitCast(library.symbol("openblas_get_corename"), to: Text.self)
    let config = try unsafe unsafeBitCast(library.symbol("openblas_get_config"), to: Text.self)
    coreType = unsafe core().map { unsafe String(cString: $0) } ?? "unknown"
    configuration = unsafe config().map { unsafe String(cString: $0) } ?? "unknown"
  }

  /// Sets what the library reads when it is loaded.
  static func prepareEnvironment(for level: InstructionSet) {
    // 0: what the user has set stays.
    unsafe setenv("OPENBLAS_CORETYPE", coreType(for: level), 0)
    unsafe setenv("OPENBLAS_NUM_THREADS", "1", 1)
  }

  /// The name that OpenBLAS has for the oldest core of a level.
  package static func coreType(for level: InstructionSet) -> String {
    switch level {
    case .portable: "Nehalem"
    case .avx2, .avx2vnni: "Haswell"
    case .avx512vnni: "SkylakeX"
    }
  }
}

/// Why there is no float baseline.
package enum FloatBaselineError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The system has no library of that name; the loader's reason.
  case notInstalled(String)
  /// The library lacks a function that OpenBLAS has.
  case missingFunction(String)

  package var description: String {
    switch self {
    case .notInstalled(let reason): "OpenBLAS is not installed (libopenblas0): \(reason)"
    case .missingFunction(let name): "the OpenBLAS library has no function \(name)"
    }
  }
}
