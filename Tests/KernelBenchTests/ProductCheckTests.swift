import KernelBench
import KernelContract
import PackedFormats
import QuantKernels
import Testing

/// The guard that holds measured products against their dequantized weights.
@Suite struct ProductCheckTests {
  static let formats = WeightFormat.allCases.filter(PackedMatrix.supports)

  @Test(arguments: formats, [1, 5])
  func everyProductIsWithinTheTolerance(_ format: WeightFormat, _ tokens: Int) throws {
    let platform = KernelPlatform(library: try KernelLibrary(), pool: ThreadPool(threadCount: 1))
    let runner = try KernelBenchmark(on: platform, repetitions: 1, lastCacheByteCount: nil)
      .product(
        of: KernelCase(
          operation: tokens == 1 ? .gemv : .gemm, weights: format, rows: 50, columns: 300,
          tokens: tokens, place: .cache),
        quantizes: true)
    let error = try #require(runner.relativeError())
    #expect(error <= ProductCheck.tolerance && error > 0)
  }

  @Test func whatIsWrongIsSeen() {
    let shape = ProductShape(rows: 2, columns: 2)
    let input: [Float] = [1, 2]
    func error(_ output: [Float]) -> Double {
      ProductCheck.relativeError(of: shape, tokens: 1, input: input.span, output: output.span) {
        row, values in
        values[0] = row == 0 ? 1 : 3
        values[1] = 1
      }
    }
    #expect(error([3, 5]) == 0)
    #expect(error([3, 5.5]) > ProductCheck.tolerance)
    #expect(error([3, .nan]).isNaN)
  }

  @Test func shapesAreRead() {
    #expect(ProductShape("48x100") == ProductShape(rows: 48, columns: 100))
    for text in ["48", "48x", "0x4", "4x4x4", "-1x4", "1048577x1", "1048576x131072", "4y4"] {
      #expect(ProductShape(text) == nil, "\(text)")
    }
  }
}
