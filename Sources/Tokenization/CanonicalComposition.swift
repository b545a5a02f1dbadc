@_spi(_Unicode) import Swift

/// Unicode normalisation form C, which some tokenizers apply before anything else.
///
/// The standard library has it, but not yet in public; that interface is used in this file alone.
enum CanonicalComposition {
  /// Composes valid UTF-8; text without scalars from U+0300 on is returned as it is.
  static func composed(_ bytes: [UInt8]) -> [UInt8] {
    // Below U+0300, whose lead byte is 0xCC, every scalar is composed and starts anew.
    guard bytes.contains(where: { $0 >= 0xCC }) else { return bytes }
    var result = String.UnicodeScalarView()
    result.append(contentsOf: String(decoding: bytes, as: UTF8.self)._nfc)
    return Array(String(result).utf8)
  }
}
