import KernelChecks
import KernelContract
import KernelReference
import PackedFormats
import QuantKernels
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The public way from canonical planes and f32 activations to f32 results.
struct KernelLibraryTests {
  static let levels = InstructionSet.available(on: CPUFeatures.detect())
  static let formats = WeightFormat.allCases.filter(PackedMatrix.supports)

  /// Values with their own sign and size a token.
  static func values(_ tokens: Int, _ columns: Int, seed: UInt64) -> [Float] {
    var random = SeededGenerator(seed: seed)
    return (0..<tokens * columns).map { i in
      Float(Int64(bitPattern: random.next()) >> 40) * 0x1p-23 * Float(i / columns + 1)
    }
  }

  @Test(arguments: levels, formats)
  func allLevelsAndThreadCountsGiveTheReference(
    _ level: InstructionSet, _ format: WeightFormat
  ) throws {
    let library = try KernelLibrary(forcing: level)
    for (rows, columns, tokens) in [(1, 1, 1), (257, 129, 1), (65, 257, 3), (95, 96, 14)] {
      let data = try ProductData(
        ProductCase(
          format: format, rows: rows, columns: columns, tokens: 1, fill: .random, seed: 7))
      let input = Self.values(tokens, columns, seed: 8)
      var expected: [Float] = []
      for t in 0..<tokens {
        let token = QuantizedToken(
          Array(input[t * columns..<(t + 1) * columns]), .required(by: format))
        expected += (0..<rows).map { data.reference.multiply(row: $0, token) }
      }
      for threads in 1...3 {
        let pool = ThreadPool(threadCount: threads, allowOversubscription: true)
        #expect(pool.threadCount == threads)
        let activations = Activations(
          tokenCapacity: tokens, columnCapacity: columns, threadCapacity: threads)
        activations.quantize(
          input.span, tokenCount: tokens, columnCount: columns, for: .required(by: format),
          using: library, pool: pool)
        var output = [Float](repeating: .nan, count: tokens * rows)
        var span = output.mutableSpan
        library.multiply(data.matrix, activations, into: &span, pool: pool)
        #expect(
          output.map(\.bitPattern) == expected.map(\.bitPattern),
          "\(level) \(format) \(rows)x\(columns) tokens \(tokens) threads \(threads) seeds 7, 8")
      }
    }
  }

  @Test(arguments: levels, formats)
  func notANumberSpoilsItsTokenAndNoOther(
    _ level: InstructionSet, _ format: WeightFormat
  ) throws {
    let library = try KernelLibrary(forcing: level)
    let (rows, columns, tokens) = (20, 70, 7)
    let data = try ProductData(
      ProductCase(format: format, rows: rows, columns: columns, tokens: 1, fill: .random, seed: 3))
    let pool = ThreadPool(threadCount: 1)
    for (bad, place) in [(Float.nan, 0), (.infinity, 69), (-.infinity, 33)] {
      var input = Self.values(tokens, columns, seed: 4)
      input[2 * columns + place] = bad
      for i in 5 * columns..<6 * columns { input[i] = 0 }
      for count in [3, tokens] {
        let activations = Activations(tokenCapacity: tokens, columnCapacity: columns)
        activations.quantize(
          input.span.extracting(0..<count * columns), tokenCount: count, columnCount: columns,
          for: .required(by: format), using: library, pool: pool)
        var output = [Float](repeating: 1, count: count * rows)
        var span = output.mutableSpan
        library.multiply(data.matrix, activations, into: &span, pool: pool)
        for (i, value) in output.enumerated() {
          #expect(value.isNaN == (i / rows == 2))
          if i / rows == 5 { #expect(value == 0) }
        }
      }
    }
  }

  @Test func aRangeOfRowsLeavesTheOthersAlone() throws {
    let library = try KernelLibrary()
    let data = try ProductData(
      ProductCase(format: .u4g32, rows: 70, columns: 64, tokens: 1, fill: .random, seed: 5))
    let pool = ThreadPool(threadCount: 1)
    let activations = Activations(tokenCapacity: 1, columnCapacity: 64)
    let input = Self.values(1, 64, seed: 6)
    activations.quantize(
      input.span, tokenCount: 1, columnCount: 64, for: .perChunk, using: library, pool: pool)
    let token = QuantizedToken(input, .perChunk)
    for rows in [0..<16, 16..<48, 48..<70, 0..<70] {
      var output = [Float](repeating: -1, count: 70)
      unsafe output.withUnsafeMutableBufferPointer { buffer in
        // 70 floats for one token of 70 rows.
        guard let base = buffer.baseAddress else { return }
        unsafe library.multiply(data.matrix, activations, into: base, rows: rows, pool: pool)
      }
      for row in 0..<70 {
        let wanted = rows.contains(row) ? data.reference.multiply(row: row, token) : -1
        #expect(output[row] == wanted)
      }
    }
  }

  /// Packed products stay near those of floats: a scale per chunk bounds the error by the chunk's
  /// largest magnitude, where one per token would by the token's.
  @Test(arguments: formats)
  func anOutlierSpoilsItsOwnChunkOnly(_ format: WeightFormat) throws {
    let library = try KernelLibrary()
    let (rows, columns) = (16, 512)
    let data = try ProductData(
      ProductCase(format: format, rows: rows, columns: columns, tokens: 1, fill: .random, seed: 12))
    var input = Self.values(1, columns, seed: 13)
    input[5] = 1000
    let pool = ThreadPool(threadCount: 1)
    let activations = Activations(tokenCapacity: 1, columnCapacity: columns)
    let grouping = ActivationGrouping.required(by: format)
    activations.quantize(
      input.span, tokenCount: 1, columnCount: columns, for: grouping, using: library, pool: pool)
    var output = [Float](repeating: .nan, count: rows)
    var span = output.mutableSpan
    library.multiply(data.matrix, activations, into: &span, pool: pool)
    for row in 0..<rows {
      var sum = 0.0
      // Half a step of each activation, times its weight.
      var tolerance = 0.001
      for column in 0..<columns {
        let value = Double(data.reference.value(row: row, column: column))
        let isSpoilt = grouping == .perToken || column < grouping.chunkColumns
        sum += value * Double(input[column])
        tolerance += abs(value) * (isSpoilt ? 1000 : 1) * 0.5001 / 127
      }
      #expect(abs(Double(output[row]) - sum) <= tolerance, "row \(row), seeds 12, 13")
    }
  }

  /// The one test that writes the environment, and no other reads this variable.
  @Test func theEnvironmentForcesALevel() throws {
    // The strings are constants; setenv copies them.
    defer { _ = unsafe unsetenv("AFM_ISA") }
    for level in Self.levels {
      _ = unsafe setenv("AFM_ISA", level.rawValue, 1)
      let library = try KernelLibrary.fromEnvironment()
      #expect(library.instructionSet == level)
      #expect(Self.areOf(level, library.selectedKernelNames))
    }
    for level in InstructionSet.allCases where !Self.levels.contains(level) {
      _ = unsafe setenv("AFM_ISA", level.rawValue, 1)
      #expect(throws: SelectionError.unavailable(level, available: Self.levels)) {
        try KernelLibrary.fromEnvironment()
      }
    }
    _ = unsafe setenv("AFM_ISA", "sse9", 1)
    #expect(throws: SelectionError.unknownName("sse9")) { try KernelLibrary.fromEnvironment() }
    for value in ["", nil] {
      if let value {
        _ = unsafe setenv("AFM_ISA", value, 1)
      } else {
        _ = unsafe unsetenv("AFM_ISA")
      }
      #expect(try KernelLibrary.fromEnvironment().instructionSet == Self.levels.max())
    }
  }

  /// Whether all names are a level's, but for kernels over ASTC on a CPU without the byte operations
  /// that those of AVX-512 need, and for what AVX-VNNI does not make faster than AVX2.
  static func areOf(_ level: InstructionSet, _ names: [String]) -> Bool {
    let hasBytes = CPUFeatures.detect().isSuperset(of: [.avx512vbmi, .avx512vbmi2])
    return names.allSatisfy { name in
      name.hasSuffix("_\(level.rawValue)")
        || level == .avx512vnni && !hasBytes && name.contains("_astc6x6")
        || level == .avx2vnni && name.hasSuffix("_avx2")
          && (name.contains("_astc6x6") || name.hasPrefix("quantize"))
    }
  }

  @Test func whatIsForcedIsWhatIsChosen() throws {
    for level in InstructionSet.allCases {
      if Self.levels.contains(level) {
        let library = try KernelLibrary(forcing: level)
        #expect(library.instructionSet == level)
        #expect(Self.areOf(level, library.selectedKernelNames))
      } else {
        #expect(throws: SelectionError.unavailable(level, available: Self.levels)) {
          try KernelLibrary(forcing: level)
        }
      }
    }
    #expect(try KernelLibrary().instructionSet == Self.levels.max())
  }
}
