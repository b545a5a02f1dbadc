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

  /// Performs every row, in contiguous ranges over the threads; one row stays on the caller. Allocates
  /// nothing.
  @inline(__always)
  func run<Work: RowWork>(_ work: Work, rows count: Int) {
    if count == 1 {
      work.perform(row: 0, thread: 0)
    } else {
      pool.run(RowRanges(work: work, count: count))
    }
  }
}

/// What is done to each row of a step by itself.
protocol RowWork {
  /// `thread` is who performs it, below the pool's number of threads: for working memory.
  func perform(row: Int, thread: Int)
}

private struct RowRanges<Work: RowWork>: ThreadPoolWork {
  let work: Work
  let count: Int

  func perform(part: Int, of partCount: Int, thread: Int) {
    for row in ThreadPool.share(of: count, part: part, partCount: partCount) {
      work.perform(row: row, thread: thread)
    }
  }
}
