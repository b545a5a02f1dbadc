import CQuantKernels
import KernelChecks
import KernelContract
import PackedFormats
import QuantKernels
import TestSupport
import Testing

/// What callers get wrong has an error, and nothing is written.
@Suite struct CErrorTests {
  /// A call that is right, whose arguments a test then spoils.
  @safe struct Call {
    let c: CLibrary
    let packed: CMatrix
    let tokens: CTokens
    let input: GuardedMemory<Float>
    let output: GuardedMemory<Float>
    let scratch: CMemory
    var matrix: afm_matrix
    var activations: afm_activations

    static let (rows, columns, tokenCount) = (40, 70, 9)

    init(_ c: CLibrary, _ format: WeightFormat = .u2c) throws {
      self.c = c
      packed = try CMatrix(c, CPlanes(format, Self.rows, Self.columns, seed: 1))
      tokens = CTokens(c, format, Self.tokenCount, Self.columns)
      input = GuardedMemory(CProductTests.floats(Self.tokenCount * Self.columns, seed: 1))
      output = GuardedMemory([Float](repeating: 7, count: Self.tokenCount * Self.rows))
      scratch = CMemory(
        c.bytes {
          unsafe c.scratchBytes(
            afm_format(format.rawValue), Int64(Self.tokenCount), Int64(Self.columns), 1, $0)
        })
      unsafe matrix = packed.header
      unsafe activations = tokens.header
    }

    func quantize(
      _ kernels: OpaquePointer?, bytes: Int? = nil, stride: Int64 = 70
    ) -> afm_error {
      unsafe withUnsafePointer(to: activations) {
        unsafe c.quantize(kernels, nil, $0, input.base, bytes ?? input.count * 4, stride)
      }
    }

    func multiply(
      _ kernels: OpaquePointer?, to place: UnsafeMutableRawPointer? = nil, bytes: Int? = nil,
      stride: Int64 = 40, scratch other: UnsafeMutableRawPointer? = nil, scratchBytes: Int? = nil,
      rows: (Int64, Int64)? = nil
    ) -> afm_error {
      let place = unsafe (place ?? UnsafeMutableRawPointer(output.base))
        .assumingMemoryBound(to: Float.self)
      let memory = unsafe other ?? scratch.base
      let byteCount = bytes ?? output.count * 4
      return unsafe withUnsafePointer(to: matrix) { matrix in
        unsafe withUnsafePointer(to: activations) { activations in
          if let rows {
            return unsafe c.multiplyRows(
              kernels, matrix, activations, rows.0, rows.1, place, byteCount, stride, memory,
              scratchBytes ?? scratch.byteCount)
          }
          return unsafe c.multiply(
            kernels, nil, matrix, activations, place, byteCount, stride, memory,
            scratchBytes ?? scratch.byteCount)
        }
      }
    }
  }

  static let null = afm_error(AFM_ERROR_NULL)
  static let notPositive = afm_error(AFM_ERROR_NOT_POSITIVE)
  static let tooLarge = afm_error(AFM_ERROR_TOO_LARGE)
  static let short = afm_error(AFM_ERROR_SHORT_BUFFER)
  static let alignment = afm_error(AFM_ERROR_ALIGNMENT)
  static let overlap = afm_error(AFM_ERROR_OVERLAP)
  static let format = afm_error(AFM_ERROR_FORMAT)
  static let mismatch = afm_error(AFM_ERROR_MISMATCH)
  static let rowRange = afm_error(AFM_ERROR_ROWS)

  @Test(arguments: CLibrary.builds)
  func everyErrorHasItsText(_ build: CLibrary.Build) throws {
    let c = try CLibrary(build)
    #expect(c.version() == AFM_VERSION)
    var texts: Set<String> = []
    for error in -1...17 as ClosedRange<afm_error> {
      let text = unsafe c.errorText(error).map { unsafe String(cString: $0) }
      texts.insert(try #require(text))
    }
    // No error, the seventeen, and what all others are called.
    #expect(texts.count == 19 && texts.contains("no error"))
  }

  @Test(arguments: CLibrary.builds)
  func levelsAreChecked(_ build: CLibrary.Build) throws {
    let c = try CLibrary(build)
    #expect(unsafe c.create(0, nil) == Self.null)
    let features = CPUFeatures.detect()
    for level in InstructionSet.allCases {
      let number = CProductTests.number(level)
      let isAvailable = features.isSuperset(of: level.requirements)
      #expect((c.availableLevels() >> UInt32(number)) & 1 == (isAvailable ? 1 : 0))
      var handle = unsafe OpaquePointer(bitPattern: 64)
      let error = unsafe c.create(number, &handle)
      #expect(error == (isAvailable ? 0 : afm_error(AFM_ERROR_UNAVAILABLE)))
      #expect(unsafe (handle != nil) == isAvailable)
      unsafe c.destroy(handle)
    }
    for number in [-1, 5, .max] as [afm_level] {
      var handle: OpaquePointer?
      #expect(unsafe c.create(number, &handle) == afm_error(AFM_ERROR_LEVEL))
      #expect(unsafe c.levelName(number) == nil && handle == nil)
    }
    #expect(unsafe c.levelName(0) == nil && c.level(nil) == 0)
    c.destroy(nil)
  }

  @Test(arguments: CLibrary.builds)
  func sizesAreChecked(_ build: CLibrary.Build) throws {
    let c = try CLibrary(build)
    var bytes = -1
    for (rows, columns, expected) in [
      (0, 1, Self.notPositive), (1, 0, Self.notPositive), (-1, 1, Self.notPositive),
      (1, -1, Self.notPositive), (.min, .min, Self.notPositive), (1 << 31 + 1, 1, Self.tooLarge),
      (1, 1 << 17 + 1, Self.tooLarge), (.max, .max, Self.tooLarge), (1 << 31, 1 << 17, 0),
      (1, 1, 0),
    ] as [(Int64, Int64, afm_error)] {
      for format in CPlanes.formats {
        let raw = afm_format(format.rawValue)
        #expect(unsafe c.matrixBytes(raw, rows, columns, &bytes) == expected)
        var planes = unsafe afm_planes()
        #expect(unsafe c.planeBytes(raw, rows, columns, &planes) == expected)
      }
    }
    for (tokens, columns, expected) in [
      (0, 1, Self.notPositive), (-5, 1, Self.notPositive), (1, 0, Self.notPositive),
      (1 << 24 + 1, 1, Self.tooLarge), (1, .max, Self.tooLarge), (1 << 24, 1 << 17, 0),
    ] as [(Int64, Int64, afm_error)] {
      #expect(unsafe c.activationBytes(48, tokens, columns, &bytes) == expected)
      #expect(unsafe c.scratchBytes(48, tokens, columns, 1, &bytes) == expected)
    }
    #expect(unsafe c.scratchBytes(48, 1, 1, 0, &bytes) == Self.notPositive)
    #expect(unsafe c.scratchBytes(48, 1, 1, 4097, &bytes) == Self.tooLarge)
    for raw in [0, 1, 2, 50, 63, 66, -1, .max, 48 + 65536] as [afm_format] {
      #expect(unsafe c.matrixBytes(raw, 1, 1, &bytes) == Self.format)
      #expect(unsafe c.activationBytes(raw, 1, 1, &bytes) == Self.format)
      #expect(unsafe c.scratchBytes(raw, 1, 1, 1, &bytes) == Self.format)
    }
    #expect(unsafe c.matrixBytes(48, 1, 1, nil) == Self.null)
    #expect(unsafe c.activationBytes(48, 1, 1, nil) == Self.null)
    #expect(unsafe c.scratchBytes(48, 1, 1, 1, nil) == Self.null)
    #expect(unsafe c.planeBytes(48, 1, 1, nil) == Self.null)
    var row: Int64 = 0
    #expect(unsafe c.shareRows(1, 0, 1, nil, &row) == Self.null)
    #expect(unsafe c.shareRows(1, 0, 1, &row, nil) == Self.null)
    var end: Int64 = 0
    #expect(unsafe c.shareRows(0, 0, 1, &row, &end) == Self.notPositive)
    #expect(unsafe c.shareRows(1, 1, 1, &row, &end) == Self.rowRange)
    #expect(unsafe c.shareRows(1, -1, 1, &row, &end) == Self.rowRange)
    #expect(unsafe c.shareRows(1, 0, .max, &row, &end) == Self.tooLarge)
  }

  @Test(arguments: CLibrary.builds)
  func quantizationIsChecked(_ build: CLibrary.Build) throws {
    let c = try CLibrary(build)
    try c.withKernels(0) { kernels in
      var call = try Call(c)
      let before = call.tokens.memory.bytes
      #expect(unsafe call.quantize(nil) == Self.null)
      #expect(unsafe c.quantize(kernels, nil, nil, call.input.base, 4, 70) == Self.null)
      #expect(
        unsafe withUnsafePointer(to: call.activations) {
          unsafe c.quantize(kernels, nil, $0, nil, 1 << 20, 70)
        } == Self.null)
      #expect(unsafe call.quantize(kernels, bytes: call.input.count * 4 - 1) == Self.short)
      #expect(unsafe call.quantize(kernels, stride: 69) == Self.short)
      #expect(unsafe call.quantize(kernels, stride: 71) == Self.short)
      #expect(unsafe call.quantize(kernels, stride: 0) == Self.notPositive)
      #expect(unsafe call.quantize(kernels, stride: .min) == Self.notPositive)
      #expect(unsafe call.quantize(kernels, stride: .max) == Self.tooLarge)
      #expect(unsafe call.quantize(kernels, stride: .max / 8) == Self.tooLarge)
      for (begin, end) in [(-1, 1), (0, 10), (2, 1), (.max, .max)] as [(Int64, Int64)] {
        #expect(
          unsafe withUnsafePointer(to: call.activations) {
            unsafe c.quantizeTokens(
              kernels, $0, begin, end, call.input.base, call.input.count * 4, 70)
          } == Self.rowRange)
      }
      func spoiled(_ change: (inout afm_activations) -> Void) -> afm_error {
        var other = call
        unsafe change(&other.activations)
        return unsafe other.quantize(kernels)
      }
      #expect(unsafe spoiled { unsafe $0.memory = nil } == Self.null)
      #expect(unsafe spoiled { unsafe $0.memory_bytes -= 1 } == Self.short)
      #expect(unsafe spoiled { unsafe $0.memory_bytes = 0 } == Self.short)
      #expect(unsafe spoiled { unsafe $0.memory += 4 } == Self.alignment)
      #expect(unsafe spoiled { unsafe $0.tokens = 0 } == Self.notPositive)
      #expect(unsafe spoiled { unsafe $0.columns = -1 } == Self.notPositive)
      #expect(unsafe spoiled { unsafe $0.tokens = .max } == Self.tooLarge)
      #expect(unsafe spoiled { unsafe $0.format = 63 } == Self.format)
      #expect(
        unsafe withUnsafePointer(to: call.activations) { header in
          let inside = unsafe call.tokens.memory.base.assumingMemoryBound(to: Float.self)
          return unsafe c.quantize(kernels, nil, header, inside, call.input.count * 4, 70)
        } == Self.overlap)
      #expect(call.tokens.memory.bytes == before, "something was written")
      #expect(unsafe call.quantize(kernels) == 0)
      unsafe call.activations.memory_bytes += 1 << 20
      #expect(unsafe call.quantize(kernels) == 0, "buffers may be larger")
    }
  }

  @Test(arguments: CLibrary.builds)
  func productsAreChecked(_ build: CLibrary.Build) throws {
    let c = try CLibrary(build)
    try c.withKernels(0) { kernels in
      let call = try Call(c)
      try #require(unsafe call.quantize(kernels) == 0)
      func spoiled(_ change: (inout Call) -> Void) -> afm_error {
        var other = call
        change(&other)
        return unsafe other.multiply(kernels)
      }
      #expect(unsafe call.multiply(nil) == Self.null)
      #expect(spoiled { unsafe $0.matrix.memory = nil } == Self.null)
      #expect(spoiled { unsafe $0.matrix.memory_bytes -= 64 } == Self.short)
      #expect(spoiled { unsafe $0.matrix.memory += 16 } == Self.alignment)
      #expect(spoiled { unsafe $0.matrix.rows = 0 } == Self.notPositive)
      #expect(spoiled { unsafe $0.matrix.rows = .max } == Self.tooLarge)
      #expect(spoiled { unsafe $0.matrix.rows = 1 << 31 } == Self.short)
      #expect(spoiled { unsafe $0.matrix.columns = 1 << 17 } == Self.short)
      #expect(spoiled { unsafe $0.matrix.format = 3 } == Self.format)
      #expect(spoiled { unsafe $0.matrix.columns = 69 } == Self.mismatch)
      #expect(spoiled { unsafe $0.activations.columns = 69 } == Self.mismatch)
      #expect(spoiled { unsafe $0.activations.format = 16 } == Self.short)
      // Memory that was quantized for other tokens lies otherwise.
      #expect(spoiled { unsafe $0.activations.tokens = 4 } == Self.mismatch)
      #expect(spoiled { unsafe $0.activations.tokens = 8 } == Self.mismatch)
      #expect(spoiled { unsafe $0.activations.memory = nil } == Self.null)
      #expect(unsafe call.multiply(kernels, bytes: call.output.count * 4 - 4) == Self.short)
      #expect(unsafe call.multiply(kernels, bytes: 0) == Self.short)
      #expect(unsafe call.multiply(kernels, stride: 39) == Self.short)
      #expect(unsafe call.multiply(kernels, stride: 41) == Self.short)
      #expect(unsafe call.multiply(kernels, stride: -40) == Self.notPositive)
      #expect(unsafe call.multiply(kernels, stride: .max / 2) == Self.tooLarge)
      #expect(
        unsafe call.multiply(kernels, to: UnsafeMutableRawPointer(call.output.base) + 1)
          == Self.alignment)
      #expect(unsafe call.multiply(kernels, to: call.packed.memory.base) == Self.overlap)
      #expect(unsafe call.multiply(kernels, to: call.tokens.memory.base + 64) == Self.overlap)
      #expect(unsafe call.multiply(kernels, scratchBytes: 0) == Self.short)
      #expect(
        unsafe call.multiply(kernels, scratchBytes: call.scratch.byteCount - 1) == Self.short)
      #expect(
        unsafe call.multiply(kernels, scratch: call.scratch.base + 32) == Self.alignment)
      #expect(
        unsafe call.multiply(kernels, scratch: call.packed.memory.base) == Self.overlap)
      for (begin, end) in [
        (-16, 16), (0, 48), (1, 16), (0, 17), (16, 0), (0, .max), (.min, 40), (39, 40),
      ] as [(Int64, Int64)] {
        #expect(unsafe call.multiply(kernels, rows: (begin, end)) == Self.rowRange)
      }
      #expect(call.output.values.allSatisfy { $0 == 7 }, "something was written")
      for (begin, end) in [(0, 0), (16, 16), (40, 40)] as [(Int64, Int64)] {
        #expect(unsafe call.multiply(kernels, rows: (begin, end)) == 0)
      }
      #expect(call.output.values.allSatisfy { $0 == 7 }, "an empty range was written")
      #expect(unsafe call.multiply(kernels) == 0)
      #expect(!call.output.values.contains(7))
      #expect(call.output.isIntact && call.scratch.isIntact && call.packed.memory.isIntact)
    }
  }

  @Test(arguments: CLibrary.builds)
  func activationsOfAnotherGroupingAreRefused(_ build: CLibrary.Build) throws {
    let c = try CLibrary(build)
    try c.withKernels(0) { kernels in
      for format in CPlanes.formats {
        for other in CPlanes.formats {
          var call = try Call(c, format)
          let tokens = CTokens(c, other, Call.tokenCount, Call.columns)
          unsafe call.activations = tokens.header
          try #require(unsafe call.quantize(kernels) == 0)
          let isAlike = ActivationGrouping.required(by: format) == .required(by: other)
          #expect(unsafe call.multiply(kernels) == (isAlike ? 0 : Self.mismatch))
        }
      }
    }
  }

  @Test(arguments: CLibrary.builds)
  func weightsAreChecked(_ build: CLibrary.Build) throws {
    let c = try CLibrary(build)
    for format in CPlanes.formats {
      let (rows, columns) = (17, 40)
      let packed = CMatrix(c, format, rows, columns)
      func pack(
        _ values: [Float], _ begin: Int64 = 0, _ end: Int64 = 17, bytes: Int? = nil,
        fit: afm_fit = 0, importance: [Float]? = nil
      ) -> afm_error {
        unsafe withUnsafePointer(to: packed.header) { header in
          guard let importance else {
            var options = unsafe afm_pack_options(fit: fit, importance: nil, importance_bytes: 0)
            return unsafe c.pack(
              header, begin, end, values, bytes ?? values.count * 4, &options)
          }
          return unsafe importance.withUnsafeBufferPointer { buffer in
            var options = unsafe afm_pack_options(
              fit: fit, importance: buffer.baseAddress, importance_bytes: buffer.count * 4)
            return unsafe c.pack(
              header, begin, end, values, bytes ?? values.count * 4, &options)
          }
        }
      }
      let weights = CProductTests.floats(rows * columns, seed: 7)
      let before = packed.memory.bytes
      #expect(pack(weights, bytes: weights.count * 4 - 1) == Self.short)
      #expect(pack(weights, 0, 18) == Self.rowRange)
      #expect(pack(weights, 1, 17) == Self.rowRange)
      #expect(pack(weights, fit: 3) == afm_error(AFM_ERROR_OPTION))
      for value in [0, -1, .nan, .infinity] as [Float] {
        var importance = [Float](repeating: 1, count: columns)
        importance[39] = value
        #expect(pack(weights, importance: importance) == afm_error(AFM_ERROR_OPTION))
      }
      #expect(pack(weights, importance: [1, 1]) == Self.short)
      unsafe withUnsafePointer(to: packed.header) { header in
        #expect(unsafe c.pack(header, 0, 17, nil, 1 << 20, nil) == Self.null)
        let inside = unsafe packed.memory.base.assumingMemoryBound(to: Float.self)
        #expect(unsafe c.pack(header, 0, 17, inside, 1 << 20, nil) == Self.overlap)
        let odd = unsafe (packed.memory.base + 1).assumingMemoryBound(to: Float.self)
        #expect(unsafe c.pack(header, 0, 17, odd, 1 << 20, nil) == Self.alignment)
      }
      #expect(unsafe c.pack(nil, 0, 17, weights, weights.count * 4, nil) == Self.null)
      #expect(packed.memory.bytes == before, "something was written")
      for value in [Float.nan, .infinity, -.infinity] {
        var poisoned = weights
        poisoned[rows * columns - 1] = value
        #expect(pack(poisoned) == afm_error(AFM_ERROR_WEIGHT))
      }
      #expect(pack(weights) == 0)
      #expect(packed.memory.isIntact)
    }
  }

  @Test(arguments: CLibrary.builds, [WeightFormat.astc6x6LDR, .astc6x6HDR])
  func blocksAreChecked(_ build: CLibrary.Build, _ format: WeightFormat) throws {
    let c = try CLibrary(build)
    let packed = CMatrix(c, format, 17, 40)
    let weights = CProductTests.floats(17 * 40, seed: 7)
    let refused = unsafe withUnsafePointer(to: packed.header) {
      unsafe c.pack($0, 0, 17, weights, weights.count * 4, nil)
    }
    #expect(refused == Self.format, "the encoder is not in the library")
    let planes = CPlanes(format, 17, 40, seed: 9)
    @safe func pack(_ planes: CPlanes) -> afm_error {
      unsafe planes.withRows(0..<17) { part in
        unsafe withUnsafePointer(to: packed.header) { unsafe c.packPlanes($0, 0, 17, &part) }
      }
    }
    #expect(pack(planes) == 0)
    // Two blocks a row; the last one becomes one that means nothing, then a constant one.
    let last = planes.codes.count - 16
    var broken = planes
    broken.codes.replaceSubrange(last..., with: [UInt8](repeating: 0, count: 16))
    #expect(pack(broken) == afm_error(AFM_ERROR_PLANES))
    var constant = planes
    let void: [UInt8] = [0xFC, 0xFD] + [UInt8](repeating: 0xFF, count: 6)
    constant.codes.replaceSubrange(last..., with: void + [0, 0x80, 0, 0x80, 0, 0x80, 0xFF, 0xFF])
    #expect(pack(constant) == afm_error(AFM_ERROR_BLOCKS))
    var negative = planes
    negative.scales[3] |= 0x80
    #expect(pack(negative) == afm_error(AFM_ERROR_PLANES))
    #expect(packed.memory.isIntact)
  }

  @Test(arguments: CLibrary.builds)
  func planesAreChecked(_ build: CLibrary.Build) throws {
    let c = try CLibrary(build)
    for format in CPlanes.formats {
      let planes = CPlanes(format, 17, 33, seed: 8)
      let packed = CMatrix(c, format, 17, 33)
      let before = packed.memory.bytes
      @safe func pack(_ planes: CPlanes, _ change: (inout afm_planes) -> Void = { _ in })
        -> afm_error
      {
        unsafe planes.withRows(0..<17) { part in
          unsafe change(&part)
          return unsafe withUnsafePointer(to: packed.header) {
            unsafe c.packPlanes($0, 0, 17, &part)
          }
        }
      }
      let faulty = afm_error(AFM_ERROR_PLANES)
      #expect(pack(planes) { unsafe $0.codes = nil } == Self.null)
      #expect(pack(planes) { unsafe $0.codes_bytes -= 1 } == Self.short)
      #expect(pack(planes) { unsafe $0.scales = nil } == Self.null)
      #expect(pack(planes) { unsafe $0.scales_bytes -= 1 } == Self.short)
      #expect(
        pack(planes) { unsafe $0.codes = UnsafeRawPointer(packed.memory.base) } == Self.overlap)
      if format == .u4g32 {
        #expect(pack(planes) { unsafe $0.minimums = nil } == Self.null)
        #expect(pack(planes) { unsafe $0.minimums_bytes = 0 } == Self.short)
        var other = planes
        other.minimums[1] = 0x7C
        #expect(pack(other) == faulty, "an infinite minimum")
      }
      var other = planes
      other.scales[other.scales.count - 1] |= 0x80
      #expect(pack(other) == faulty, "a negative scale")
      other = planes
      other.scales[other.scales.count - 1] = 0x7F
      other.scales[other.scales.count - 2] = 0xFF
      #expect(pack(other) == faulty, "a scale that is not a number")
      other = planes
      other.codes[other.codes.count - 1] = 0x80
      #expect(pack(other) == faulty, "the code -128, or padding that is not zero")
      unsafe withUnsafePointer(to: packed.header) { header in
        #expect(unsafe c.packPlanes(header, 0, 17, nil) == Self.null)
        var empty = unsafe afm_planes()
        #expect(unsafe c.packPlanes(header, 0, 18, &empty) == Self.rowRange)
        #expect(unsafe c.dequantizeRow(header, 17, nil, 0) == Self.rowRange)
        #expect(unsafe c.dequantizeRow(header, -1, nil, 0) == Self.rowRange)
        #expect(unsafe c.dequantizeRow(header, 0, nil, 1 << 20) == Self.null)
        let inside = unsafe packed.memory.base.assumingMemoryBound(to: Float.self)
        #expect(unsafe c.dequantizeRow(header, 0, inside, 131) == Self.short)
        #expect(unsafe c.dequantizeRow(header, 0, inside, 132) == Self.overlap)
      }
      #expect(packed.memory.bytes == before, "something was written")
      #expect(pack(planes) == 0)
    }
  }

  @Test(arguments: CLibrary.builds)
  func poolsAreChecked(_ build: CLibrary.Build) throws {
    let c = try CLibrary(build)
    #expect(unsafe c.poolCreate(1, nil) == Self.null)
    #expect(unsafe c.poolThreads(nil) == 1)
    c.poolDestroy(nil)
    for (threads, expected) in [
      (-1, Self.notPositive), (4097, Self.tooLarge), (.max, Self.tooLarge),
    ] as [(Int64, afm_error)] {
      var pool = unsafe OpaquePointer(bitPattern: 64)
      #expect(unsafe c.poolCreate(threads, &pool) == expected)
      #expect(unsafe pool == nil)
    }
    for (options, expected) in [
      (
        afm_pool_options(threads: -1, waiting: 0, oversubscribe: 0, pin: 0, reserved: 0),
        Self.notPositive
      ),
      (
        afm_pool_options(threads: 4097, waiting: 0, oversubscribe: 1, pin: 0, reserved: 0),
        Self.tooLarge
      ),
      (
        afm_pool_options(threads: 2, waiting: 2, oversubscribe: 0, pin: 0, reserved: 0),
        afm_error(AFM_ERROR_OPTION)
      ),
      (
        afm_pool_options(threads: 2, waiting: 0, oversubscribe: 0, pin: 0, reserved: 1),
        afm_error(AFM_ERROR_OPTION)
      ),
    ] as [(afm_pool_options, afm_error)] {
      var pool = unsafe OpaquePointer(bitPattern: 64)
      var options = options
      #expect(unsafe c.poolCreateWith(&options, &pool) == expected)
      #expect(unsafe pool == nil)
      #expect(unsafe c.poolCreateWith(&options, nil) == Self.null)
    }
    // Of the same size as without options, and larger only where that is asked for.
    for (oversubscribe, threads) in [(Int32(0), Int64(ThreadPool.availableCoreCount)), (1, 7)] {
      var pool: OpaquePointer?
      var options = afm_pool_options(
        threads: 7, waiting: afm_waiting(AFM_WAITING_POLITE), oversubscribe: oversubscribe, pin: 1,
        reserved: 0)
      #expect(unsafe c.poolCreateWith(&options, &pool) == 0)
      #expect(unsafe c.poolThreads(pool) == min(7, threads))
      unsafe c.poolDestroy(pool)
      #expect(unsafe c.poolCreateWith(nil, &pool) == 0)
      #expect(unsafe c.poolThreads(pool) == Int64(ThreadPool.availableCoreCount))
      unsafe c.poolDestroy(pool)
    }
    // Again and again: threads that have not begun when they are told to end.
    for round in 0..<50 {
      var pool: OpaquePointer?
      #expect(unsafe c.poolCreate(Int64(round % 4), &pool) == 0)
      #expect(unsafe (1...4096).contains(c.poolThreads(pool)))
      unsafe c.poolDestroy(pool)
    }
  }
}
