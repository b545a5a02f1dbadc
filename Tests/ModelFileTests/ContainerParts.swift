import Foundation
import ModelFile

/// A `.afmw` file taken apart and put together again from its specification alone, with digests
/// that are right whatever was changed: for files that only a hostile writer would make.
struct ContainerParts {
  struct Frame {
    var bytes: [UInt8]
    var contentByteCount: Int
    var contentChecksum: UInt32
    var kind: UInt32
    var digest: UInt64?
  }

  var version: UInt32 = 1
  var features: UInt64 = 0
  var fileByteCountExcess = 0
  var indexOffset: UInt64?
  var indexByteCount: UInt64?
  var frames: [Frame] = []
  var sections: [(id: String, bytes: [UInt8])] = []
  /// The frame count that section FRAM claims.
  var claimedFrameCount: UInt64?

  init(_ file: [UInt8]) {
    let indexOffset = Int(Self.integer(file, 32, 8))
    var position = indexOffset + 8
    let indexEnd = indexOffset + Int(Self.integer(file, 40, 8))
    var table: [UInt8] = []
    while position < indexEnd {
      let id = String(decoding: file[position..<position + 4], as: UTF8.self)
      let count = Int(Self.integer(file, position + 8, 8))
      let bytes = Array(file[position + 16..<position + 16 + count])
      if id == "FRAM" { table = bytes } else { sections.append((id, bytes)) }
      position += 16 + (count + 7) / 8 * 8
    }
    var offset = 64
    for entry in stride(from: 8, to: table.count, by: 24) {
      let count = Int(Self.integer(table, entry, 4))
      frames.append(
        Frame(
          bytes: Array(file[offset..<offset + count]),
          contentByteCount: Int(Self.integer(table, entry + 4, 4)),
          contentChecksum: UInt32(Self.integer(table, entry + 8, 4)),
          kind: UInt32(Self.integer(table, entry + 12, 4))))
      offset += count
    }
  }

  func encoded() -> [UInt8] {
    let body = frames.flatMap(\.bytes)
    var table: [UInt8] = []
    Self.append(&table, claimedFrameCount ?? UInt64(frames.count), 8)
    for frame in frames {
      Self.append(&table, UInt64(frame.bytes.count), 4)
      Self.append(&table, UInt64(frame.contentByteCount), 4)
      Self.append(&table, UInt64(frame.contentChecksum), 4)
      Self.append(&table, UInt64(frame.kind), 4)
      Self.append(&table, frame.digest ?? ContentDigest.of(frame.bytes[...]), 8)
    }
    var payload: [UInt8] = []
    for (id, bytes) in sections + [("FRAM", table)] {
      payload += Array(id.utf8)
      Self.append(&payload, 0, 4)
      Self.append(&payload, UInt64(bytes.count), 8)
      payload += bytes
      while payload.count % 8 != 0 { payload.append(0) }
    }
    var index: [UInt8] = []
    Self.append(&index, 0x184D_2A52, 4)
    Self.append(&index, UInt64(payload.count), 4)
    index += payload
    let seek = seekTable(indexByteCount: index.count)
    var prologue: [UInt8] = []
    Self.append(&prologue, 0x184D_2A50, 4)
    Self.append(&prologue, 56, 4)
    prologue += Array("AFMW".utf8)
    Self.append(&prologue, UInt64(version), 4)
    Self.append(&prologue, features, 8)
    let total = 64 + body.count + index.count + seek.count
    Self.append(&prologue, UInt64(total + fileByteCountExcess), 8)
    Self.append(&prologue, indexOffset ?? UInt64(64 + body.count), 8)
    Self.append(&prologue, indexByteCount ?? UInt64(index.count), 8)
    Self.append(&prologue, ContentDigest.of(index[...]), 8)
    Self.append(&prologue, ContentDigest.of(prologue[...]), 8)
    return prologue + body + index + seek
  }

  private func seekTable(indexByteCount: Int) -> [UInt8] {
    var seek: [UInt8] = []
    Self.append(&seek, 0x184D_2A5E, 4)
    Self.append(&seek, UInt64((frames.count + 2) * 12 + 9), 4)
    func entry(_ compressed: Int, _ content: Int, _ checksum: UInt32) {
      Self.append(&seek, UInt64(compressed), 4)
      Self.append(&seek, UInt64(content), 4)
      Self.append(&seek, UInt64(checksum), 4)
    }
    entry(64, 0, 0x51D8_E999)
    for frame in frames { entry(frame.bytes.count, frame.contentByteCount, frame.contentChecksum) }
    entry(indexByteCount, 0, 0x51D8_E999)
    Self.append(&seek, UInt64(frames.count + 2), 4)
    seek.append(0x80)
    Self.append(&seek, 0x8F92_EAB1, 4)
    return seek
  }

  /// Changes a section's bytes.
  mutating func edit(_ id: String, _ change: (inout [UInt8]) -> Void) {
    for index in sections.indices where sections[index].id == id {
      change(&sections[index].bytes)
    }
  }

  static func integer(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> UInt64 {
    (0..<count).reduce(0) { $0 | UInt64(bytes[offset + $1]) << UInt64(8 * $1) }
  }

  static func append(_ bytes: inout [UInt8], _ value: UInt64, _ count: Int) {
    for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * index))) }
  }
}

extension [UInt8] {
  /// Overwrites a little-endian field.
  mutating func set(_ offset: Int, _ value: UInt64, _ count: Int) {
    for index in 0..<count {
      self[offset + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * index))
    }
  }
}
