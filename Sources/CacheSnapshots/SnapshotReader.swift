import CZstd
import Files
import KVCache
import TensorCore

/// A snapshot file, checked from the outside in: prologue, header, frame, content.
struct SnapshotReader: ~Copyable {
  private let path: String
  private let file: InputFile
  /// Prologue and header, whose digest is right.
  private let headerBytes: [UInt8]

  init(opening path: String) throws(SnapshotError) {
    let file = try Self.open(path)
    let prologueByteCount = SnapshotHeader.prologueByteCount
    let prologue = try Self.read(file, path, at: 0, byteCount: prologueByteCount, "prologue")
    guard Array(prologue[..<8]) == SnapshotHeader.magic else {
      throw Self.fault(path, "prologue", 0, "not a snapshot of a cache")
    }
    func integer(_ offset: Int, _ count: Int) -> UInt64 {
      prologue[offset..<offset + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    guard integer(8, 4) == UInt64(SnapshotHeader.version) else {
      throw Self.fault(path, "prologue", 8, "version \(integer(8, 4)) is unknown")
    }
    guard integer(12, 4) <= UInt64(SnapshotHeader.byteCountLimit) else {
      throw Self.fault(path, "prologue", 12, "a header of \(integer(12, 4)) bytes")
    }
    let rest = try Self.read(
      file, path, at: prologueByteCount, byteCount: Int(integer(12, 4)), "header")
    guard XXH64.hash(Array(prologue[..<16]) + rest) == integer(16, 8) else {
      throw Self.fault(path, "header", 16, "the digest is another: bits were changed")
    }
    headerBytes = prologue + rest
    self.file = file
    self.path = path
  }

  private static func open(_ path: String) throws(SnapshotError) -> InputFile {
    do throws(FileError) {
      return try InputFile(opening: path)
    } catch {
      throw .input(InputError(error, file: path))
    }
  }

  /// The header, if it is of that model and layout, and the file as long as it says.
  func header(
    identity: PrefixIdentity, layout: CacheLayout
  ) throws(SnapshotError) -> SnapshotHeader {
    let header = try SnapshotFields.read(
      headerBytes, file: path, identity: identity, layout: layout)
    let byteCount = headerBytes.count + header.frameByteCount
    guard file.byteCount == byteCount else {
      throw Self.fault(
        path, "pages", min(file.byteCount, byteCount),
        file.byteCount < byteCount
          ? "\(byteCount - file.byteCount) bytes are missing"
          : "\(file.byteCount - byteCount) bytes too many")
    }
    return header
  }

  /// Tokens and page images.
  func content(of header: SnapshotHeader) throws(SnapshotError) -> AlignedStorage {
    let start = headerBytes.count
    let frame = try Self.read(file, path, at: start, byteCount: header.frameByteCount, "pages")
    guard XXH64.hash(frame) == header.frameDigest else {
      throw Self.fault(path, "pages", start, "the digest is another: bits were changed")
    }
    let content = AlignedStorage(byteCount: header.contentByteCount)
    let made = unsafe frame.withUnsafeBytes { source in
      // zstd reads inside the frame and writes inside the content.
      unsafe ZSTD_decompress(
        content.baseAddress, content.byteCount, source.baseAddress, source.count)
    }
    guard ZSTD_isError(made) == 0 else {
      throw Self.fault(
        path, "pages", start, unsafe "zstd: \(String(cString: ZSTD_getErrorName(made)))")
    }
    guard made == content.byteCount else {
      throw Self.fault(
        path, "pages", start, "\(made) bytes inflated instead of \(content.byteCount)")
    }
    return content
  }

  private static func fault(
    _ path: String, _ place: String, _ offset: Int, _ reason: String
  ) -> SnapshotError {
    .input(InputError(file: path, place: place, offset: offset, reason: reason))
  }

  private static func read(
    _ file: borrowing InputFile, _ path: String, at offset: Int, byteCount: Int, _ place: String
  ) throws(SnapshotError) -> [UInt8] {
    let missing = offset + byteCount - file.byteCount
    guard missing <= 0 else {
      throw fault(path, place, file.byteCount, "\(missing) bytes are missing")
    }
    var bytes: [UInt8] = Array(repeating: 0, count: byteCount)
    do throws(FileError) {
      var span = bytes.mutableSpan
      // Bytes have no padding.
      var raw = unsafe span.mutableBytes
      try file.read(at: offset, into: &raw)
    } catch {
      throw .input(InputError(error, file: path, place: place))
    }
    return bytes
  }
}
