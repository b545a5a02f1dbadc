import Files
import ModelFile

/// Makes the digests of a `.afmw` file right after the fuzzer has changed it, and what else repeats
/// other bytes (byte count, checksums, seek table), so that its changes reach the code behind.
///
/// Follows the specification of the container, and leaves alone whatever does not: nothing here
/// traps, and a file that cannot be followed to its end is left with what was done so far.
enum ContainerSeal {
  static func seal(_ bytes: inout [UInt8]) {
    guard bytes.count >= 64 else { return }
    bytes.set(24, UInt64(bytes.count), width: 8)
    if let index = range(bytes.integer(32, width: 8), bytes.integer(40, width: 8), in: bytes) {
      sealIndex(&bytes, index)
      bytes.set(48, ContentDigest.of(bytes[index]), width: 8)
    }
    bytes.set(56, ContentDigest.of(bytes[0..<56]), width: 8)
  }

  /// A frame between prologue and index, by its entry in the table.
  private struct Frame {
    var range: Range<Int>
    /// The content, where the frame is stored or has raw blocks only.
    var content: [UInt8]?
  }

  private static func sealIndex(_ bytes: inout [UInt8], _ index: Range<Int>) {
    var sections: [[UInt8]: Range<Int>] = [:]
    var position = index.lowerBound + 8
    while position + 16 <= index.upperBound {
      let count = bytes.integer(position + 8, width: 8)
      guard count <= UInt64(index.upperBound - position - 16) else { break }
      let section = position + 16..<position + 16 + Int(count)
      sections[Array(bytes[position..<position + 4])] = section
      position = (section.upperBound - index.lowerBound + 7) / 8 * 8 + index.lowerBound
    }
    guard let table = sections[Array("FRAM".utf8)] else { return }
    let frames = sealFrames(&bytes, table)
    if let directory = sections[Array("TENS".utf8)] { sealPlanes(&bytes, directory, frames) }
    sealSeekTable(&bytes, index, table)
  }

  /// Checksum and digest of every frame.
  private static func sealFrames(_ bytes: inout [UInt8], _ table: Range<Int>) -> [Frame] {
    var frames: [Frame] = []
    var offset = 64
    var entry = table.lowerBound + 8
    while entry + 24 <= table.upperBound {
      let count = bytes.integer(entry, width: 4)
      guard let range = range(UInt64(offset), count, in: bytes) else { break }
      var frame = Frame(range: range)
      if bytes.integer(entry + 12, width: 4) == 1 {
        let plane = (range.lowerBound + 8 + 4095) / 4096 * 4096
        if plane <= range.upperBound { frame.content = Array(bytes[plane..<range.upperBound]) }
      } else if range.count > 9 {
        let checksum = range.upperBound - 4
        if let content = rawContent(bytes[range.lowerBound..<checksum]) {
          bytes.set(checksum, XXH64.hash(content) & 0xFFFF_FFFF, width: 4)
          frame.content = content
        }
        bytes.set(entry + 8, bytes.integer(checksum, width: 4), width: 4)
      }
      bytes.set(entry + 16, ContentDigest.of(bytes[range]), width: 8)
      frames.append(frame)
      offset = range.upperBound
      entry += 24
    }
    return frames
  }

  /// What a zstd frame of raw blocks holds, its checksum cut off; nil for other frames.
  private static func rawContent(_ frame: ArraySlice<UInt8>) -> [UInt8]? {
    let headers: [UInt8: Int] = [0x24: 6, 0x64: 7, 0xA4: 9]
    guard frame.count > 5, let header = headers[frame[frame.startIndex + 4]] else { return nil }
    var content: [UInt8] = []
    var position = frame.startIndex + header
    while position + 3 <= frame.endIndex {
      let block = (0..<3).reduce(0) { $0 | Int(frame[position + $1]) << (8 * $1) }
      let end = position + 3 + block >> 3
      guard block >> 1 & 3 == 0, end <= frame.endIndex else { return nil }
      content += frame[position + 3..<end]
      if block & 1 == 1 { return end == frame.endIndex ? content : nil }
      position = end
    }
    return nil
  }

  /// The digest of every plane whose content is known.
  private static func sealPlanes(
    _ bytes: inout [UInt8], _ directory: Range<Int>, _ frames: [Frame]
  ) {
    var entry = directory.lowerBound + 8
    while entry + 8 <= directory.upperBound {
      let nameByteCount = Int(bytes.integer(entry + 4, width: 2))
      var plane = entry + 8 + 8 * Int(bytes[entry + 6])
      for _ in 0..<bytes[entry + 7] {
        guard plane + 32 <= directory.upperBound else { return }
        let first = Int(bytes.integer(plane + 8, width: 4))
        let count = Int(bytes.integer(plane + 12, width: 4))
        if first + count <= frames.count {
          let contents = frames[first..<first + count].compactMap(\.content)
          if contents.count == count {
            bytes.set(plane + 24, ContentDigest.of(contents.flatMap { $0 }[...]), width: 8)
          }
        }
        plane += 32
      }
      entry += (plane + nameByteCount - entry + 7) / 8 * 8
    }
  }

  /// The seek table behind the index, as the frame table makes it, as far as there is room.
  private static func sealSeekTable(
    _ bytes: inout [UInt8], _ index: Range<Int>, _ table: Range<Int>
  ) {
    let count = table.count >= 8 ? (table.count - 8) / 24 : 0
    var seek: [UInt8] = []
    func append(_ value: UInt64) {
      seek += (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    func entry(_ compressed: UInt64, _ content: UInt64, _ checksum: UInt64) {
      append(compressed)
      append(content)
      append(checksum)
    }
    append(0x184D_2A5E)
    append(UInt64((count + 2) * 12 + 9))
    entry(64, 0, 0x51D8_E999)
    for number in 0..<count {
      let start = table.lowerBound + 8 + 24 * number
      entry(
        bytes.integer(start, width: 4), bytes.integer(start + 4, width: 4),
        bytes.integer(start + 8, width: 4))
    }
    entry(UInt64(index.count), 0, 0x51D8_E999)
    append(UInt64(count + 2))
    seek.append(0x80)
    append(0x8F92_EAB1)
    guard bytes.count - index.upperBound == seek.count else { return }
    bytes.replaceSubrange(index.upperBound..., with: seek)
  }

  /// A range of the file, or nil where it is none.
  private static func range(
    _ offset: UInt64, _ count: UInt64, in bytes: [UInt8]
  ) -> Range<Int>? {
    guard offset <= UInt64(bytes.count), count <= UInt64(bytes.count) - offset else { return nil }
    return Int(offset)..<Int(offset + count)
  }
}

extension [UInt8] {
  /// A little-endian field.
  func integer(_ offset: Int, width: Int) -> UInt64 {
    (0..<width).reduce(0) { $0 | UInt64(self[offset + $1]) << UInt64(8 * $1) }
  }

  /// Overwrites a little-endian field.
  mutating func set(_ offset: Int, _ value: UInt64, width: Int) {
    for index in 0..<width {
      self[offset + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * index))
    }
  }
}
