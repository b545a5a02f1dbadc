#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A library of the system, loaded while the program runs; the program starts without it too.
@safe
struct SystemLibrary {
  // Never closed: its functions are used until the process ends.
  private let handle: UnsafeMutableRawPointer

  /// Loads the library, or fails where it is not installed.
  init(_ path: String) throws(FloatBaselineError) {
    guard let handle = unsafe dlopen(path, RTLD_NOW | RTLD_LOCAL) else {
      let reason = unsafe dlerror().map { unsafe String(cString: $0) } ?? "no reason given"
      throw .notInstalled(reason)
    }
    unsafe self.handle = handle
  }

  /// The address of a function, whose type the caller knows.
  @unsafe func symbol(_ name: String) throws(FloatBaselineError) -> UnsafeMutableRawPointer {
    guard let address = unsafe dlsym(handle, name) else { throw .missingFunction(name) }
    return unsafe address
  }
}
