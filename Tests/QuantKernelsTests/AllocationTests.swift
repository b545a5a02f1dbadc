import CAllocationCounter
import KernelChecks
import KernelContract
import PackedFormats
import QuantKernels
import Testing

/// No call of the library allocates, once its memory exists.
///
/// Each test runs in a process of its own, where nothing else allocates at the same time; every
/// thread's allocations count. A first call of each kind makes what is made once a process.
struct AllocationTests {
  static let isCountable = ac_is_available()

  /// Allocations of a second call.
  static func allocations(_ call: () -> Void) -> UInt64 {
    call()
    ac_start()
    call()
    return ac_stop()
  }

  /// A counter that counts nothing would let everything pass.
  @Test(.enabled(if: isCountable)) func theCounterCounts() async {
    await #expect(processExitsWith: .success) {
      let count = Self.allocations {
        let array = [Int](repeating: 1, count: Int.random(in: 100...200))
        withExtendedLifetime(array) {}
      }
      #expect(count > 0)
    }
  }

  @Test(.enabled(if: isCountable)) func productsAllocateNothing() async {
    await #expect(processExitsWith: .success) {
      for level in KernelLibraryTests.levels {
        let library = try KernelLibrary(forcing: level)
        for format in KernelLibraryTests.formats {
          for threads in [1, 2] {
            let pool = ThreadPool(threadCount: threads, allowOversubscription: true)
            for tokens in [1, 13] {
              let count = try Self.allocationsOfProducts(format, tokens, library, pool)
              #expect(count == 0, "\(level) \(format) tokens \(tokens) threads \(threads)")
            }
          }
        }
      }
    }
  }

  /// Of quantizing, of a product by itself and of a group.
  private static func allocationsOfProducts(
    _ format: WeightFormat, _ tokens: Int, _ library: KernelLibrary, _ pool: ThreadPool
  ) throws -> UInt64 {
    let (rows, columns) = (300, 200)
    let matrix = try PackedMatrixGroupTests.matrix(format, rows: rows, columns: columns)
    let group = PackedMatrixGroup([matrix, matrix], arrangement: .paired, library: library)
    let activations = Activations(
      tokenCapacity: tokens, columnCapacity: columns, threadCapacity: pool.threadCount)
    let input = KernelLibraryTests.values(tokens, columns, seed: 3)
    var output = [Float](repeating: 0, count: 2 * tokens * rows)
    return unsafe input.withUnsafeBufferPointer { input in
      unsafe output.withUnsafeMutableBufferPointer { output in
        // Never empty; tokens × columns, and tokens × rows twice.
        guard let from = input.baseAddress, let to = output.baseAddress else { return 1 }
        return allocations {
          unsafe activations.quantize(
            from, tokenCount: tokens, columnCount: columns, for: .required(by: format),
            using: library, pool: pool)
          unsafe library.multiply(matrix, activations, into: to, pool: pool)
          unsafe group.multiply(activations, into: to, pool: pool)
        }
      }
    }
  }

  @Test(.enabled(if: isCountable)) func vectorKernelsAllocateNothing() async {
    await #expect(processExitsWith: .success) {
      for level in KernelLibraryTests.levels {
        let vectors = VectorKernels(try KernelLibrary(forcing: level))
        for count in [1, 64, 1000] {
          #expect(Self.allocations(of: vectors, count: count) == 0, "\(level) \(count)")
        }
      }
    }
  }

  /// Of every method; what is computed does not matter.
  private static func allocations(of vectors: VectorKernels, count: Int) -> UInt64 {
    var memory = [Float](repeating: 0.5, count: 8 * count + 64)
    return unsafe memory.withUnsafeMutableBufferPointer { buffer in
      // Eight vectors of `count` floats; the keys take two of them, at an address for 8 bytes.
      guard let a = buffer.baseAddress else { return 1 }
      let (b, c) = unsafe (a + count, a + 2 * count)
      let bytes = unsafe UnsafeMutableRawPointer(a + 3 * count)
      let keys = unsafe UnsafeMutableRawPointer(a + 4 * count + 2)
        .alignedDown(toMultipleOf: 8).assumingMemoryBound(to: UInt64.self)
      let places = unsafe UnsafeMutableRawPointer(a + 7 * count + 8)
        .assumingMemoryBound(to: Int32.self)
      return allocations {
        unsafe vectors.rmsNorm(a, weight: b, epsilon: 1e-5, output: c, count: count)
        unsafe vectors.rmsNorm(
          heads: a, count: 1, stride: count, dimension: count, weight: b, epsilon: 1e-5)
        unsafe vectors.swiglu(gate: a, up: b, output: c, count: count)
        unsafe vectors.add(a, b, output: c, count: count)
        unsafe vectors.multiply(a, b, output: c, count: count)
        unsafe vectors.scale(a, by: 0.5, count: count)
        unsafe vectors.softmax(a, count: count, scale: 1)
        unsafe vectors.convert(a, toF16: bytes, count: count)
        unsafe vectors.convert(fromF16: bytes, to: c, count: count)
        _ = unsafe vectors.quantize(
          a, toS8: bytes.assumingMemoryBound(to: Int8.self), count: count)
        unsafe vectors.rope(
          a, cosines: b, sines: c, pairCount: (count + 1) / 2, headCount: 1, headStride: count,
          pairing: .halves)
        _ = unsafe vectors.argMax(a, count: count)
        _ = unsafe vectors.topK(a, count: count, k: count, keys: keys, indices: places)
        for element in PanelElement.allCases {
          unsafe vectors.panelProduct(
            a: a, aStride: 1, b: b, bStride: count, of: element, c: c, cStride: count, rows: 1,
            columns: count, depth: 1)
        }
        let codes = unsafe bytes.assumingMemoryBound(to: Int16.self)
        unsafe vectors.quantize(
          rows: a, stride: count, codes: codes, codeStride: count, rowScales: c, count: 1,
          columns: count, factor: 1)
        unsafe vectors.codeProduct(
          a: codes, aStride: 2, rowScales: c, b: bytes.assumingMemoryBound(to: Int8.self),
          bStride: 2 * count, columnScales: nil, c: b, cStride: count, rows: 1, columns: count,
          depth: 2, rowFactors: nil, ahead: UnsafeRawBufferPointer(start: bytes, count: count))
        unsafe vectors.unpack(nibbleRows: a, to: bytes, rows: 1, byteCount: count)
        unsafe vectors.unpack(nibblePairs: a, to: bytes, byteCount: count)
        unsafe vectors.quantize(a, toCacheS8: bytes, count: count, scale: 1)
        for element in FloatWeight.allCases {
          unsafe vectors.floatProduct(
            weights: a, of: element, weightStride: count, rows: 0..<1, columns: count,
            activations: b, activationStride: count, tokens: 1, output: c, outputStride: 1)
        }
      }
    }
  }
}
