import CKernels
import KernelContract

/// The kernels of attention over a cache, and of what is stored in it.
///
/// Formulas, shapes and tolerances stand in KernelContract; pointers are valid for the counts given,
/// for the time of the call.
extension VectorKernels {
  /// C = (A · B) · rowScales · columnScales, or with factors a row C = f · C + that; A of 16-bit and B of
  /// 8-bit codes, two rows side by side, summed as integers. The element behind each row of A is read where
  /// the depth is odd; the depth is at most 512. What is `ahead` is asked for meanwhile.
  @unsafe package func codeProduct(
    a: UnsafePointer<Int16>, aStride: Int, rowScales: UnsafePointer<Float>,
    b: UnsafePointer<Int8>, bStride: Int, columnScales: UnsafePointer<Float>?,
    c: UnsafeMutablePointer<Float>, cStride: Int, rows: Int, columns: Int, depth: Int,
    rowFactors: UnsafePointer<Float>?, ahead: UnsafeRawBufferPointer
  ) {
    precondition(depth <= 512, "sums of more than 512 products do not fit")
    var arguments = unsafe CKCodePanel(
      a: a, b: b, c: c, rowScales: rowScales, columnScales: columnScales, aStride: aStride,
      bStride: bStride, cStride: cStride, rowCount: rows, columnCount: columns, depth: depth,
      rowFactors: rowFactors, next: ahead.baseAddress, nextByteCount: ahead.count)
    unsafe panelCodes(&arguments)
  }

  /// The next block of an online softmax: scores become weights relative to the largest score so far,
  /// and `decays` what earlier sums are to be multiplied by.
  @unsafe package func softmax(
    block scores: UnsafeMutablePointer<Float>, stride: Int, rows: Int, columns: Int,
    begins: UnsafePointer<Int32>, ends: UnsafePointer<Int32>, maxima: UnsafeMutablePointer<Float>,
    sums: UnsafeMutablePointer<Float>, decays: UnsafeMutablePointer<Float>
  ) {
    var arguments = unsafe CKBlockSoftmax(
      scores: scores, begins: begins, ends: ends, maxima: maxima, sums: sums, decays: decays,
      scoreStride: stride, rowCount: rows, columnCount: columns)
    unsafe softmaxBlock(&arguments)
  }

  /// Rows as 16-bit codes: input · columnScales ≈ codes · rowScales / factor.
  @unsafe package func quantize(
    rows input: UnsafePointer<Float>, stride: Int, columnScales: UnsafePointer<Float>? = nil,
    codes: UnsafeMutablePointer<Int16>, codeStride: Int, rowScales: UnsafeMutablePointer<Float>,
    count: Int, columns: Int, factor: Float
  ) {
    var arguments = unsafe CKRowCodes(
      input: input, columnScales: columnScales, codes: codes, rowScales: rowScales,
      inputStride: stride, codeStride: codeStride, rowCount: count, columnCount: columns,
      factor: factor)
    unsafe rowCodes(&arguments)
  }

  /// Rows of two 4-bit codes a byte as codes, those of two rows side by side.
  @unsafe package func unpack(
    nibbleRows packed: UnsafeRawPointer, to codes: UnsafeMutableRawPointer, rows: Int,
    byteCount: Int
  ) {
    var arguments = unsafe CKNibbles(
      packed: packed.assumingMemoryBound(to: UInt8.self),
      codes: codes.assumingMemoryBound(to: UInt8.self), rowCount: rows, byteCount: byteCount)
    unsafe nibbleRows(&arguments)
  }

  /// Bytes of two 4-bit codes as twice as many codes, the low ones first.
  @unsafe package func unpack(
    nibblePairs packed: UnsafeRawPointer, to codes: UnsafeMutableRawPointer, byteCount: Int
  ) {
    var arguments = unsafe CKNibbles(
      packed: packed.assumingMemoryBound(to: UInt8.self),
      codes: codes.assumingMemoryBound(to: UInt8.self), rowCount: 1, byteCount: byteCount)
    unsafe nibblePairs(&arguments)
  }

  /// A head's key or value as 8-bit codes of a given scale.
  @unsafe package func quantize(
    _ values: UnsafePointer<Float>, toCacheS8 codes: UnsafeMutableRawPointer, count: Int,
    scale: Float
  ) {
    var arguments = unsafe CKCacheVector(
      values: values, codes: codes, scales: nil, minimums: nil, count: count, scale: scale)
    unsafe cacheS8(&arguments)
  }

  /// The same as 4-bit codes, two a byte, with a binary16 scale and minimum for 32 elements; `codes` has
  /// room for 16 bytes more.
  @unsafe package func quantize(
    _ values: UnsafePointer<Float>, toCacheU4 codes: UnsafeMutableRawPointer,
    scales: UnsafeMutablePointer<UInt16>, minimums: UnsafeMutablePointer<UInt16>, count: Int
  ) {
    precondition(count % 2 == 0, "two codes share a byte")
    var arguments = unsafe CKCacheVector(
      values: values, codes: codes, scales: scales, minimums: minimums, count: count, scale: 0)
    unsafe cacheU4(&arguments)
  }
}
