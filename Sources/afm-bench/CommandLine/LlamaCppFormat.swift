import KVCache
import PackedFormats

/// llama.cpp's names for stored numbers. Those with a counterpart here are understood wherever a
/// format is named: `q8_0` has 8 bits and a scale, `q4_1` 4 bits, a scale and a minimum. `q4_0` and
/// the others have none.
enum LlamaCppFormat {
  /// The weight format that a name of llama.cpp stands for.
  static func weights(_ name: String) -> WeightFormat? {
    switch name.lowercased() {
    case "q8_0": .s8g32
    case "q4_1": .u4g32
    default: nil
    }
  }

  /// What help texts say about the names.
  static let cacheNote = "llama.cpp's q8_0 stands for s8, and q4_1 for u4g32."
  static let weightsNote = "llama.cpp's q8_0 stands for s8g32, and q4_1 for u4g32."

  /// What to say of a name that has no counterpart; nil for other names.
  static func hint(for name: String) -> String? {
    guard name.lowercased().contains(/^[it]?q[0-9]|^bf16$|^mxfp4$/) else { return nil }
    return "'\(name)' of llama.cpp has no counterpart here: of its names, q8_0 and q4_1 have"
  }

  /// The same, of the value that the argument parser has refused as a weight format.
  static func hint(forParserMessage message: String) -> String? {
    guard
      let match = message.firstMatch(
        of: /The value '([^']*)' is invalid for '--(?:weights|embedding)/)
    else { return nil }
    return hint(for: String(match.1))
  }
}
