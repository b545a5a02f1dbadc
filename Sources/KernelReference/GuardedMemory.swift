/// Elements between two bands of bytes that no kernel may touch, at an address that is a multiple
/// of the element's size only.
///
/// The bands are all ones: NaN where a kernel reads them as floats and uses what it read.
@safe package final class GuardedMemory<Element: BitwiseCopyable> {
  /// The first element; valid as long as this object lives.
  package let base: UnsafeMutablePointer<Element>
  package let count: Int
  private let block: UnsafeMutableRawPointer
  private static var bandByteCount: Int { 128 + MemoryLayout<Element>.size }

  package init(_ values: [Element]) {
    count = values.count
    let byteCount = 2 * Self.bandByteCount + count * MemoryLayout<Element>.size
    unsafe block = .allocate(byteCount: byteCount, alignment: 64)
    unsafe block.initializeMemory(as: UInt8.self, repeating: 0xFF, count: byteCount)
    unsafe base = (block + Self.bandByteCount).bindMemory(to: Element.self, capacity: max(count, 1))
    for (index, value) in values.enumerated() { unsafe base[index] = value }
  }

  deinit { unsafe block.deallocate() }

  package var values: [Element] {
    // The elements were written in init, and kernels write whole elements.
    unsafe Array(UnsafeBufferPointer(start: base, count: count))
  }

  /// Whether both bands are as they were.
  package var isIntact: Bool {
    let end = Self.bandByteCount + count * MemoryLayout<Element>.size
    for index in 0..<Self.bandByteCount {
      // Both bands lie within the block.
      if unsafe block.load(fromByteOffset: index, as: UInt8.self) != 0xFF { return false }
      if unsafe block.load(fromByteOffset: end + index, as: UInt8.self) != 0xFF { return false }
    }
    return true
  }
}
