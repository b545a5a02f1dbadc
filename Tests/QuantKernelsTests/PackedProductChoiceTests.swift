import KernelChecks
import KernelContract
import Kernels
import PackedFormats
import QuantKernels
import Testing

/// The table that chooses between GEMV and GEMM: complete, and without influence on results.
@Suite struct PackedProductChoiceTests {
  @Test(arguments: InstructionSet.allCases)
  func everyFamilyOfTheRegistryIsInTheTable(_ level: InstructionSet) {
    let families = Set(KernelRegistry.packedProducts.compactMap(\.weights))
    #expect(families == Set(PackedProductChoice.formats))
    let choice = PackedProductChoice.measured(level)
    for format in WeightFormat.allCases where PackedMatrix.supports(format) {
      #expect(!choice.usesGEMM(format, tokenCount: 1))
      let first = choice[format]
      #expect(first >= 2)
      #expect(choice.usesGEMM(format, tokenCount: first))
      #expect(!choice.usesGEMM(format, tokenCount: first - 1))
      #expect(PackedProductChoice.mayUseGEMM(format, tokenCount: first))
    }
  }

  @Test(arguments: KernelLibraryTests.levels, KernelLibraryTests.formats)
  func resultsDoNotDependOnTheTable(_ level: InstructionSet, _ format: WeightFormat) throws {
    let (rows, columns) = (97, 193)
    let data = try ProductData(
      ProductCase(format: format, rows: rows, columns: columns, tokens: 1, fill: .random, seed: 21))
    let pool = ThreadPool(threadCount: 1)
    for tokens in [1, 2, 5, 9] {
      let activations = Activations(tokenCapacity: tokens, columnCapacity: columns)
      let input = KernelLibraryTests.values(tokens, columns, seed: 22)
      var results: [[UInt32]] = []
      for first in [2, tokens + 1] {
        let library = try KernelLibrary(forcing: level) { level in
          var choice = PackedProductChoice.measured(level)
          choice[format] = first
          return choice
        }
        #expect(library.choice.usesGEMM(format, tokenCount: tokens) == (tokens >= first))
        activations.quantize(
          input.span, tokenCount: tokens, columnCount: columns, for: .required(by: format),
          using: library, pool: pool)
        var output = [Float](repeating: .nan, count: tokens * rows)
        var span = output.mutableSpan
        library.multiply(data.matrix, activations, into: &span, pool: pool)
        results.append(output.map(\.bitPattern))
      }
      #expect(results[0] == results[1], "\(tokens) tokens, seeds 21, 22")
    }
  }

  @Test func textNamesWhatIsReplaced() throws {
    let measured = PackedProductChoice.measured(.avx2)
    #expect(try measured.replacing(measured.text) == measured)
    let replaced = try measured.replacing("u2c=2,s8c=100")
    #expect(replaced[.u2c] == 2 && replaced[.u2t] == 2 && replaced[.s8c] == 100)
    #expect(replaced[.u4g32] == measured[.u4g32])
  }

  @Test(arguments: ["u2c", "u2c=1", "u2c=x", "u3c=4", "f32=4", "u2c=4,", "u2c=4=5", "u2c=99999999"])
  func otherTextsAreRefused(_ text: String) {
    let item = text.split(separator: ",", omittingEmptySubsequences: false).last.map(String.init)
    #expect(throws: SelectionError.unknownChoice(item ?? "")) {
      try PackedProductChoice.measured(.avx2).replacing(text)
    }
  }
}
