import CZstd
import Files

/// The zstd frame of a snapshot on its way to a file: content in pieces, a digest of what came out.
@safe
struct SnapshotFrame: ~Copyable {
  // Created here, freed in deinit, used by one thread.
  private let context: OpaquePointer
  private var hash = XXH64()
  private var output: [UInt8]

  init(level: Int, contentByteCount: Int) {
    guard let made = unsafe ZSTD_createCCtx() else { fatalError("no memory for zstd") }
    // The parameters exist in every zstd since 1.4 and clamp what they are given.
    _ = unsafe ZSTD_CCtx_setParameter(made, ZSTD_c_compressionLevel, Int32(clamping: level))
    _ = unsafe ZSTD_CCtx_setParameter(made, ZSTD_c_checksumFlag, 1)
    _ = unsafe ZSTD_CCtx_setPledgedSrcSize(made, UInt64(contentByteCount))
    unsafe context = made
    output = Array(repeating: 0, count: ZSTD_CStreamOutSize())
  }

  deinit { _ = unsafe ZSTD_freeCCtx(context) }

  /// XXH64 of the frame's bytes so far.
  var digest: UInt64 { hash.value }

  mutating func append(_ content: RawSpan, to file: inout OutputFile) throws(FileError) {
    try put(content, ZSTD_e_continue, to: &file)
  }

  mutating func append(_ content: [UInt8], to file: inout OutputFile) throws(FileError) {
    // Bytes have no padding.
    try unsafe put(content.span.bytes, ZSTD_e_continue, to: &file)
  }

  mutating func end(_ file: inout OutputFile) throws(FileError) {
    let nothing: [UInt8] = []
    try unsafe put(nothing.span.bytes, ZSTD_e_end, to: &file)
  }

  private mutating func put(
    _ content: RawSpan, _ directive: ZSTD_EndDirective, to file: inout OutputFile
  ) throws(FileError) {
    var consumed = 0
    while true {
      let (left, made) = step(content, from: &consumed, directive)
      if made > 0 {
        let piece = output
        // The first `made` bytes are what zstd wrote.
        let bytes = unsafe piece.span.bytes.extracting(0..<made)
        hash.update(bytes)
        try file.append(bytes)
      }
      if directive == ZSTD_e_end ? left == 0 : consumed == content.byteCount { return }
    }
  }

  /// One call of zstd: what it has still to flush, and the bytes that it put into `output`.
  private mutating func step(
    _ content: RawSpan, from consumed: inout Int, _ directive: ZSTD_EndDirective
  ) -> (left: Int, made: Int) {
    var place = consumed
    let context = unsafe self.context
    let outcome: (Int, Int) = unsafe content.withUnsafeBytes { source in
      unsafe output.withUnsafeMutableBytes { target in
        // Both buffers live through the call, and zstd stays inside them.
        var input = unsafe ZSTD_inBuffer(src: source.baseAddress, size: source.count, pos: place)
        var result = unsafe ZSTD_outBuffer(dst: target.baseAddress, size: target.count, pos: 0)
        let left = unsafe ZSTD_compressStream2(context, &result, &input, directive)
        precondition(ZSTD_isError(left) == 0, "zstd cannot compress what it was promised")
        place = unsafe input.pos
        return unsafe (left, result.pos)
      }
    }
    consumed = place
    return outcome
  }
}
