import Foundation
import Testing

/// Counts what a thread asks the heap for, between two points of a test.
///
/// A small library that counts stands before the C library's own in a process of its own: the test
/// bundle, run once more for the one test that counts. Two tests make a pair:
///
///     @Test(.needs(.tool("cc"))) func appendingAllocatesNothing() throws {
///       try AllocationCounter.run(test: "appendingIsCounted")
///     }
///
///     @Test(.enabled(if: AllocationCounter.isCounting, "runs in a process that counts"))
///     func appendingIsCounted() throws {
///       let count = try AllocationCounter.count { … }
package enum AllocationCounter {
  struct Failure: Error, CustomStringConvertible { var description: String }

  private static let source = """
    #include <stddef.h>
    extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t);
    extern void *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);
    static __thread long count __attribute__((tls_model("initial-exec")));
    long afm_allocation_count(void) { return count; }
    void *malloc(size_t n) { count += 1; return __libc_malloc(n); }
    void *calloc(size_t a, size_t b) { count += 1; return __libc_calloc(a, b); }
    void *realloc(void *p, size_t n) { count += 1; return __libc_realloc(p, n); }
    void *aligned_alloc(size_t a, size_t n) { count += 1; return __libc_memalign(a, n); }
    void *memalign(size_t a, size_t n) { count += 1; return __libc_memalign(a, n); }
    int posix_memalign(void **p, size_t a, size_t n) {
      count += 1;
      return (*p = __libc_memalign(a, n)) ? 0 : 12;
    }
    """

  /// Whether this is the process that counts.
  package static let isCounting =
    ProcessInfo.processInfo.environment["AFM_COUNTS_ALLOCATIONS"] == "1"

  /// Runs that test of this bundle in a process that counts; throws where it fails there.
  package static func run(test name: String) throws {
    let folder = try TemporaryFolder()
    try Data(source.utf8).write(to: folder.url("count.c"))
    let library = folder.file("count.so")
    let built = try Program.run(
      Oracle.tool("cc").path(), ["-O1", "-shared", "-fPIC", "-o", library, folder.file("count.c")])
    guard built.status == 0 else { throw Failure(description: "\(built)") }
    let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let result = try Program.run(
      bundle, ["--testing-library", "swift-testing", "--filter", name],
      environment: ["AFM_COUNTS_ALLOCATIONS": "1", "LD_PRELOAD": library], seconds: 120)
    // A filter that finds nothing succeeds too.
    let text = result.outputText + result.error
    guard result.status == 0, text.contains("\(name)() passed") else {
      throw Failure(description: "\(result)")
    }
  }

  /// Allocations of this thread while `body` runs.
  package static func count(_ body: () throws -> Void) throws -> Int {
    // The name of the function that the library exports, with its C type.
    guard let symbol = unsafe dlsym(nil, "afm_allocation_count") else {
      throw Failure(description: "nothing counts allocations in this process")
    }
    let counter = unsafe unsafeBitCast(symbol, to: (@convention(c) () -> Int).self)
    let before = counter()
    try body()
    return counter() - before
  }
}
