import CZstd
import Files
import TensorCore

/// How the planes of a file are compressed.
package enum FrameCompression: Hashable, Sendable {
  /// Frames of raw zstd blocks: nothing is searched, any zstd reads them.
  case raw
  /// zstd at that level.
  case zstd(level: Int)

  /// The levels that the zstd library knows, 1 to 22 or so.
  package static var levels: ClosedRange<Int> { 1...Int(ZSTD_maxCLevel()) }
}

/// Makes zstd frames, one after another; one for each thread.
@safe
struct FrameCompressor: ~Copyable {
  private let compression: FrameCompression
  // Created here, freed in deinit, used by one thread at a time; nil for raw frames.
  private let context: OpaquePointer?

  init(_ compression: FrameCompression) {
    self.compression = compression
    guard case .zstd(let level) = compression else {
      unsafe context = nil
      return
    }
    guard let made = unsafe ZSTD_createCCtx() else { fatalError("no memory for zstd") }
    // The parameters exist in every zstd since 1.4 and clamp what they are given.
    _ = unsafe ZSTD_CCtx_setParameter(made, ZSTD_c_compressionLevel, Int32(clamping: level))
    _ = unsafe ZSTD_CCtx_setParameter(made, ZSTD_c_checksumFlag, 1)
    unsafe context = made
  }

  deinit { if let context = unsafe context { _ = unsafe ZSTD_freeCCtx(context) } }

  /// One frame with content checksum and content byte count that holds those bytes.
  ///
  /// Content that zstd would shrink more than `ContainerLayout.contentRatioLimit` times becomes
  /// raw blocks: readers refuse more than that.
  func frame(_ content: [UInt8]) -> [UInt8] {
    precondition((1...ContainerLayout.contentLimit).contains(content.count), "content of a frame")
    guard let context = unsafe context else { return Self.rawFrame(content) }
    let bound = ZSTD_compressBound(content.count)
    let frame = unsafe [UInt8](unsafeUninitializedCapacity: bound) { buffer, count in
      // zstd writes at most `bound` bytes, which is enough for any content of this length.
      let result = unsafe content.withUnsafeBytes {
        unsafe ZSTD_compress2(context, buffer.baseAddress, bound, $0.baseAddress, $0.count)
      }
      precondition(ZSTD_isError(result) == 0, "zstd cannot compress into its own bound")
      count = result
    }
    if frame.count * ContainerLayout.contentRatioLimit < content.count {
      return Self.rawFrame(content)
    }
    return frame
  }

  /// A frame of raw blocks: single segment, content byte count in the shortest form, checksum.
  static func rawFrame(_ content: [UInt8]) -> [UInt8] {
    var frame: [UInt8] = []
    frame.reserveCapacity(content.count + 64)
    frame.appendLittleEndian(ContainerLayout.dataFrameMagic)
    switch content.count {
    case ..<256:
      frame.append(0x24)
      frame.append(UInt8(content.count))
    case ..<65_792:
      frame.append(0x64)
      frame.appendLittleEndian(UInt16(content.count - 256))
    default:
      frame.append(0xA4)
      frame.appendLittleEndian(UInt32(content.count))
    }
    let blockLimit = 128 << 10
    for start in stride(from: 0, to: content.count, by: blockLimit) {
      let count = min(blockLimit, content.count - start)
      let header = UInt32(count) << 3 | (start + count == content.count ? 1 : 0)
      frame.append(UInt8(truncatingIfNeeded: header))
      frame.appendLittleEndian(UInt16(header >> 8))
      frame += content[start..<start + count]
    }
    frame.appendLittleEndian(UInt32(truncatingIfNeeded: XXH64.hash(content)))
    return frame
  }
}

/// Opens zstd frames, one after another; one for each thread.
@safe
struct FrameInflater: ~Copyable {
  // Created here, freed in deinit, used by one thread at a time.
  private let context: OpaquePointer

  init() {
    guard let made = unsafe ZSTD_createDCtx() else { fatalError("no memory for zstd") }
    unsafe context = made
  }

  deinit { _ = unsafe ZSTD_freeDCtx(context) }

  /// Whether the content's checksum is computed: not needed where the frame's own digest has been,
  /// since that covers every bit that the content comes from.
  func checkContent(_ isChecked: Bool) {
    // The context is this value's own. 1002 is ZSTD_d_forceIgnoreChecksum, an experimental parameter
    // since zstd 1.4.8; a library that does not know it goes on checking.
    _ = unsafe ZSTD_DCtx_setParameter(
      context, ZSTD_dParameter(rawValue: 1002), isChecked ? 0 : 1)
  }

  /// Inflates a frame, whose digest has been checked, into `destination`, which has room for the
  /// frame's content. Returns why the frame is not what the table says, or nil.
  func inflate(
    _ frame: FrameTable.Frame, _ bytes: RawSpan, into destination: UnsafeMutableRawPointer
  ) -> String? {
    // All calls read inside `bytes` and write inside `destination`.
    return unsafe bytes.withUnsafeBytes { source in
      let count = source.count
      guard count > 9,
        unsafe source.loadUnaligned(as: UInt32.self).littleEndian
          == ContainerLayout.dataFrameMagic,
        unsafe ZSTD_findFrameCompressedSize(source.baseAddress, count) == count
      else { return "not one whole zstd frame" }
      // Descriptor: bit 2 says that a content checksum follows; bits 0 and 1 name a dictionary.
      guard unsafe source[4] & 0b111 == 0b100 else {
        return "a zstd frame without checksum, or with a dictionary"
      }
      guard
        unsafe ZSTD_getFrameContentSize(source.baseAddress, count)
          == UInt64(frame.contentByteCount)
      else { return "the zstd frame declares another content byte count" }
      let checksum = unsafe source.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
      guard checksum.littleEndian == frame.contentChecksum else {
        return "the zstd frame has another content checksum"
      }
      let result = unsafe ZSTD_decompressDCtx(
        context, destination, frame.contentByteCount, source.baseAddress, count)
      guard ZSTD_isError(result) == 0 else {
        return unsafe "zstd: \(String(cString: ZSTD_getErrorName(result)))"
      }
      guard result == frame.contentByteCount else {
        return "zstd made \(result) bytes instead of \(frame.contentByteCount)"
      }
      return nil
    }
  }
}
