import CKernels
import CQuantKernels
import ForkJoin
import KernelContract
import PackedFormats

/// The product of a matrix, or of some of its tiles, with activations.
@safe struct ProductWork {
  private let function: PackedProductFunction
  private let arguments: CKProduct
  private let tiles: Range<Int>
  /// Bytes of scratch memory of one thread; 0 where none is needed.
  private let scratchBytes: Int

  /// Bytes of codes that are read for every token.
  var codeBytes: Int { unsafe arguments.codeTileBytes * tiles.count }
  var tokenCount: Int { unsafe arguments.tokenCount }

  /// - Parameters:
  ///   - rows: nil for all.
  ///   - threadCount: how many have scratch memory.
  init(
    _ library: OpaquePointer?, _ matrix: UnsafePointer<afm_matrix>?,
    _ activations: UnsafePointer<afm_activations>?, rows: (begin: Int64, end: Int64)?,
    output: UnsafeMutablePointer<Float>?, _ outputBytes: Int, _ outputStride: Int64,
    scratch: UnsafeMutableRawPointer?, _ givenScratchBytes: Int, threadCount: Int
  ) throws(CallError) {
    let kernels = unsafe try selection(library)
    let weights = try unsafe MatrixMemory(matrix)
    let tokens = try unsafe ActivationMemory(activations)
    let (layout, x) = (weights.layout, tokens.layout)
    guard layout.columns == x.columnCount, x.grouping == .required(by: layout.format) else {
      throw .mismatch
    }
    guard tokens.isQuantized else { throw .mismatch }
    tiles =
      try rows.map { (rows) throws(CallError) in
        try weights.tiles(rows.begin, rows.end)
      } ?? 0..<layout.tileCount
    let place = try unsafe MemoryRange(
      output, byteCount: outputBytes,
      needed: floatRowBytes(x.tokenCount, of: layout.rows, stride: outputStride), alignment: 4)
    try place.requireDisjoint(from: weights.range)
    try place.requireDisjoint(from: tokens.range)

    var working: UnsafeMutableRawPointer?
    let usesGEMM = unsafe kernels.pointee.usesGEMM(layout.format, tokenCount: x.tokenCount)
    scratchBytes = PackedProductScratch.byteCount(
      layout.format, columns: layout.columns, usesGEMM: usesGEMM)
    if scratchBytes > 0 {
      let range = try unsafe MemoryRange(
        scratch, byteCount: givenScratchBytes, needed: scratchBytes * threadCount, alignment: 64)
      try range.requireDisjoint(from: place)
      try range.requireDisjoint(from: weights.range)
      try range.requireDisjoint(from: tokens.range)
      unsafe working = range.mutableBase
    }
    unsafe function = kernels.pointee.product(layout.format, tokenCount: x.tokenCount).function
    unsafe arguments = CKProduct(
      codes: weights.codes, scales: weights.scales, activations: tokens.codes,
      activationScales: tokens.scales, tokenSums: tokens.sums, groupSums: tokens.groupSums,
      tables: layout.format.isASTC ? UnsafeRawPointer(kernels.pointee.tables) : nil,
      output: place.mutableBase.assumingMemoryBound(to: Float.self), scratch: working,
      codeTileBytes: layout.codeTileBytes, scaleTileBytes: layout.scaleTileBytes,
      activationStride: x.stride, activationScaleStride: x.scaleStride,
      groupSumStride: x.groupSumStride, outputStride: Int(truncatingIfNeeded: outputStride),
      rowCount: layout.rows, chunkCount: layout.chunkCount, tokenCount: x.tokenCount,
      tileBegin: tiles.lowerBound, tileEnd: tiles.upperBound)
  }

  /// The memory is the caller's, checked above; each thread writes the rows of its own tiles and
  /// uses its own scratch memory.
  func perform(part index: Int, of partCount: Int, thread: Int) {
    let mine = tileShare(of: tiles.count, part: index, partCount: partCount)
    guard !mine.isEmpty else { return }
    var part = unsafe arguments
    unsafe part.tileBegin = tiles.lowerBound + mine.lowerBound
    unsafe part.tileEnd = tiles.lowerBound + mine.upperBound
    if let scratch = unsafe part.scratch {
      unsafe part.scratch = unsafe scratch + thread * scratchBytes
    }
    unsafe withUnsafePointer(to: part) { unsafe function($0) }
  }
}

/// A part of the tiles, which go to parts in pairs: the widest panel has two.
func tileShare(of tileCount: Int, part: Int, partCount: Int) -> Range<Int> {
  let pairs = ForkJoinPool.share(of: (tileCount + 1) / 2, part: part, partCount: partCount)
  return min(tileCount, pairs.lowerBound * 2)..<min(tileCount, pairs.upperBound * 2)
}

@c @implementation
package func afm_scratch_bytes(
  _ format: afm_format, _ tokens: Int64, _ columns: Int64, _ threads: Int64,
  _ bytes: UnsafeMutablePointer<Int>?
) -> afm_error {
  result { () throws(CallError) in
    guard let bytes = unsafe bytes else { throw .null }
    let format = try WeightFormat(format)
    let tokenCount = try checked(tokens, atMost: Limits.tokens)
    let columnCount = try checked(columns, atMost: Limits.columns)
    let threadCount = try checked(threads, atMost: Limits.threads)
    let mayUseGEMM = PackedProductChoice.mayUseGEMM(format, tokenCount: tokenCount)
    unsafe bytes.pointee =
      threadCount
      * PackedProductScratch.byteCount(format, columns: columnCount, usesGEMM: mayUseGEMM)
  }
}

@c @implementation
package func afm_multiply(
  _ library: OpaquePointer?, _ pool: OpaquePointer?, _ matrix: UnsafePointer<afm_matrix>?,
  _ activations: UnsafePointer<afm_activations>?, _ output: UnsafeMutablePointer<Float>?,
  _ outputBytes: Int, _ outputStride: Int64, _ scratch: UnsafeMutableRawPointer?,
  _ scratchBytes: Int
) -> afm_error {
  result { () throws(CallError) in
    let work = try unsafe ProductWork(
      library, matrix, activations, rows: nil, output: output, outputBytes, outputStride,
      scratch: scratch, scratchBytes,
      threadCount: Int(truncatingIfNeeded: afm_pool_threads(pool)))
    if let pool = unsafe pool {
      try unsafe run(.product(work), on: pool)
    } else {
      work.perform(part: 0, of: 1, thread: 0)
    }
  }
}

@c @implementation
package func afm_multiply_rows(
  _ library: OpaquePointer?, _ matrix: UnsafePointer<afm_matrix>?,
  _ activations: UnsafePointer<afm_activations>?, _ rowBegin: Int64, _ rowEnd: Int64,
  _ output: UnsafeMutablePointer<Float>?, _ outputBytes: Int, _ outputStride: Int64,
  _ scratch: UnsafeMutableRawPointer?, _ scratchBytes: Int
) -> afm_error {
  result { () throws(CallError) in
    let work = try unsafe ProductWork(
      library, matrix, activations, rows: (rowBegin, rowEnd), output: output, outputBytes,
      outputStride, scratch: scratch, scratchBytes, threadCount: 1)
    work.perform(part: 0, of: 1, thread: 0)
  }
}

@c @implementation
package func afm_share_rows(
  _ rows: Int64, _ thread: Int64, _ threads: Int64, _ rowBegin: UnsafeMutablePointer<Int64>?,
  _ rowEnd: UnsafeMutablePointer<Int64>?
) -> afm_error {
  result { () throws(CallError) in
    guard let rowBegin = unsafe rowBegin, let rowEnd = unsafe rowEnd else { throw .null }
    let rowCount = try checked(rows, atMost: Limits.rows)
    let threadCount = try checked(threads, atMost: Limits.threads)
    guard thread >= 0, thread < threads else { throw .rows }
    let tiles = tileShare(
      of: (rowCount + 15) / 16, part: Int(truncatingIfNeeded: thread), partCount: threadCount)
    unsafe rowBegin.pointee = Int64(min(rowCount, tiles.lowerBound * 16))
    unsafe rowEnd.pointee = Int64(min(rowCount, tiles.upperBound * 16))
  }
}
