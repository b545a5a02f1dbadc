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
    forEachRowWithRoom(count) { row, _ in body(row) }
  }

  /// Likewise, with the range's index, below the number of threads, for scratch of its own. One row
  /// stays on the caller.
  @inline(__always)
  func forEachRowWithRoom(_ count: Int, _ body: (_ row: Int, _ room: Int) -> Void) {
    if count == 1 {
      body(0, 0)
      return
    }
    pool.runRanges(count) { rows, index in
      for row in rows { body(row, index) }
    }
  }
}
