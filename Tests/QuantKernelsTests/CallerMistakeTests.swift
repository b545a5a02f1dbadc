import KernelChecks
import KernelContract
import PackedFormats
import QuantKernels
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Mistakes of a caller end the process before memory is touched. A release build says no reason,
/// but traps: the reasons stand in the preconditions.
struct CallerMistakeTests {
  /// How a precondition ends a process of a release build.
  static var trap: ExitTest.Condition {
    #if arch(x86_64)
      .signal(SIGILL)
    #else
      .signal(SIGTRAP)
    #endif
  }

  /// A product of 40 × 64 with something wrong about it; without, it returns.
  static func multiply(
    columns: Int = 64, capacity: Int = 64, tokens: Int = 1, outputCount: Int? = nil,
    format: WeightFormat = .u4g32, grouping: ActivationGrouping = .perChunk,
    rows: Range<Int>? = nil, stride: Int? = nil, threads: Int = 1
  ) throws {
    let library = try KernelLibrary()
    let matrix = try PackedMatrixGroupTests.matrix(format, rows: 40, columns: 64)
    let pool = ThreadPool(threadCount: threads, allowOversubscription: true)
    let activations = Activations(tokenCapacity: 2, columnCapacity: capacity)
    activations.quantize(
      [Float](repeating: 1, count: tokens * columns).span, tokenCount: tokens,
      columnCount: columns, for: grouping, using: library, pool: ThreadPool(threadCount: 1))
    var output = [Float](repeating: 0, count: outputCount ?? tokens * 40)
    if rows == nil && stride == nil {
      var span = output.mutableSpan
      library.multiply(matrix, activations, into: &span, pool: pool)
      return
    }
    unsafe output.withUnsafeMutableBufferPointer { buffer in
      // Never empty, and as long as one token needs.
      guard let base = buffer.baseAddress else { return }
      unsafe library.multiply(
        matrix, activations, into: base, outputStride: stride, rows: rows, pool: pool)
    }
  }

  @Test func withoutAMistakeTheCallReturns() async {
    await #expect(processExitsWith: .success) { try Self.multiply() }
    await #expect(processExitsWith: .success) { try Self.multiply(rows: 16..<40) }
  }

  @Test func shapesThatDoNotFitTrap() async {
    await #expect(processExitsWith: Self.trap) { try Self.multiply(columns: 63) }
    await #expect(processExitsWith: Self.trap) { try Self.multiply(columns: 65) }
    await #expect(processExitsWith: Self.trap) { try Self.multiply(tokens: 3) }
    await #expect(processExitsWith: Self.trap) { try Self.multiply(outputCount: 39) }
    await #expect(processExitsWith: Self.trap) { try Self.multiply(stride: 39) }
  }

  @Test func rowsThatAreNoTilesTrap() async {
    await #expect(processExitsWith: Self.trap) { try Self.multiply(rows: 1..<40) }
    await #expect(processExitsWith: Self.trap) { try Self.multiply(rows: 0..<39) }
    await #expect(processExitsWith: Self.trap) { try Self.multiply(rows: 0..<48) }
    await #expect(processExitsWith: Self.trap) { try Self.multiply(rows: -16..<16) }
  }

  @Test func activationsForOtherKernelsTrap() async {
    await #expect(processExitsWith: Self.trap) { try Self.multiply(grouping: .perToken) }
    await #expect(processExitsWith: Self.trap) {
      try Self.multiply(tokens: 2, threads: 2)
    }
  }

  @Test func sizesOutsideTheLimitsTrap() async {
    await #expect(processExitsWith: Self.trap) {
      _ = Activations(tokenCapacity: 0, columnCapacity: 1)
    }
    await #expect(processExitsWith: Self.trap) {
      _ = Activations(tokenCapacity: 1, columnCapacity: PackedMatrix.columnLimit + 1)
    }
    await #expect(processExitsWith: Self.trap) {
      _ = Activations(tokenCapacity: Int.max, columnCapacity: 1)
    }
    await #expect(processExitsWith: Self.trap) {
      ThreadPool(threadCount: 1).run(Nothing(), partsPerThread: 0)
    }
    await #expect(processExitsWith: Self.trap) {
      let matrix = try PackedMatrixGroupTests.matrix(.s8c, rows: 4, columns: 64)
      var output = [Float](repeating: 0, count: 63)
      var span = output.mutableSpan
      matrix.dequantizeRow(3, into: &span)
    }
  }

  @Test func groupsThatDoNotFitTrap() async {
    await #expect(processExitsWith: Self.trap) {
      _ = PackedMatrixGroup([], library: try KernelLibrary())
    }
    await #expect(processExitsWith: Self.trap) {
      let matrices = try [64, 65].map {
        try PackedMatrixGroupTests.matrix(.u2c, rows: 16, columns: $0)
      }
      _ = PackedMatrixGroup(matrices, library: try KernelLibrary())
    }
    await #expect(processExitsWith: Self.trap) {
      let matrices = try [WeightFormat.u2c, .u4g32].map {
        try PackedMatrixGroupTests.matrix($0, rows: 16, columns: 64)
      }
      _ = PackedMatrixGroup(matrices, library: try KernelLibrary())
    }
    await #expect(processExitsWith: Self.trap) {
      let matrices = try [16, 17].map {
        try PackedMatrixGroupTests.matrix(.u2c, rows: $0, columns: 64)
      }
      _ = PackedMatrixGroup(matrices, arrangement: .paired, library: try KernelLibrary())
    }
  }

  private struct Nothing: ThreadPoolWork {
    func perform(part: Int, of partCount: Int, thread: Int) {}
  }
}
