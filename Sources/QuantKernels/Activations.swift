import CKernels
import KernelContract
import TensorCore

/// Activations quantized to int8, with what the products need beside them: scales, of each token or
/// of each token's chunks of 64 or 36 columns; sums per token and per 32 or 36 columns; and the working
/// memory of GEMM and of ASTC tiles.
///
/// Allocated once, for the most tokens and columns it will hold; filling it and multiplying with it
/// allocate nothing. Not for several threads at a time, the pool's own apart.
public final class Activations: @unchecked Sendable {
  // Sent between threads as a whole; whoever uses it at a time is the caller's business.

  /// The most tokens it can hold.
  public let tokenCapacity: Int
  /// The most columns it can hold.
  public let columnCapacity: Int
  /// The threads whose pools it can serve.
  public let threadCapacity: Int

  /// The tokens it holds now.
  public private(set) var tokenCount = 0
  /// The columns it holds now.
  public private(set) var columnCount = 0
  /// What shares a scale in what it holds now.
  public private(set) var grouping = ActivationGrouping.perToken

  private let codeStorage: AlignedStorage
  private let scaleStorage: AlignedStorage
  private let sumStorage: AlignedStorage
  private let groupSumStorage: AlignedStorage
  private let scratchStorage: AlignedStorage
  private let scratchByteCount: Int

  /// Memory for tokens × columns, and for GEMM on that many threads.
  ///
  /// - Precondition: capacities are positive; columns are at most `PackedMatrix.columnLimit`.
  public init(tokenCapacity: Int, columnCapacity: Int, threadCapacity: Int = 1) {
    precondition(tokenCapacity > 0 && tokenCapacity <= 1 << 24, "1...2^24 tokens")
    precondition(
      columnCapacity > 0 && columnCapacity <= PackedMatrix.columnLimit, "1...2^17 columns")
    precondition(threadCapacity > 0 && threadCapacity <= 1 << 12, "1...4096 threads")
    self.tokenCapacity = tokenCapacity
    self.columnCapacity = columnCapacity
    self.threadCapacity = threadCapacity
    codeStorage = AlignedStorage(byteCount: tokenCapacity * Self.stride(columns: columnCapacity))
    let chunkCount = (columnCapacity + 63) / 64
    let scaleCount = ActivationGrouping.perBlock.chunkCount(columns: columnCapacity)
    scaleStorage = AlignedStorage(byteCount: tokenCapacity * scaleCount * 4)
    sumStorage = AlignedStorage(byteCount: tokenCapacity * 4)
    // Two for each 64 columns are at least as many as one for each 36.
    groupSumStorage = AlignedStorage(byteCount: tokenCapacity * chunkCount * 8)
    scratchByteCount =
      tokenCapacity > 1
      ? max(
        PackedProductScratch.astcByteCount(columns: columnCapacity),
        PackedProductScratch.byteCount(columns: columnCapacity))
      : PackedProductScratch.tileByteCount
    scratchStorage = AlignedStorage(byteCount: threadCapacity * scratchByteCount)
  }

  /// The bytes it has allocated.
  public var byteCount: Int {
    codeStorage.byteCount + scaleStorage.byteCount + sumStorage.byteCount
      + groupSumStorage.byteCount + scratchStorage.byteCount
  }

  /// Bytes from token to token: one cache line more than the columns in units of 64, so that tokens
  /// do not all fall into the same set of the cache; columns in units of 36 fit too.
  package static func stride(columns: Int) -> Int { (columns + 63) / 64 * 64 + 64 }

  package var chunkCount: Int { grouping.chunkCount(columns: columnCount) }
  package var stride: Int { Self.stride(columns: columnCount) }
  /// Sums from token to token.
  package var groupSumStride: Int { grouping.sumCount(chunkCount: chunkCount) }
  /// Scales from token to token.
  package var scaleStride: Int { grouping.scaleCount(chunkCount: chunkCount) }

  /// Says what it holds; whoever fills it otherwise than by `quantize` follows the contract.
  package func prepare(tokenCount: Int, columnCount: Int, grouping: ActivationGrouping) {
    precondition(tokenCount > 0 && tokenCount <= tokenCapacity, "more tokens than the capacity")
    precondition(columnCount > 0 && columnCount <= columnCapacity, "more columns than the capacity")
    self.tokenCount = tokenCount
    self.columnCount = columnCount
    self.grouping = grouping
  }

  // Pointers into the storages, valid as long as the activations.
  @unsafe package var codes: UnsafeMutablePointer<Int8> {
    unsafe codeStorage.baseAddress.assumingMemoryBound(to: Int8.self)
  }
  @unsafe package var scales: UnsafeMutablePointer<Float> {
    unsafe scaleStorage.baseAddress.assumingMemoryBound(to: Float.self)
  }
  @unsafe package var sums: UnsafeMutablePointer<Int32> {
    unsafe sumStorage.baseAddress.assumingMemoryBound(to: Int32.self)
  }
  @unsafe package var groupSums: UnsafeMutablePointer<Float> {
    unsafe groupSumStorage.baseAddress.assumingMemoryBound(to: Float.self)
  }
  /// The working memory of one thread.
  @unsafe package func scratch(thread: Int) -> UnsafeMutableRawPointer {
    unsafe scratchStorage.baseAddress
      + thread * scratchByteCount
  }

  /// Quantizes tokens to int8: each token or each chunk of columns, as the grouping says, with
  /// scale = largest magnitude / 127, to nearest even.
  ///
  /// Where a token or chunk has a NaN or an infinity its scale is NaN, so that every product of the
  /// token is NaN. Where all magnitudes are below 2^-110 it becomes zero. O(tokens · columns), no
  /// allocation.
  ///
  /// - Parameters:
  ///   - input: f32, token after token.
  ///   - stride: floats from token to token; nil where they are contiguous.
  ///   - grouping: what the weights to multiply need, `ActivationGrouping.required(by:)`.
  /// - Precondition: counts are positive and within the capacities; `stride` ≥ `columnCount`.
  public func quantize(
    _ input: UnsafePointer<Float>, tokenCount: Int, columnCount: Int, stride: Int? = nil,
    for grouping: ActivationGrouping, using library: KernelLibrary, pool: ThreadPool
  ) {
    prepare(tokenCount: tokenCount, columnCount: columnCount, grouping: grouping)
    precondition((stride ?? columnCount) >= columnCount, "tokens overlap")
    let arguments = unsafe CKQuantization(
      input: input, activations: codes, activationScales: scales, tokenSums: sums,
      groupSums: groupSums, inputStride: stride ?? columnCount, activationStride: self.stride,
      activationScaleStride: scaleStride, groupSumStride: groupSumStride, columnCount: columnCount,
      chunkCount: chunkCount,
      tokenBegin: 0, tokenEnd: tokenCount)
    let function = library.quantization(grouping)
    // Below this a fork-join costs more than it saves: 16 Ki floats take about 2 µs.
    guard pool.threadCount > 1, tokenCount > 1, tokenCount * columnCount >= 16384 else {
      unsafe withUnsafePointer(to: arguments) { unsafe function($0) }
      return
    }
    pool.run(unsafe QuantizationWork(function: function, arguments: arguments))
  }

  /// The same for a span of contiguous tokens.
  ///
  /// - Precondition: `input` is exactly `tokenCount` × `columnCount` long.
  public func quantize(
    _ input: Span<Float>, tokenCount: Int, columnCount: Int, for grouping: ActivationGrouping,
    using library: KernelLibrary, pool: ThreadPool
  ) {
    precondition(input.count == tokenCount * columnCount, "the span is not tokens × columns")
    unsafe input.withUnsafeBufferPointer { buffer in
      // The preconditions leave no empty buffer.
      guard let base = buffer.baseAddress else { return }
      unsafe quantize(
        base, tokenCount: tokenCount, columnCount: columnCount, for: grouping, using: library,
        pool: pool)
    }
  }
}

/// One quantization on all threads of a pool.
@safe private struct QuantizationWork: ThreadPoolWork {
  let function: QuantizationFunction
  let arguments: CKQuantization

  func perform(part index: Int, of partCount: Int, thread: Int) {
    let tokens = unsafe ThreadPool.share(
      of: arguments.tokenEnd, part: index, partCount: partCount)
    guard !tokens.isEmpty else { return }
    // The arguments describe memory that the caller of `quantize` vouched for; each part has
    // its own tokens.
    var part = unsafe arguments
    unsafe part.tokenBegin = tokens.lowerBound
    unsafe part.tokenEnd = tokens.upperBound
    unsafe withUnsafePointer(to: part) { unsafe function($0) }
  }
}
