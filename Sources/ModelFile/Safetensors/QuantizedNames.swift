/// The names of packed tensors and of a model's facts in safetensors, as <doc:QuantizedSafetensors>
/// specifies them.
enum QuantizedNames {
  /// Metadata: the model's header as JSON.
  static let header = "afm.header"
  /// Metadata: where the model came from, a JSON object of strings.
  static let provenance = "afm.provenance"
  /// A tensor of bytes: the tokenizer as the section `TOKN` of a `.afmw` file.
  static let tokenizer = "afm.tokenizer"

  /// Metadata: the format of a tensor.
  static func format(_ tensor: String) -> String { tensor + ".format" }
  /// Metadata: the columns of a tensor of packed blocks.
  static func columns(_ tensor: String) -> String { tensor + ".columns" }
  static func codes(_ tensor: String) -> String { tensor + ".codes" }
  static func blocks(_ tensor: String) -> String { tensor + ".blocks" }
  static func scales(_ tensor: String) -> String { tensor + ".scales" }
  static func minimums(_ tensor: String) -> String { tensor + ".minimums" }

  /// Whether a metadata string is one of these.
  static func isMetadata(_ key: String) -> Bool {
    key.hasPrefix("afm.") || key.hasSuffix(".format") || key.hasSuffix(".columns")
  }
}
