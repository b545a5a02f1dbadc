/// A reader of bytes from outside, as the fuzzer drives it.
///
/// Whatever the input, a run ends by itself: with a value, or with a typed error. Everything else
/// is a trap, and thereby a find: a broken promise about the value, an error that names no place,
/// more memory than the input's size can excuse.
struct FuzzTarget: Sendable {
  /// What `--target=` says, and the name of the seed folder.
  let name: String
  /// Bytes of heap that any input may take, and bytes more for each byte of it.
  let heap: (fixed: Int, perByte: Int)
  /// Seconds of processor time that any input may take, five times as many under the address
  /// sanitizer; libFuzzer's own limit is a whole number.
  var seconds = 2.0
  /// Whether inputs are templates, which are changed by their grammar, too.
  var usesGrammar = false
  /// Reads one input.
  let run: @Sendable ([UInt8]) -> Void

  static let all = [
    gguf, safetensors, container, astc, tokenizer, tokenizerJSON, template, snapshot, workload,
  ]

  static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

/// Whether inputs must be without fault, as seeds have to be: `--strict`.
let isStrict = CommandLine.arguments.contains("--strict")

/// Stops the run where a promise does not hold; the fuzzer then keeps the input.
func promise(_ holds: Bool, _ what: @autoclosure () -> String) {
  if !holds { fatalError(what()) }
}
