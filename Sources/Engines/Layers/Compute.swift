import FloatBaseline
import KernelContract
import PackedFormats
import QuantKernels

/// What an engine computes with: the selected kernels and the threads they run on.
final class Compute: Sendable {
  let library: KernelLibrary
  let vectors: VectorKernels
  let pool: ThreadPool
  /// The f32 baseline, where the system has it; without it our own f32 kernels run.
  let openBLAS: OpenBLAS?

  init(library: KernelLibrary, pool: ThreadPool) {
    self.library = library
    vectors = VectorKernels(library)
    self.pool = pool
    openBLAS = try? OpenBLAS(for: library.instructionSet)
  }

  /// The names of the kernels that matrices of those formats run on, and of those that all do.
  func kernelNames(for formats: Set<WeightFormat>) -> [String] {
    let products = library.selectedKernelNames.filter { name in
      name.hasPrefix("quantize") || formats.contains { name.contains("_\($0.name)_") }
    }
    return products + vectors.kernelNames
  }

  /// Calls `body` with every row, rows in contiguous ranges over the threads.
  @inline(__always)
  func forEachRow(_ count: Int, _ body: (_ row: Int) -> Void) {
    forEachRowWithThread(count) { row, _ in body(row) }
  }

  /// Likewise, with the thread's index, for scratch of its own. Few rows stay on the caller.
  @inline(__always)
  func forEachRowWithThread(_ count: Int, _ body: (_ row: Int, _ thread: Int) -> Void) {
    if count == 1 {
      body(0, 0)
      return
    }
    pool.run { thread, threadCount in
      let first = count * thread / threadCount
      let end = count * (thread + 1) / threadCount
      for row in first..<end { body(row, thread) }
    }
  }
}
