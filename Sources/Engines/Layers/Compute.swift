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

  /// The names of the kernels that those matrices run on, and of those that all models do.
  func kernelNames(of matrices: [Linear]) -> [String] {
    var names: [String] = []
    for format in formats(of: matrices) {
      for kernel in library.productKernels(of: format) where !names.contains(kernel.name) {
        names.append(kernel.name)
      }
      if format == .f32, let openBLAS { names.append("openblas_sgemm_\(openBLAS.coreType)") }
    }
    return names + vectors.kernelNames.filter { !names.contains($0) }
  }

  /// The instruction sets that the products of those matrices are compiled for, that of most
  /// weights first: `avx512vnni`, or `avx2 + avx512vnni` where a format has no kernel of the level.
  func instructionSets(of matrices: [Linear]) -> String {
    var levels: [String] = []
    for format in formats(of: matrices) {
      for kernel in library.productKernels(of: format).reversed()
      where !levels.contains(kernel.instructionSet.rawValue)
        && !kernel.name.hasPrefix("quantize")
      {
        levels.append(kernel.instructionSet.rawValue)
      }
    }
    return levels.joined(separator: " + ")
  }

  /// The formats of matrices, that of most weights first.
  private func formats(of matrices: [Linear]) -> [WeightFormat] {
    var counts: [WeightFormat: Int] = [:]
    for matrix in matrices { counts[matrix.format, default: 0] += matrix.parameterCount }
    return counts.sorted { ($1.value, $0.key.name) < ($0.value, $1.key.name) }.map(\.key)
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
