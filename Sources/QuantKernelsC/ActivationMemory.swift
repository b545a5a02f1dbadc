import CKernels
import CQuantKernels
import KernelContract
import PackedFormats

/// The memory of quantized tokens: codes, scales, sums and group sums, each beginning at a multiple
/// of 64.
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
    var scaleOffset: Int { tokenCount * stride }
    var sumOffset: Int { scaleOffset + roundedToLine(tokenCount * scaleStride * 4) }
    var groupSumOffset: Int { sumOffset + roundedToLine(tokenCount * 4) }
    var byteCount: Int { groupSumOffset + roundedToLine(tokenCount * groupSumStride * 4) }
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
  var codes: UnsafeMutablePointer<Int8> {
    unsafe range.mutableBase.assumingMemoryBound(to: Int8.self)
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
}

/// The quantization of some tokens.
@safe struct QuantizationWork {
  let function: QuantizationFunction
  let arguments: CKQuantization

  init(
    _ library: OpaquePointer?, _ activations: UnsafePointer<afm_activations>?,
    _ input: UnsafePointer<Float>?, _ inputBytes: Int, _ inputStride: Int64
  ) throws(CallError) {
    let kernels = unsafe try selection(library)
    let memory = try unsafe ActivationMemory(activations)
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

  /// The memory is the caller's, checked above; tokens do not share any.
  func perform(_ tokens: Range<Int>) {
    guard !tokens.isEmpty else { return }
    var part = unsafe arguments
    unsafe part.tokenBegin = tokens.lowerBound
    unsafe part.tokenEnd = tokens.upperBound
    unsafe withUnsafePointer(to: part) { unsafe function($0) }
  }

  func perform(thread: Int, threadCount: Int) {
    unsafe perform(share(of: arguments.tokenEnd, thread: thread, threadCount: threadCount))
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
      try unsafe run(.quantization(work), on: pool)
    } else {
      work.perform(thread: 0, threadCount: 1)
    }
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
  }
}
