import Glibc

/// A range of a file, mapped read-only: its bytes come from the page cache without a copy.
///
/// If another process shortens the file meanwhile, reading the lost bytes raises SIGBUS, which
/// ends a process with no handler for it; `cpr_install`'s ends the program with one line and exit code 3.
/// Files that appear whole or not at all (``OutputFile``) are replaced, never shortened.
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

  /// Brings a range into memory and into the mapping, as reading its bytes would, but reports what
  /// cannot be read as an error. Waits for the disk where the page cache does not hold the range.
  ///
  /// Systems before Linux 5.14 cannot do this; there the bytes come when they are touched.
  package func populate(
    _ range: Range<Int>, of file: borrowing InputFile
  ) throws(FileError) {
    let start = range.lowerBound / Self.alignment * Self.alignment
    precondition(start >= 0 && range.upperBound <= byteCount, "outside the mapping")
    // The range lies in the mapping, which lives as long as this value.
    let status = FileDescriptor.retrying {
      Int(unsafe madvise(baseAddress + start, range.upperBound - start, Self.populateRead))
    }
    guard status != 0, errno != EINVAL else { return }
    if let now = file.descriptor.status(), Int(now.st_size) < range.upperBound {
      throw FileError(path: file.path, operation: .read, reason: .ended(at: Int(now.st_size)))
    }
    throw .last(path: file.path, operation: .read)
  }

  /// Gives a range's pages back: they stay in the page cache, but no longer count as this
  /// process's. Pages that the range shares with its neighbours go too; touching them brings them
  /// back.
  package func release(_ range: Range<Int>) {
    let start = range.lowerBound / Self.alignment * Self.alignment
    precondition(start >= 0 && range.upperBound <= byteCount, "outside the mapping")
    // Nothing was written to the pages, so nothing is lost.
    _ = unsafe madvise(baseAddress + start, range.upperBound - start, MADV_DONTNEED)
  }

  /// The share of the mapping's pages that the page cache holds, 0…1: of more than 2 MiB estimated
  /// from 512 pages at equal distances, since each takes a microsecond.
  ///
  /// Systems that tell only owners of a file about its pages say 1 to others.
  package func residentShare() -> Double {
    let pageCount = (byteCount + Self.alignment - 1) / Self.alignment
    let step = (pageCount + Self.sampledPageCount - 1) / Self.sampledPageCount
    var residentCount = 0
    var sampleCount = 0
    for page in stride(from: 0, to: pageCount, by: step) {
      var state: UInt8 = 0
      // One byte for the one page, which lies in the mapping.
      guard unsafe mincore(baseAddress + page * Self.alignment, 1, &state) == 0 else { return 1 }
      residentCount += Int(state & 1)
      sampleCount += 1
    }
    return Double(residentCount) / Double(sampleCount)
  }

  private static var sampledPageCount: Int { 512 }

  /// MADV_POPULATE_READ, which Glibc's headers of some releases do not name.
  private static var populateRead: Int32 { 22 }

  /// The address of a range's first byte, valid as long as this value.
  @unsafe package func address(of range: Range<Int>) -> UnsafeRawPointer {
    precondition(range.lowerBound >= 0 && range.upperBound <= byteCount, "outside the mapping")
    return unsafe UnsafeRawPointer(baseAddress + range.lowerBound)
  }

  /// The mapped bytes.
  package var bytes: RawSpan {
    @_lifetime(borrow self) get {
      // The mapping outlives the span: it is bound to the borrow of `self`.
      let span = unsafe RawSpan(_unsafeStart: baseAddress, byteCount: byteCount)
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }
}
