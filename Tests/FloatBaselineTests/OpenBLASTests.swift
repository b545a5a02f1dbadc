import FloatBaseline
import KernelContract
import KernelReference
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// OpenBLAS where it is installed; continuous integration installs it.
@Suite(.serialized) struct OpenBLASTests {
  static let isInstalled = (try? OpenBLAS(for: .portable)) != nil
  static let mayRun: ConditionTrait = .needs(
    Oracle(
      location: isInstalled ? "libopenblas.so.0" : nil,
      missing: "OpenBLAS (libopenblas0) is not installed"))

  /// The whole range in one part.
  static func alone(_ count: Int, _ body: (Range<Int>) -> Void) { body(0..<count) }

  /// Three parts, as three threads would get them.
  static func inThree(_ count: Int, _ body: (Range<Int>) -> Void) {
    for part in 0..<3 where part * count / 3 < (part + 1) * count / 3 {
      body(part * count / 3..<(part + 1) * count / 3)
    }
  }

  @Test(mayRun, arguments: [(1, 1, 1), (1, 37, 65), (2, 16, 16), (5, 100, 576), (33, 49, 130)])
  func productsAreThoseOfTheFormula(tokens: Int, rows: Int, columns: Int) throws {
    let blas = try OpenBLAS(for: .portable)
    var generator = SeededGenerator(seed: UInt64(tokens * 1000 + rows))
    let w = (0..<rows * columns).map { _ in Float.random(in: -1...1, using: &generator) }
    let x = (0..<tokens * columns).map { _ in Float.random(in: -1...1, using: &generator) }
    for runner in [Self.alone, Self.inThree] {
      var y = [Float](repeating: 7, count: tokens * (rows + 1))
      // The arrays have the counts and strides that the call names.
      unsafe blas.multiply(
        weights: w, rows: rows, columns: columns, activations: x, activationStride: columns,
        tokens: tokens, output: &y, outputStride: rows + 1, runner: runner)
      for token in 0..<tokens {
        for row in 0..<rows {
          let (sum, magnitude) = FloatReference.dot(
            Array(w[row * columns..<(row + 1) * columns]),
            Array(x[token * columns..<(token + 1) * columns]))
          let difference = abs(Double(y[token * (rows + 1) + row]) - sum)
          #expect(difference <= Double(columns) * 0x1p-24 * magnitude)
        }
        #expect(y[token * (rows + 1) + rows] == 7)
      }
    }
  }

  @Test(mayRun) func theForcedInstructionSetDecidesTheCoreType() throws {
    // The first load of this process is for the portable level, unless the user chose a core.
    let blas = try OpenBLAS(for: .portable)
    let chosen = unsafe getenv("OPENBLAS_CORETYPE").map { unsafe String(cString: $0) }
    #expect(blas.coreType == chosen)
  }

  @Test func aMissingLibraryIsATypedError() {
    #expect(throws: FloatBaselineError.self) {
      try OpenBLAS(for: .portable, path: "libno-such-library.so.0")
    }
  }

  @Test(mayRun) func aLibraryOfAnotherKindIsATypedError() {
    #expect(throws: FloatBaselineError.missingFunction("cblas_sgemm")) {
      try OpenBLAS(for: .portable, path: "libc.so.6")
    }
  }
}
