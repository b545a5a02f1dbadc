import CKernels
import CPlatform
import CQuantKernels
import ForkJoin
import KernelContract
import PackedFormats

/// The memory of quantized tokens: a header, codes, scales, sums and group sums, each beginning at
/// a multiple of 64.
@safe struct ActivationMemory {
  /// Where the parts of activations lie.
  struct Layout {
    let grouping: ActivationGrouping
    let tokenCount: Int
    let columnCount: Int

    init(_ format: afm_format, tokens: Int64, columns: Int64) throws(CallError) {
      grouping = .required(by: try WeightFormat(format))
      tokenCount = try checked(tokens, atMost: Limits.tokens)
      columnCount = try checked(columns, atMost: Limits.columns)
    }

    var chunkCount: Int { grouping.chunkCount(columns: columnCount) }
    /// Bytes from token to token: one cache line more than the columns, so that tokens do not all
    /// fall into the same set of the cache.
    var stride: Int { roundedToLine(chunkCount * grouping.chunkColumns) + 64 }
    /// Floats from token to token.
    var scaleStride: Int { grouping.scaleCount(chunkCount: chunkCount) }
    var groupSumStride: Int { grouping.sumCount(chunkCount: chunkCount) }

    // At most 2^24 · 2^18 bytes each.
    var codeOffset: Int { 64 }
    var scaleOffset: Int { codeOffset + tokenCount * stride }
    var sumOffset: Int { scaleOffset + roundedToLine(tokenCount * scaleStride * 4) }
    var groupSumOffset: Int { sumOffset + roundedToLine(tokenCount * 4) }
    var byteCount: Int { groupSumOffset + roundedToLine(tokenCount * groupSumStride * 4) }

    /// What the header holds once tokens are quantized: a mark of this layout with the grouping,
    /// and the dimensions that decide where everything lies.
    var header: (mark: UInt64, tokens: UInt64, columns: UInt64) {
      let number: UInt64 =
        switch grouping {
        case .perToken: 1
        case .perChunk: 2
        case .perBlock: 3
        }
      // "AFM_X8" and the layout's version.
      return (
        0x41_46_4D_5F_58_38_01_00 | number, UInt64(tokenCount), UInt64(columnCount)
      )
    }
  }

  let layout: Layout
  let range: MemoryRange

  /// A caller's activations, if they are some.
  init(_ activations: UnsafePointer<afm_activations>?) throws(CallError) {
    guard let activations = unsafe activations?.pointee else { throw .null }
    unsafe layout = try Layout(
      activations.format, tokens: activations.tokens, columns: activations.columns)
    unsafe range = try MemoryRange(
      activations.memory, byteCount: activations.memory_bytes, needed: layout.byteCount,
      alignment: 64)
  }

  // All inside the range, and aligned for their elements.
  private var headerWords: UnsafeMutablePointer<UInt64> {
    unsafe range.mutableBase.assumingMemoryBound(to: UInt64.self)
  }
  var codes: UnsafeMutablePointer<Int8> {
    unsafe (range.mutableBase + layout.codeOffset).assumingMemoryBound(to: Int8.self)
  }
  var scales: UnsafeMutablePointer<Float> {
    unsafe (range.mutableBase + layout.scaleOffset).assumingMemoryBound(to: Float.self)
  }
  var sums: UnsafeMutablePointer<Int32> {
    unsafe (range.mutableBase + layout.sumOffset).assumingMemoryBound(to: Int32.self)
  }
  var groupSums: UnsafeMutablePointer<Float> {
    unsafe (range.mutableBase + layout.groupSumOffset).assumingMemoryBound(to: Float.self)
  }

  /// Writes the header. Threads that quantize tokens of the same activations may do so at the same
  /// time: all of them write the same.
  func markQuantized() {
    let (mark, tokens, columns) = layout.header
    unsafe cp_store64(headerWords, mark)
    unsafe cp_store64(headerWords + 1, tokens)
    unsafe cp_store64(headerWords + 2, columns)
  }

  /// Whether the last quantization into the memory was for this layout.
  var isQuantized: Bool {
    let (mark, tokens, columns) = layout.header
    return unsafe cp_load64_acquire(headerWords) == mark
      && cp_load64_acquire(headerWords + 1) == tokens
      && cp_load64_acquire(headerWords + 2) == columns
  }
}

/// The quantization of some tokens.
@safe struct QuantizationWork {
  let function: QuantizationFunction
  let arguments: CKQuantization
  private let memory: ActivationMemory

  init(
    _ library: OpaquePointer?, _ activations: UnsafePointer<afm_activations>?,
    _ input: UnsafePointer<Float>?, _ inputBytes: Int, _ inputStride: Int64
  ) throws(CallError) {
    let kernels = unsafe try selection(library)
    memory = try unsafe ActivationMemory(activations)
    let layout = memory.layout
    let source = try unsafe MemoryRange(
      input, byteCount: inputBytes,
      needed: floatRowBytes(layout.tokenCount, of: layout.columnCount, stride: inputStride),
      alignment: 4)
    try source.requireDisjoint(from: memory.range)
    unsafe function = kernels.pointee.quantization(layout.grouping)
    unsafe arguments = CKQuantization(
      input: source.base.assumingMemoryBound(to: Float.self), activations: memory.codes,
      activationScales: memory.scales, tokenSums: memory.sums, groupSums: memory.groupSums,
      inputStride: Int(truncatingIfNeeded: inputStride), activationStride: layout.stride,
      activationScaleStride: layout.scaleStride, groupSumStride: layout.groupSumStride,
      columnCount: layout.columnCount, chunkCount: layout.chunkCount, tokenBegin: 0,
      tokenEnd: layout.tokenCount)
  }

  /// Whether the work outweighs a fork and join: 16 Ki floats take about 2 µs.
  var isWorthSharing: Bool {
    unsafe arguments.tokenEnd > 1 && arguments.tokenEnd * arguments.columnCount >= 16384
  }

  /// Says in the memory what has been quantized into it.
  func end() { memory.markQuantized() }

  /// The memory is the caller's, checked above; tokens do not share any.
  func perform(_ tokens: Range<Int>) {
    guard !tokens.isEmpty else { return }
    var part = unsafe arguments
    unsafe part.tokenBegin = tokens.lowerBound
    unsafe part.tokenEnd = tokens.upperBound
    unsafe withUnsafePointer(to: part) { unsafe function($0) }
  }

  func perform(part: Int, of partCount: Int) {
    unsafe perform(ForkJoinPool.share(of: arguments.tokenEnd, part: part, partCount: partCount))
  }
}

@c @implementation
package func afm_activation_bytes(
  _ format: afm_format, _ tokens: Int64, _ columns: Int64, _ bytes: UnsafeMutablePointer<Int>?
) -> afm_error {
  result { () throws(CallError) in
    guard let bytes = unsafe bytes else { throw .null }
    let layout = try ActivationMemory.Layout(format, tokens: tokens, columns: columns)
    unsafe bytes.pointee = layout.byteCount
  }
}

@c @implementation
package func afm_quantize(
  _ library: OpaquePointer?, _ pool: OpaquePointer?,
  _ activations: UnsafePointer<afm_activations>?, _ input: UnsafePointer<Float>?,
  _ inputBytes: Int, _ inputStride: Int64
) -> afm_error {
  result { () throws(CallError) in
    let work = try unsafe QuantizationWork(
      library, activations, input, inputBytes, inputStride)
    if let pool = unsafe pool, work.isWorthSharing {
      // A pool that is busy leaves the memory as it is.
      try unsafe run(.quantization(work), on: pool)
    } else {
      work.perform(part: 0, of: 1)
    }
    work.end()
  }
}

@c @implementation
package func afm_quantize_tokens(
  _ library: OpaquePointer?, _ activations: UnsafePointer<afm_activations>?, _ tokenBegin: Int64,
  _ tokenEnd: Int64, _ input: UnsafePointer<Float>?, _ inputBytes: Int, _ inputStride: Int64
) -> afm_error {
  result { () throws(CallError) in
    let work = try unsafe QuantizationWork(
      library, activations, input, inputBytes, inputStride)
    guard tokenBegin >= 0, tokenBegin <= tokenEnd, unsafe tokenEnd <= work.arguments.tokenEnd else {
      throw .rows
    }
    work.perform(Int(truncatingIfNeeded: tokenBegin)..<Int(truncatingIfNeeded: tokenEnd))
    work.end()
  }
}
