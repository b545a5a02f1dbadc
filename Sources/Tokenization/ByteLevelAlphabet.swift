/// The 256 printable characters that stand for the bytes in a byte-level vocabulary.
///
/// Printable bytes of Latin-1 stand for themselves; the 68 others are U+0100, U+0101, … in order,
/// so that a space is `Ġ` (U+0120) and a line feed `Ċ` (U+010A).
package enum ByteLevelAlphabet {
  /// The scalar value that stands for each byte.
  package static let scalars: [UInt32] = {
    var next: UInt32 = 0x100
    return (0..<256).map { byte in
      switch byte {
      case 0x21...0x7E, 0xA1...0xAC, 0xAE...0xFF: return UInt32(byte)
      default:
        defer { next += 1 }
        return next
      }
    }
  }()

  /// The byte of each scalar value below 0x144, or -1 where a scalar stands for none.
  private static let bytes: [Int16] = {
    var result = [Int16](repeating: -1, count: 0x144)
    for (byte, scalar) in scalars.enumerated() { result[Int(scalar)] = Int16(byte) }
    return result
  }()

  /// The byte that a scalar stands for.
  package static func byte(for scalar: Unicode.Scalar) -> UInt8? {
    guard scalar.value < 0x144 else { return nil }
    let byte = bytes[Int(scalar.value)]
    return byte < 0 ? nil : UInt8(byte)
  }

  /// Bytes as text in the alphabet.
  package static func text(of bytes: some Sequence<UInt8>) -> String {
    var result = String.UnicodeScalarView()
    for byte in bytes {
      if let scalar = Unicode.Scalar(scalars[Int(byte)]) { result.append(scalar) }
    }
    return String(result)
  }
}
