import KernelChecks
import KernelContract
import PackedFormats
import QuantKernels
import Testing

/// Matrices that run together give the bits that they give alone.
struct PackedMatrixGroupTests {
  /// Formats that read the same activations, with uneven rows.
  static let stacks: [[(WeightFormat, Int)]] = [
    [(.u2c, 576), (.u2c, 192), (.u2c, 192)],
    [(.u4g32, 33), (.s8c, 1), (.u2g64, 257)],
    [(.astc6x6LDR, 40), (.astc6x6HDR, 17)],
    [(.s8c, 16)],
  ]

  static func matrix(_ format: WeightFormat, rows: Int, columns: Int) throws -> PackedMatrix {
    try ProductData(
      ProductCase(
        format: format, rows: rows, columns: columns, tokens: 1, fill: .random,
        seed: UInt64(rows))
    ).matrix
  }

  /// What the matrices give one by one.
  static func alone(
    _ matrices: [PackedMatrix], _ activations: Activations, _ library: KernelLibrary
  ) -> [UInt32] {
    let pool = ThreadPool(threadCount: 1)
    return matrices.flatMap { matrix in
      var output = [Float](repeating: .nan, count: activations.tokenCount * matrix.rowCount)
      var span = output.mutableSpan
      library.multiply(matrix, activations, into: &span, pool: pool)
      return output.map(\.bitPattern)
    }
  }

  static func activations(
    _ tokens: Int, _ columns: Int, for format: WeightFormat, threads: Int,
    _ library: KernelLibrary
  ) -> Activations {
    let activations = Activations(
      tokenCapacity: tokens, columnCapacity: columns, threadCapacity: threads)
    activations.quantize(
      KernelLibraryTests.values(tokens, columns, seed: 21).span, tokenCount: tokens,
      columnCount: columns, for: .required(by: format), using: library,
      pool: ThreadPool(threadCount: 1))
    return activations
  }

  @Test(arguments: KernelLibraryTests.levels, stacks.indices)
  func aStackGivesTheBitsOfItsMatrices(_ level: InstructionSet, _ index: Int) throws {
    let library = try KernelLibrary(forcing: level)
    let columns = 130
    let matrices = try Self.stacks[index].map {
      try Self.matrix($0.0, rows: $0.1, columns: columns)
    }
    let group = PackedMatrixGroup(matrices, library: library)
    #expect(group.rowCount == matrices.reduce(0) { $0 + $1.rowCount })
    for (tokens, threads) in [(1, 1), (1, 3), (2, 2), (14, 3)] {
      let pool = ThreadPool(threadCount: threads, allowOversubscription: true)
      let activations = Self.activations(
        tokens, columns, for: matrices[0].format, threads: threads, library)
      var output = [Float](repeating: .nan, count: tokens * group.rowCount)
      unsafe output.withUnsafeMutableBufferPointer { buffer in
        // tokens × all rows; never empty.
        if let base = buffer.baseAddress {
          unsafe group.multiply(activations, into: base, pool: pool)
        }
      }
      #expect(
        output.map(\.bitPattern) == Self.alone(matrices, activations, library),
        "\(tokens) tokens, \(threads) threads, seed 21")
    }
  }

  /// Adds what it is called for to a count of every row; every output was written by then.
  @safe private struct CountedRows: ProductEpilogue {
    let output: UnsafePointer<Float>
    let counts: UnsafeMutablePointer<Float>
    let rows: Int
    let tokens: Int

    func finish(_ range: Range<Int>, of matrices: Range<Int>) {
      for matrix in matrices {
        for row in range {
          for token in 0..<tokens {
            // Equally many rows in every matrix.
            let index = (matrix * tokens + token) * rows + row
            unsafe counts[index] += output[index].isNaN ? 100 : 1
          }
        }
      }
    }
  }

  @Test(arguments: [PackedMatrixGroup.Arrangement.stacked, .paired], [1, 2, 3])
  func theEpilogueSeesEveryRowOnceAndAfterItsProduct(
    _ arrangement: PackedMatrixGroup.Arrangement, _ threads: Int
  ) throws {
    let library = try KernelLibrary()
    let (rows, columns) = (150, 576)
    let matrices = try (0..<2).map { _ in try Self.matrix(.u2c, rows: rows, columns: columns) }
    let group = PackedMatrixGroup(matrices, arrangement: arrangement, library: library)
    let pool = ThreadPool(threadCount: threads, allowOversubscription: true)
    for tokens in [1, 9, 40] {
      let activations = Self.activations(tokens, columns, for: .u2c, threads: threads, library)
      var output = [Float](repeating: .nan, count: tokens * group.rowCount)
      var counts = [Float](repeating: 0, count: output.count)
      unsafe output.withUnsafeMutableBufferPointer { output in
        unsafe counts.withUnsafeMutableBufferPointer { counts in
          // tokens × all rows; never empty.
          guard let base = output.baseAddress, let countBase = counts.baseAddress else { return }
          let epilogue = unsafe CountedRows(
            output: base, counts: countBase, rows: rows, tokens: tokens)
          unsafe group.multiply(activations, into: base, finishing: epilogue, pool: pool)
        }
      }
      #expect(counts.allSatisfy { $0 == 1 }, "\(tokens) tokens")
      #expect(output.map(\.bitPattern) == Self.alone(matrices, activations, library))
    }
  }

  /// A NaN in the activations reaches all rows of all matrices.
  @Test func notANumberSpoilsTheWholeGroup() throws {
    let library = try KernelLibrary()
    let matrices = try [20, 50].map { try Self.matrix(.u4g32, rows: $0, columns: 70) }
    let group = PackedMatrixGroup(matrices, library: library)
    let pool = ThreadPool(threadCount: 1)
    var input = KernelLibraryTests.values(1, 70, seed: 5)
    input[69] = .infinity
    let activations = Activations(tokenCapacity: 1, columnCapacity: 70)
    activations.quantize(
      input.span, tokenCount: 1, columnCount: 70, for: .perChunk, using: library, pool: pool)
    var output = [Float](repeating: 1, count: group.rowCount)
    unsafe output.withUnsafeMutableBufferPointer { buffer in
      if let base = buffer.baseAddress {
        unsafe group.multiply(activations, into: base, pool: pool)
      }
    }
    #expect(output.allSatisfy { $0.isNaN })
  }
}
