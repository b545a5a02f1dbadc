import CKernels
import ForkJoin
import KernelContract
import PackedFormats

extension KernelLibrary {
  /// y = W · x for every token: output[t][r] = Σ W[r][c] · x[t][c], as `PackedProductFunction`
  /// says.
  ///
  /// Each thread takes contiguous row tiles; results do not depend on the number of threads, nor
  /// on the instruction set. Allocates nothing.
  ///
  /// - Parameters:
  ///   - output: row-major [tokens][rows].
  ///   - outputStride: floats from token to token; nil where they are contiguous.
  ///   - rows: the rows to compute, the others are not written; nil for all. The lower bound is a
  ///     multiple of 16, and the upper bound too or the row count.
  /// - Precondition: the activations' columns are the weights', and their grouping is what
  ///   `ActivationGrouping.required(by:)` says of the weights' format; `output` holds `tokenCount` ·
  ///   `outputStride` floats and overlaps nothing; `outputStride` ≥ the rows; for
  ///   more than one token, and for ASTC, the pool has no more threads than the activations' capacity.
  public func multiply(
    _ weights: PackedMatrix, _ activations: Activations,
    into output: UnsafeMutablePointer<Float>, outputStride: Int? = nil, rows: Range<Int>? = nil,
    pool: ThreadPool
  ) {
    let usesGEMM = choice.usesGEMM(weights.format, tokenCount: activations.tokenCount)
    unsafe multiply(
      weights, activations, by: usesGEMM ? .gemm : .gemv, into: output,
      outputStride: outputStride, rows: rows, pool: pool)
  }

  /// The same by GEMV or by GEMM, whatever the number of tokens.
  @unsafe package func multiply(
    _ weights: PackedMatrix, _ activations: Activations, by operation: KernelOperation,
    into output: UnsafeMutablePointer<Float>, outputStride: Int? = nil, rows: Range<Int>? = nil,
    pool: ThreadPool
  ) {
    let tokenCount = activations.tokenCount
    precondition(
      activations.columnCount == weights.columnCount,
      "activations of \(activations.columnCount) columns, weights of \(weights.columnCount)")
    precondition(
      activations.grouping == .required(by: weights.format),
      "\(weights.format.name) weights, activations quantized as \(activations.grouping.rawValue)")
    precondition((outputStride ?? weights.rowCount) >= weights.rowCount, "tokens overlap")
    let rows = rows ?? 0..<weights.rowCount
    precondition(
      rows.lowerBound >= 0 && rows.upperBound <= weights.rowCount && rows.lowerBound % 16 == 0
        && (rows.upperBound % 16 == 0 || rows.upperBound == weights.rowCount),
      "rows \(rows) are no tiles of \(weights.rowCount) rows")
    let needsScratch = operation == .gemm || weights.format.isASTC
    precondition(
      !needsScratch || pool.threadCount <= activations.threadCapacity,
      "activations for \(activations.threadCapacity) threads, a pool of \(pool.threadCount)")
    let function = product(operation, weights.format)
    let arguments = unsafe Self.arguments(
      weights, activations, output, outputStride ?? weights.rowCount)
    let firstTile = rows.lowerBound / 16
    let work = unsafe ProductWork(
      function: function, arguments: arguments, firstTile: firstTile,
      tileCount: (rows.upperBound + 15) / 16 - firstTile,
      activations: activations, needsScratch: needsScratch)
    pool.run(
      work,
      partsPerThread: ForkJoinPool.partsPerThread(
        codeBytes: weights.codeTileBytes * work.tileCount, tokenCount: tokenCount,
        threadCount: pool.threadCount))
  }

  /// The same into a span of exactly `tokenCount` · rows floats.
  public func multiply(
    _ weights: PackedMatrix, _ activations: Activations, into output: inout MutableSpan<Float>,
    pool: ThreadPool
  ) {
    precondition(
      output.count == activations.tokenCount * weights.rowCount,
      "\(output.count) floats for \(activations.tokenCount) tokens of \(weights.rowCount) rows")
    unsafe output.withUnsafeMutableBufferPointer { buffer in
      // Empty only without tokens, and then there is nothing to compute.
      guard let base = buffer.baseAddress else { return }
      unsafe multiply(weights, activations, into: base, pool: pool)
    }
  }

  /// A kernel's arguments for all tiles, without scratch.
  @unsafe package static func arguments(
    _ weights: PackedMatrix, _ activations: Activations, _ output: UnsafeMutablePointer<Float>,
    _ outputStride: Int
  ) -> CKProduct {
    let tables: UnsafeRawPointer? =
      unsafe weights.format.isASTC ? SharedASTCTables.shared.address : nil
    return unsafe CKProduct(
      codes: weights.codes, scales: weights.scales, activations: activations.codes,
      activationScales: activations.scales, tokenSums: activations.sums,
      groupSums: activations.groupSums, tables: tables, output: output, scratch: nil,
      codeTileBytes: weights.codeTileBytes, scaleTileBytes: weights.scaleTileBytes,
      activationStride: activations.stride, activationScaleStride: activations.scaleStride,
      groupSumStride: activations.groupSumStride, outputStride: outputStride,
      rowCount: weights.rowCount, chunkCount: weights.chunkCount,
      tokenCount: activations.tokenCount, tileBegin: 0, tileEnd: weights.tileCount)
  }
}

/// One product on all threads of a pool.
@safe private struct ProductWork: ThreadPoolWork {
  let function: PackedProductFunction
  let arguments: CKProduct
  let firstTile: Int
  let tileCount: Int
  /// For scratch. It outlives the run, and threads that copy the work retain nothing.
  unowned(unsafe) let activations: Activations
  let needsScratch: Bool

  init(
    function: PackedProductFunction, arguments: CKProduct, firstTile: Int, tileCount: Int,
    activations: Activations, needsScratch: Bool
  ) {
    self.function = function
    unsafe self.arguments = arguments
    self.firstTile = firstTile
    self.tileCount = tileCount
    unsafe self.activations = activations
    self.needsScratch = needsScratch
  }

  func perform(part index: Int, of partCount: Int, thread: Int) {
    // Tiles go to threads in pairs: the widest panel has two.
    let pairs = ThreadPool.share(of: (tileCount + 1) / 2, part: index, partCount: partCount)
    guard !pairs.isEmpty else { return }
    // The arguments describe memory that the caller of `multiply` vouched for; each part has
    // the rows of its own tiles, and each thread its own scratch.
    var part = unsafe arguments
    unsafe part.tileBegin = firstTile + pairs.lowerBound * 2
    unsafe part.tileEnd = firstTile + min(tileCount, pairs.upperBound * 2)
    if needsScratch { unsafe part.scratch = unsafe activations.scratch(thread: thread) }
    unsafe withUnsafePointer(to: part) { unsafe function($0) }
  }
}
