import CKernels
import KernelContract
import PackedFormats

extension KernelLibrary {
  /// The tokens from which on GEMM is chosen over GEMV a token (which reads each row tile from
  /// memory once and then from cache). Measured on Zen 3, AVX2, 2048x2048, medians of 15 interleaved
  /// runs, time of GEMV over GEMM at 2, 4, 6 and 8 tokens: u2c 0.75, 0.87, 1.09, 1.12; u2g64 0.75,
  /// 0.92, 1.01, 1.12; u4g32 1.21, 1.51, 1.77, 1.99; u4c 0.80, 1.00, 1.22, 1.23; s8c 0.73, 0.92,
  /// 0.98, 1.02; s8g32 0.75, 0.97, 1.07, 1.13; of 512x2048 ASTC tiles of kind 0 1.04, 1.63, 1.91, 2.19,
  /// of kind 1 1.47, 2.59, 3.21, 3.81.
  package static func gemmTokenCount(_ format: WeightFormat) -> Int {
    switch format {
    case .u4g32, .astc6x6LDR, .astc6x6HDR: 2
    case .u4c: 4
    case .u2c, .u2g64, .u2t, .s8g32: 6
    case .s8c: 8
    case .f32, .f16:
      preconditionFailure("there are no kernels for \(format.name)")
    }
  }

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
    let usesGEMM = tokenCount >= Self.gemmTokenCount(weights.format)
    let needsScratch = usesGEMM || weights.format.isASTC
    precondition(
      !needsScratch || pool.threadCount <= activations.threadCapacity,
      "activations for \(activations.threadCapacity) threads, a pool of \(pool.threadCount)")
    let function = product(usesGEMM ? .gemm : .gemv, weights.format)
    let arguments = unsafe Self.arguments(
      weights, activations, output, outputStride ?? weights.rowCount)
    let firstTile = rows.lowerBound / 16
    let work = unsafe ProductWork(
      function: function, arguments: arguments, firstTile: firstTile,
      tileCount: (rows.upperBound + 15) / 16 - firstTile,
      activations: needsScratch ? activations : nil)
    pool.run(work)
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
      unsafe weights.format.isASTC ? ASTCKernelTables.shared.address : nil
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
  /// For scratch; nil where the kernel needs none.
  let activations: Activations?

  func perform(thread: Int, threadCount: Int) {
    // Tiles go to threads in pairs: the widest panel has two.
    let pairs = ThreadPool.share(
      of: (tileCount + 1) / 2, thread: thread, threadCount: threadCount)
    guard !pairs.isEmpty else { return }
    // The arguments describe memory that the caller of `multiply` vouched for; each thread writes
    // the rows of its own tiles, and uses its own scratch.
    var part = unsafe arguments
    unsafe part.tileBegin = firstTile + pairs.lowerBound * 2
    unsafe part.tileEnd = firstTile + min(tileCount, pairs.upperBound * 2)
    if let activations { unsafe part.scratch = unsafe activations.scratch(thread: thread) }
    unsafe withUnsafePointer(to: part) { unsafe function($0) }
  }
}
