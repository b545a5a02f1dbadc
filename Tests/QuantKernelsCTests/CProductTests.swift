import CQuantKernels
import Dispatch
import KernelChecks
import KernelContract
import PackedFormats
import QuantKernels
import TestSupport
import Testing

/// The C library against the Swift one: the same bits from the same planes.
@Suite struct CProductTests {
  static let levels = InstructionSet.available(on: CPUFeatures.detect())

  static func number(_ level: InstructionSet) -> afm_level {
    switch level {
    case .portable: afm_level(AFM_LEVEL_PORTABLE)
    case .avx2: afm_level(AFM_LEVEL_AVX2)
    case .avx2vnni: afm_level(AFM_LEVEL_AVX2VNNI)
    case .avx512vnni: afm_level(AFM_LEVEL_AVX512VNNI)
    }
  }

  static func floats(_ count: Int, seed: UInt64) -> [Float] {
    var random = SeededGenerator(seed: seed)
    return (0..<count).map { _ in Float.random(in: -3...3, using: &random) }
  }

  /// What the Swift library makes of planes and tokens.
  static func expected(
    _ planes: CPlanes, _ input: [Float], tokens: Int, at level: InstructionSet
  ) throws -> [Float] {
    let library = try KernelLibrary(forcing: level)
    let pool = ThreadPool(threadCount: 1)
    // Bytes of trivial elements, for the duration of the call.
    let matrix = try unsafe PackedMatrix(
      format: planes.format, rows: planes.rows, columns: planes.columns,
      codes: planes.codes.span.bytes, scales: planes.scales.span.bytes,
      minimums: planes.minimums.span.bytes)
    let activations = Activations(tokenCapacity: tokens, columnCapacity: planes.columns)
    activations.quantize(
      input.span, tokenCount: tokens, columnCount: planes.columns,
      for: .required(by: planes.format), using: library, pool: pool)
    var output = [Float](repeating: .nan, count: tokens * planes.rows)
    var span = output.mutableSpan
    library.multiply(matrix, activations, into: &span, pool: pool)
    return output
  }

  /// One product of the C library; floats lie between guards at addresses that only 4 divides, and
  /// tokens of the output are `gap` floats apart.
  static func product(
    _ c: CLibrary, _ kernels: OpaquePointer, _ pool: OpaquePointer?, _ matrix: CMatrix,
    _ input: [Float], tokens: Int, gap: Int = 0, shares: Int? = nil
  ) throws -> [Float] {
    let (rows, columns) = unsafe (Int(matrix.header.rows), Int(matrix.header.columns))
    let format = try #require(unsafe WeightFormat(rawValue: UInt16(matrix.header.format)))
    let x = CTokens(c, format, tokens, columns)
    let source = GuardedMemory(input)
    let stride = rows + gap
    let output = GuardedMemory([Float](repeating: 7, count: (tokens - 1) * stride + rows))
    let threads = unsafe shares == nil ? c.poolThreads(pool) : 1
    let scratchBytes = c.bytes {
      unsafe c.scratchBytes(x.header.format, Int64(tokens), Int64(columns), threads, $0)
    }
    let scratch = CMemory(scratchBytes)
    try unsafe withUnsafePointer(to: x.header) { header in
      try unsafe withUnsafePointer(to: matrix.header) { matrix in
        if let shares {
          for token in 0..<tokens {
            let error = unsafe c.quantizeTokens(
              kernels, header, Int64(token), Int64(token + 1), source.base, input.count * 4,
              Int64(columns))
            try #require(error == 0)
          }
          for share in 0..<shares {
            var (begin, end) = (Int64(-1), Int64(-1))
            let shareError = unsafe c.shareRows(
              Int64(rows), Int64(share), Int64(shares), &begin, &end)
            try #require(shareError == 0)
            let error = unsafe c.multiplyRows(
              kernels, matrix, header, begin, end, output.base, output.count * 4, Int64(stride),
              scratch.base, scratchBytes)
            try #require(error == 0)
          }
        } else {
          let quantized = unsafe c.quantize(
            kernels, pool, header, source.base, input.count * 4, Int64(columns))
          try #require(quantized == 0)
          let error = unsafe c.multiply(
            kernels, pool, matrix, header, output.base, output.count * 4, Int64(stride),
            scratch.base, scratchBytes)
          try #require(error == 0)
        }
      }
    }
    #expect(output.isIntact && source.isIntact && x.memory.isIntact && scratch.isIntact)
    #expect(matrix.memory.isIntact)
    let values = output.values
    for token in 0..<tokens - 1 {
      let rest = values[token * stride + rows..<(token + 1) * stride]
      #expect(rest.allSatisfy { $0 == 7 }, "floats between the tokens were written")
    }
    return (0..<tokens).flatMap { values[$0 * stride..<$0 * stride + rows] }
  }

  @Test(arguments: CLibrary.builds, levels)
  func productsHaveTheBitsOfTheSwiftLibrary(
    _ build: CLibrary.Build, _ level: InstructionSet
  ) throws {
    let c = try CLibrary(build)
    var pool: OpaquePointer?
    try #require(unsafe c.poolCreate(0, &pool) == 0)
    defer { unsafe c.poolDestroy(pool) }
    try c.withKernels(Self.number(level)) { kernels in
      #expect(unsafe c.level(kernels) == Self.number(level))
      let sizes = [1, 15, 16, 17, 33, 64, 65, 129, 257]
      for format in CPlanes.multiplied {
        for (index, rows) in sizes.enumerated() {
          for (place, columns) in sizes.enumerated() {
            // Odd and even tokens, GEMV and GEMM.
            let tokens = [1, 2, 9, 14][(index + place) % 4]
            let seed = UInt64(index * 100 + place)
            let planes = CPlanes(format, rows, columns, seed: seed)
            let matrix = try CMatrix(c, planes, byTiles: index % 2 == 1)
            let input = Self.floats(tokens * columns, seed: seed)
            let expected = try Self.expected(planes, input, tokens: tokens, at: level)
            for shares in [nil, 1, 3] as [Int?] {
              let found = try unsafe Self.product(
                c, kernels, shares == nil ? pool : nil, matrix, input, tokens: tokens,
                gap: place % 3, shares: shares)
              #expect(
                found.map(\.bitPattern) == expected.map(\.bitPattern),
                "\(format) \(rows)x\(columns) tokens \(tokens) shares \(shares ?? 0) seed \(seed)")
            }
          }
        }
      }
    }
  }

  @Test(arguments: CLibrary.builds)
  func packedMemoryIsTheLayoutOfTheSwiftLibrary(_ build: CLibrary.Build) throws {
    let c = try CLibrary(build)
    for format in CPlanes.formats {
      for (rows, columns) in [(1, 1), (17, 65), (48, 100), (33, 256)] {
        let weights = Self.floats(rows * columns, seed: 5)
        let planes = try Self.quantized(weights, format, rows, columns, QuantizationOptions())
        let layout = try #require(RowTileLayout(format: format, rows: rows, columns: columns))
        let tiles = try layout.interleaved(
          codes: planes.codes, scales: planes.scales, minimums: planes.minimums)
        for byTiles in [false, true] {
          let packed = CMatrix(c, format, rows, columns)
          for begin in stride(from: 0, to: rows, by: byTiles ? 16 : rows) {
            let end = byTiles ? min(begin + 16, rows) : rows
            let part = GuardedMemory(Array(weights[begin * columns..<end * columns]))
            let error = unsafe withUnsafePointer(to: packed.header) {
              unsafe c.pack($0, Int64(begin), Int64(end), part.base, part.count * 4, nil)
            }
            #expect(error == 0 && part.isIntact)
          }
          let expected = tiles.codes + tiles.scales
          #expect(
            Array(packed.memory.bytes.prefix(expected.count)) == expected,
            "\(format) \(rows)x\(columns)")
          #expect(packed.memory.isIntact)
        }
      }
    }
  }

  @Test(arguments: CLibrary.builds)
  func optionsReachTheQuantizer(_ build: CLibrary.Build) throws {
    let c = try CLibrary(build)
    let (rows, columns) = (16, 96)
    let weights = Self.floats(rows * columns, seed: 6)
    let importance = (0..<columns).map { Float($0 + 1) }
    for format in CPlanes.formats {
      for (fit, scaleFit) in [
        (1, .absoluteMaximum), (2, .meanSquare),
      ] as [(afm_fit, QuantizationOptions.ScaleFit)] {
        let planes = try Self.quantized(
          weights, format, rows, columns,
          QuantizationOptions(scaleFit: scaleFit, importance: importance))
        let layout = try #require(RowTileLayout(format: format, rows: rows, columns: columns))
        let tiles = try layout.interleaved(
          codes: planes.codes, scales: planes.scales, minimums: planes.minimums)
        let packed = CMatrix(c, format, rows, columns)
        let error = unsafe importance.withUnsafeBufferPointer { importance in
          var options = unsafe afm_pack_options(
            fit: fit, importance: importance.baseAddress, importance_bytes: columns * 4)
          return unsafe withUnsafePointer(to: packed.header) {
            unsafe c.pack($0, 0, Int64(rows), weights, weights.count * 4, &options)
          }
        }
        #expect(error == 0)
        let expected = tiles.codes + tiles.scales
        #expect(Array(packed.memory.bytes.prefix(expected.count)) == expected, "\(format) \(fit)")
      }
    }
  }

  /// Canonical planes of quantized weights.
  static func quantized(
    _ weights: [Float], _ format: WeightFormat, _ rows: Int, _ columns: Int,
    _ options: QuantizationOptions
  ) throws -> CPlanes {
    var planes = CPlanes(format, rows, columns, seed: 1)
    var codes = planes.codes
    var scales = planes.scales
    var minimums = planes.minimums
    do {
      var codeSpan = codes.mutableSpan
      var scaleSpan = scales.mutableSpan
      var minimumSpan = minimums.mutableSpan
      // Bytes have no padding, and every value is a valid one.
      var spans = unsafe MutablePackedPlanes(
        codes: codeSpan.mutableBytes, scales: scaleSpan.mutableBytes,
        minimums: minimumSpan.mutableBytes)
      try format.quantize(
        weights.span, rowCount: rows, columnCount: columns, options: options, into: &spans)
    }
    planes.codes = codes
    planes.scales = scales
    planes.minimums = minimums
    return planes
  }

  @Test(arguments: CLibrary.builds)
  func rowsDequantizeAsInTheSwiftLibrary(_ build: CLibrary.Build) throws {
    let c = try CLibrary(build)
    for format in CPlanes.multiplied {
      let planes = CPlanes(format, 19, 77, seed: 4)
      let packed = try CMatrix(c, planes)
      let matrix = try unsafe PackedMatrix(
        format: format, rows: 19, columns: 77, codes: planes.codes.span.bytes,
        scales: planes.scales.span.bytes, minimums: planes.minimums.span.bytes)
      for row in 0..<19 {
        var expected = [Float](repeating: 0, count: 77)
        var span = expected.mutableSpan
        matrix.dequantizeRow(row, into: &span)
        let found = GuardedMemory([Float](repeating: .nan, count: 77))
        let error = unsafe withUnsafePointer(to: packed.header) {
          unsafe c.dequantizeRow($0, Int64(row), found.base, 77 * 4)
        }
        #expect(error == 0 && found.isIntact)
        #expect(found.values.map(\.bitPattern) == expected.map(\.bitPattern), "\(format) \(row)")
      }
    }
  }

  @Test(arguments: CLibrary.builds, [Float.nan, .infinity, -.infinity])
  func aTokenThatIsNoNumberStaysNone(_ build: CLibrary.Build, _ poison: Float) throws {
    let c = try CLibrary(build)
    for level in Self.levels {
      try c.withKernels(Self.number(level)) { kernels in
        for format in CPlanes.multiplied {
          for tokens in [2, 12] {
            let matrix = try CMatrix(c, CPlanes(format, 33, 130, seed: 3))
            var input = Self.floats(tokens * 130, seed: 2)
            input[129] = poison
            let found = try unsafe Self.product(c, kernels, nil, matrix, input, tokens: tokens)
            #expect(found[..<33].allSatisfy { $0.isNaN }, "\(format) \(level)")
            #expect(found[33...].allSatisfy { $0.isFinite }, "\(format) \(level)")
          }
        }
      }
    }
  }

  /// Two threads ask one pool for products all the time: each gets its result or is told to wait.
  @Test(arguments: CLibrary.builds)
  func aPoolServesOneCallerAtATime(_ build: CLibrary.Build) throws {
    let c = try CLibrary(build)
    let (rows, columns) = (320, 256)
    let planes = CPlanes(.u4g32, rows, columns, seed: 9)
    let matrix = try CMatrix(c, planes)
    let input = Self.floats(columns, seed: 9)
    let expected = try Self.expected(planes, input, tokens: 1, at: .portable).map(\.bitPattern)
    var pool: OpaquePointer?
    try #require(unsafe c.poolCreate(0, &pool) == 0)
    defer { unsafe c.poolDestroy(pool) }
    try c.withKernels(afm_level(AFM_LEVEL_PORTABLE)) { kernels in
      let x = CTokens(c, .u4g32, 1, columns)
      let quantized = unsafe withUnsafePointer(to: x.header) {
        unsafe c.quantize(kernels, nil, $0, input, columns * 4, Int64(columns))
      }
      try #require(quantized == 0)
      // Handles are numbers here: two threads use what the library says they may.
      let handles = unsafe (
        UInt(bitPattern: kernels), pool.map { UInt(bitPattern: $0) } ?? 0
      )
      let (matrixHeader, tokenHeader) = unsafe (Shared(matrix.header), Shared(x.header))
      let faults = unsafe Shared(UnsafeMutablePointer<Int>.allocate(capacity: 2))
      defer { unsafe faults.value.deallocate() }
      DispatchQueue.concurrentPerform(iterations: 2) { caller in
        var output = [Float](repeating: 0, count: rows)
        var (wrong, served) = (0, 0)
        while served < 300 {
          let error = unsafe withUnsafePointer(to: matrixHeader.value) { matrix in
            unsafe withUnsafePointer(to: tokenHeader.value) { tokens in
              unsafe c.multiply(
                OpaquePointer(bitPattern: handles.0), OpaquePointer(bitPattern: handles.1), matrix,
                tokens, &output, rows * 4, Int64(rows), nil, 0)
            }
          }
          if error == afm_error(AFM_ERROR_BUSY) { continue }
          served += 1
          if error != 0 || output.map(\.bitPattern) != expected { wrong += 1 }
        }
        unsafe faults.value[caller] = wrong
      }
      #expect(unsafe faults.value[0] == 0 && faults.value[1] == 0)
    }
  }

  /// What two threads of a test use under the rules of the library.
  @safe private struct Shared<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
  }

  @Test(arguments: CLibrary.builds)
  func kernelsHaveTheNamesOfTheSwiftLibrary(_ build: CLibrary.Build) throws {
    let c = try CLibrary(build)
    for level in Self.levels {
      let names = try KernelLibrary(forcing: level).selectedKernelNames
      try c.withKernels(Self.number(level)) { kernels in
        let name = unsafe c.levelName(c.level(kernels)).map { unsafe String(cString: $0) }
        #expect(name == level.rawValue)
        for format in CPlanes.formats {
          for (tokens, operation) in [(1, "gemv"), (100, "gemm")] as [(Int64, String)] {
            let name = unsafe c.kernelName(kernels, afm_format(format.rawValue), tokens)
            let text = unsafe name.map { unsafe String(cString: $0) } ?? ""
            #expect(names.contains(text) && text.hasPrefix(operation))
            #expect(text.contains("_\(format.name)_"))
          }
        }
        #expect(unsafe c.kernelName(kernels, 1, 1) == nil)
        #expect(unsafe c.kernelName(kernels, 48, 0) == nil)
      }
    }
    #expect(unsafe c.kernelName(nil, 48, 1) == nil)
  }

  @Test(arguments: CLibrary.builds)
  func sharesOfRowsCoverThemOnce(_ build: CLibrary.Build) throws {
    let c = try CLibrary(build)
    for rows in [1, 16, 17, 32, 33, 100, 2048, 6656] as [Int64] {
      for threads in [1, 2, 3, 7, 64] as [Int64] {
        var next: Int64 = 0
        for thread in 0..<threads {
          var (begin, end) = (Int64(-1), Int64(-1))
          #expect(unsafe c.shareRows(rows, thread, threads, &begin, &end) == 0)
          #expect(begin == next && end >= begin && (end % 16 == 0 || end == rows))
          next = end
        }
        #expect(next == rows)
      }
    }
  }
}
