import TensorCore
import TraceCore

/// The file form of a recording, `.afmtrace` version 2.
///
/// ```
/// 41 46 4D 54 52 41 43 45   "AFMTRACE"
/// 02 00 00 00               version, u32 little-endian like all fixed fields
/// xx xx xx xx               CRC-32 of all bytes that follow
/// nn nn nn nn nn nn nn nn   byte count of the payload, which ends the file
/// payload
/// ```
///
/// The payload is a sequence of varints (LEB128, at most 64 bits), signed ones in zigzag form, and
/// strings (a varint byte count, then UTF-8):
///
/// | field | form |
/// | --- | --- |
/// | process id | signed |
/// | start, end | monotonic, realtime, boottime nanoseconds each |
/// | metadata | count, then key and value strings |
/// | strings | count, then strings |
/// | argument sets | count, then sets, each a count, then keys and signed values |
/// | tracks | count, then tracks |
///
/// A track is its name, its thread (0 for none, else the zigzag form of its id plus 1), its count of
/// dropped events, the count of its events, and the events. An event is one byte `kind | argumentCount << 3`, the code byte unless
/// it is an end, the nanoseconds since the track's previous event (the first: since 0), the signed
/// value if it is a counter, and for each argument a key byte and a signed value. Codes are the raw
/// values of ``TraceName``, ``TraceKey`` and ``TraceCounter``.
///
/// Version 1, which is read too, has no argument sets, and every track has a thread id, signed. Only
/// the one that is the process's was a thread: the others were made up, and are read as none.
///
/// A reader must reject: a wrong magic, version, byte count or check; a varint that does not end or
/// does not fit; invalid UTF-8; an unknown kind or code; time that overflows; an end without a
/// begin or a begin without an end; the index of a string or of a set out of range; a set within a
/// set; two tracks with one thread id; and bytes left over.
public enum RecordingFile {
  /// The first eight bytes.
  public static let magic: [UInt8] = Array("AFMTRACE".utf8)
  /// The version written.
  public static let version: UInt32 = 2
  /// The oldest version that is read.
  public static let oldestVersion: UInt32 = 1

  static let headerByteCount = 24
  static let checkedFrom = 16

  /// The bytes of the file. O(events); about eight bytes an event.
  public static func encode(_ recording: Recording) -> [UInt8] {
    var payload = RecordingEncoder()
    payload.append(recording)
    var bytes = magic
    bytes.reserveCapacity(headerByteCount + payload.bytes.count)
    appendFixed(version, to: &bytes)
    appendFixed(UInt32(0), to: &bytes)
    appendFixed(UInt64(payload.bytes.count), to: &bytes)
    bytes += payload.bytes
    let check = CyclicRedundancyCheck().value(of: bytes.span, from: checkedFrom)
    for index in 0..<4 { bytes[12 + index] = UInt8(truncatingIfNeeded: check >> (8 * index)) }
    return bytes
  }

  /// Reads a file's bytes; nothing in them can trap.
  ///
  /// Throws an ``InputError`` with the offset of the first fault. O(bytes).
  public static func decode(_ bytes: Span<UInt8>) throws(InputError) -> Recording {
    guard bytes.count >= headerByteCount else {
      throw InputError(
        place: "header", offset: bytes.count,
        reason: "a recording has at least \(headerByteCount) bytes")
    }
    for index in magic.indices where bytes[index] != magic[index] {
      throw InputError(
        place: "header", offset: index, reason: "the file does not begin with AFMTRACE")
    }
    let found = fixed(bytes, at: 8, byteCount: 4)
    guard (UInt64(oldestVersion)...UInt64(version)).contains(found) else {
      throw InputError(
        place: "header", offset: 8,
        reason: "version \(found) instead of \(oldestVersion) to \(version)")
    }
    let byteCount = fixed(bytes, at: 16, byteCount: 8)
    guard byteCount == bytes.count - headerByteCount else {
      throw InputError(
        place: "header", offset: 16,
        reason: "a payload of \(byteCount) bytes instead of \(bytes.count - headerByteCount)")
    }
    let check = CyclicRedundancyCheck().value(of: bytes, from: checkedFrom)
    guard fixed(bytes, at: 12, byteCount: 4) == check else {
      throw InputError(place: "header", offset: 12, reason: "the checksum does not match")
    }
    var decoder = RecordingDecoder(
      bytes: bytes, offset: headerByteCount, version: UInt32(found))
    return try decoder.recording()
  }

  private static func appendFixed<T: FixedWidthInteger>(_ value: T, to bytes: inout [UInt8]) {
    for shift in stride(from: 0, to: T.bitWidth, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: value >> T(shift)))
    }
  }

  /// In bounds: the caller has seen the whole header.
  private static func fixed(_ bytes: Span<UInt8>, at offset: Int, byteCount: Int) -> UInt64 {
    (0..<byteCount).reduce(0) { $0 | UInt64(bytes[offset + $1]) << UInt64(8 * $1) }
  }
}
