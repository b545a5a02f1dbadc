/// CRC-32 as zlib and PNG compute it (polynomial 0xEDB88320, reflected): finds every error within
/// 32 consecutive bits, and any other with all but 2⁻³² probability.
package struct CyclicRedundancyCheck {
  private let table: [UInt32]

  package init() {
    table = (0..<256).map { byte in
      (0..<8).reduce(UInt32(byte)) { value, _ in
        value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xEDB8_8320
      }
    }
  }

  /// The check of the bytes from `start` on.
  package func value(of bytes: Span<UInt8>, from start: Int) -> UInt32 {
    var state = ~UInt32(0)
    for index in start..<bytes.count {
      state = state >> 8 ^ table[Int((state ^ UInt32(bytes[index])) & 0xFF)]
    }
    return ~state
  }
}
