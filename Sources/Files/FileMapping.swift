import Glibc

/// A range of a file, mapped read-only: its bytes come from the page cache without a copy.
///
/// If another process shortens the file meanwhile, reading the lost bytes ends this process with
/// SIGBUS; files that appear whole or not at all (``OutputFile``) are replaced, never shortened.
@safe package struct FileMapping: ~Copyable, @unchecked Sendable {
  // The mapping is read-only and lives as long as this value; nobody else unmaps it.
  private let baseAddress: UnsafeMutableRawPointer
  package let byteCount: Int

  /// The multiple that offsets of mappings must be of.
  package static let alignment = 4096

  /// Maps `byteCount` bytes from `offset` on, which `alignment` and the OS page size must divide.
  package init(of file: borrowing InputFile, at offset: Int, byteCount: Int) throws(FileError) {
    precondition(byteCount > 0 && offset >= 0, "an empty mapping")
    let (end, overflow) = offset.addingReportingOverflow(byteCount)
    guard !overflow, end <= file.byteCount else {
      throw FileError(path: file.path, operation: .map, reason: .ended(at: file.byteCount))
    }
    // A fresh address chosen by the system; the failure value is tested before any use.
    let address = unsafe mmap(
      nil, byteCount, PROT_READ, MAP_SHARED, file.descriptor.number, off_t(offset))
    guard let address = unsafe address, unsafe address != MAP_FAILED else {
      throw .last(path: file.path, operation: .map)
    }
    unsafe baseAddress = address
    self.byteCount = byteCount
  }

  deinit { unsafe munmap(baseAddress, byteCount) }

  /// The mapped bytes.
  package var bytes: RawSpan {
    @_lifetime(borrow self) get {
      // The mapping outlives the span: it is bound to the borrow of `self`.
      let span = unsafe RawSpan(_unsafeStart: baseAddress, byteCount: byteCount)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }
}
