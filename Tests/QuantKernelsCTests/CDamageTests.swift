import CQuantKernels
import KernelChecks
import KernelContract
import PackedFormats
import TestSupport
import Testing

/// Memory that nobody packed or quantized: every call ends, and says what it can.
@Suite struct CDamageTests {
  /// A product of memory as it is, without quantizing again.
  private static func product(
    _ c: CLibrary, _ kernels: OpaquePointer, _ matrix: CMatrix, _ x: CTokens
  ) -> (error: afm_error, output: [Float]) {
    let (rows, tokens) = unsafe (Int(matrix.header.rows), Int(x.header.tokens))
    let bytes = c.bytes {
      unsafe c.scratchBytes(x.header.format, x.header.tokens, x.header.columns, 1, $0)
    }
    let scratch = CMemory(bytes)
    var output = [Float](repeating: 7, count: rows * tokens)
    let error = unsafe withUnsafePointer(to: matrix.header) { matrix in
      unsafe withUnsafePointer(to: x.header) { x in
        unsafe c.multiply(
          kernels, nil, matrix, x, &output, rows * tokens * 4, Int64(rows), scratch.base, bytes)
      }
    }
    return (error, output)
  }

  /// Quantized tokens.
  private static func tokens(
    _ c: CLibrary, _ kernels: OpaquePointer, _ format: WeightFormat, _ count: Int, _ columns: Int
  ) throws -> CTokens {
    let x = CTokens(c, format, count, columns)
    let input = CProductTests.floats(count * columns, seed: 11)
    let error = unsafe withUnsafePointer(to: x.header) {
      unsafe c.quantize(kernels, nil, $0, input, input.count * 4, Int64(columns))
    }
    try #require(error == 0)
    return x
  }

  /// A byte that is no kind, at the first, a middle and the last tile of a band of ten: its 16 rows
  /// are NaN and the others what they were, by GEMV and by GEMM.
  @Test(arguments: CLibrary.builds, [WeightFormat.astc6x6LDR, .astc6x6HDR])
  func aTileOfAnUnknownKindGivesNoNumbers(
    _ build: CLibrary.Build, _ format: WeightFormat
  ) throws {
    let c = try CLibrary(build)
    let (rows, columns) = (40, 350)
    let packed = try CMatrix(c, CPlanes(format, rows, columns, seed: 5))
    let layout = try #require(ASTCTileLayout(format: format, rows: rows, columns: columns))
    for level in CProductTests.levels {
      try c.withKernels(CProductTests.number(level)) { kernels in
        for count in [1, 2, 9] {
          let x = try unsafe Self.tokens(c, kernels, format, count, columns)
          let whole = unsafe Self.product(c, kernels, packed, x).output
          for (band, tile) in [(0, 0), (1, 7), (2, 9)] {
            for kind in [4, 7, 128, 255, format == .astc6x6LDR ? 1 : 5] as [UInt8] {
              // A kind in the middle of the matrix's memory, which is put back.
              let place = unsafe (packed.memory.base + band * layout.bandByteCount + tile)
                .assumingMemoryBound(to: UInt8.self)
              let before = unsafe place.pointee
              unsafe place.pointee = kind
              defer { unsafe place.pointee = before }
              let (error, output) = unsafe Self.product(c, kernels, packed, x)
              #expect(error == 0)
              for index in output.indices {
                let isDamaged = index % rows / 16 == band
                #expect(
                  isDamaged
                    ? output[index].isNaN : output[index].bitPattern == whole[index].bitPattern,
                  "\(level) kind \(kind), tile \(tile), row \(index % rows), \(count) tokens")
              }
              let checked = unsafe withUnsafePointer(to: packed.header) {
                unsafe c.checkMatrix($0, 0, Int64(rows))
              }
              #expect(checked == afm_error(AFM_ERROR_PLANES))
            }
          }
        }
      }
    }
  }

  /// Sums and scales that are no numbers, behind the record of tokens that were quantized: what an
  /// engine has that quantizes four of eight.
  @Test(arguments: CLibrary.builds)
  func activationsThatNobodyQuantizedEndEveryProduct(_ build: CLibrary.Build) throws {
    let c = try CLibrary(build)
    for format in CPlanes.multiplied {
      // With several partitions too.
      for seed in [4, 5] as [UInt64] {
        let packed = try CMatrix(c, CPlanes(format, 33, 110, seed: seed))
        for level in CProductTests.levels {
          try c.withKernels(CProductTests.number(level)) { kernels in
            for count in [1, 5, 9] {
              let x = try unsafe Self.tokens(c, kernels, format, count, 110)
              for bits in [
                0x7FC0_0000, 0x7F80_0000, 0xFF80_0000, 0x7F7F_FFFF, 0x4F00_0000, 0xCF00_0001,
                0xFFFF_FFFF,
              ] as [UInt32] {
                // All but the record in the first line.
                for offset in stride(from: 64, to: x.memory.byteCount, by: 4) {
                  unsafe x.memory.base.storeBytes(of: bits, toByteOffset: offset, as: UInt32.self)
                }
                let error = unsafe Self.product(c, kernels, packed, x).error
                #expect(error == 0, "\(format) \(level) \(count)")
              }
            }
          }
        }
      }
    }
  }

  @Test(arguments: CLibrary.builds)
  func activationsOfOtherTokensAreRefused(_ build: CLibrary.Build) throws {
    let c = try CLibrary(build)
    try c.withKernels(0) { kernels in
      for format in CPlanes.multiplied {
        let packed = try CMatrix(c, CPlanes(format, 20, 80, seed: 6))
        let mismatch = afm_error(AFM_ERROR_MISMATCH)
        let x = CTokens(c, format, 8, 80)
        #expect(unsafe Self.product(c, kernels, packed, x).error == mismatch, "never quantized")
        let quantized = try unsafe Self.tokens(c, kernels, format, 8, 80)
        #expect(unsafe Self.product(c, kernels, packed, quantized).error == 0)
        for count in [1, 4, 7] as [Int64] {
          let (error, output) = unsafe Self.product(
            c, kernels, packed, CTokens(quantized, tokens: count))
          #expect(error == mismatch && output.allSatisfy { $0 == 7 }, "\(count) of 8 tokens")
        }
        // One token at a time, of the same memory.
        let input = CProductTests.floats(80 * 8, seed: 1)
        let four = CTokens(quantized, tokens: 4)
        let error = unsafe withUnsafePointer(to: four.header) {
          unsafe c.quantizeTokens(kernels, $0, 0, 1, input, input.count * 4, 80)
        }
        #expect(error == 0)
        #expect(unsafe Self.product(c, kernels, packed, four).error == 0)
        #expect(unsafe Self.product(c, kernels, packed, quantized).error == mismatch)
      }
    }
  }

  @Test(arguments: CLibrary.builds)
  func whatIsPackedPassesTheCheckAndDamageDoesNot(_ build: CLibrary.Build) throws {
    let c = try CLibrary(build)
    for format in CPlanes.multiplied {
      let (rows, columns) = (37, 101)
      let packed = try CMatrix(c, CPlanes(format, rows, columns, seed: 7))
      @safe func check(_ begin: Int64 = 0, _ end: Int64 = 37) -> afm_error {
        unsafe withUnsafePointer(to: packed.header) { unsafe c.checkMatrix($0, begin, end) }
      }
      #expect(check() == 0 && check(16, 32) == 0 && check(32, 37) == 0 && check(37, 37) == 0)
      for (begin, end) in [(1, 37), (0, 38), (-16, 16), (16, 0), (0, 17)] as [(Int64, Int64)] {
        #expect(check(begin, end) == afm_error(AFM_ERROR_ROWS))
      }
      #expect(unsafe c.checkMatrix(nil, 0, 16) == afm_error(AFM_ERROR_NULL))
      // The first row's scale, as no number and as a negative one; then the last band's padding.
      let codeBytes = try #require(Self.codeBytes(format, rows, columns))
      let scaleEnd = codeBytes + (format.groupSize == nil ? 3 : 1)
      for (offset, byte) in [
        (scaleEnd, 0x7F), (scaleEnd, 0x80), (codeBytes - 1, 0xFF),
      ] as [(Int, UInt8)] {
        let before = unsafe packed.memory.base.load(fromByteOffset: offset, as: UInt8.self)
        let bits = byte == 0x80 ? before | 0x80 : byte
        unsafe packed.memory.base.storeBytes(of: bits, toByteOffset: offset, as: UInt8.self)
        if byte == 0x7F {
          unsafe packed.memory.base.storeBytes(
            of: 0xFF, toByteOffset: offset - 1, as: UInt8.self)
        }
        #expect(check() == afm_error(AFM_ERROR_PLANES), "\(format), byte \(offset)")
        // Parts are looked at alone.
        let isShared = format == .astc6x6HDR && offset == scaleEnd
        #expect(check(16, 32) == (isShared ? afm_error(AFM_ERROR_PLANES) : 0))
        let planes = CPlanes(format, rows, columns, seed: 7)
        _ = unsafe planes.withRows(0..<rows) { part in
          unsafe withUnsafePointer(to: packed.header) {
            unsafe c.packPlanes($0, 0, Int64(rows), &part)
          }
        }
        #expect(check() == 0)
      }
    }
  }

  /// Bytes of the codes' plane.
  private static func codeBytes(_ format: WeightFormat, _ rows: Int, _ columns: Int) -> Int? {
    format.isASTC
      ? ASTCTileLayout(format: format, rows: rows, columns: columns)?.byteCount(of: .codes)
      : RowTileLayout(format: format, rows: rows, columns: columns)?.byteCount(of: .codes)
  }
}

extension CTokens {
  /// The same memory for another number of tokens.
  init(_ other: CTokens, tokens: Int64) {
    memory = other.memory
    var changed = unsafe other.header
    unsafe changed.tokens = tokens
    unsafe header = changed
  }
}
