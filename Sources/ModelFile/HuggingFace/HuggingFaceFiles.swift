import TensorCore
import Tokenization

/// The small files of a Hugging Face folder: `config.json`, `tokenizer.json`,
/// `tokenizer_config.json`, `chat_template.jinja`.
struct HuggingFaceFiles {
  private let folder: HuggingFaceFolder
  private let configuration: HuggingFaceConfiguration

  static let configurationName = "config.json"
  static let tokenizerName = "tokenizer.json"
  static let tokenizerConfigurationName = "tokenizer_config.json"
  static let templateName = "chat_template.jinja"
  /// All of them.
  static let names = [
    configurationName, tokenizerName, tokenizerConfigurationName, templateName,
  ]
  static let templateByteCountLimit = 1 << 20
  static let tokenizerConfigurationByteCountLimit = 1 << 23

  init(_ folder: HuggingFaceFolder) throws(InputError) {
    self.folder = folder
    let name = Self.configurationName
    guard
      let bytes = try folder.bytes(of: name, limit: HuggingFaceConfiguration.byteCountLimit)
    else {
      throw InputError(
        file: folder.path(of: name),
        reason: "there is no such file, which says what the model is")
    }
    configuration = try Self.naming(folder.path(of: name)) { () throws(InputError) in
      try HuggingFaceConfiguration(parsing: bytes)
    }
  }

  /// The model's header; `name` stands for it where the file gives no name.
  func header(name: String) throws(InputError) -> ModelHeader {
    try Self.naming(folder.path(of: Self.configurationName)) { () throws(InputError) in
      try configuration.header(name: name)
    }
  }

  /// The tokenizer; nil where the folder has none.
  func tokenizer(vocabularySize: Int) throws(InputError) -> TokenizerDescription? {
    let limit = HuggingFaceTokenizer.byteCountLimit
    guard let bytes = try folder.bytes(of: Self.tokenizerName, limit: limit) else { return nil }
    let settings = try settings()
    let template = try chatTemplate(settings)
    return try Self.naming(folder.path(of: Self.tokenizerName)) { () throws(InputError) in
      let tokenizer = try HuggingFaceTokenizer(parsing: bytes, vocabularySize: vocabularySize)
      return try tokenizer.description(
        special: { role throws(InputError) in
          try special(role, tokenizer, settings, vocabularySize: vocabularySize)
        },
        addsBeginToken: try settings?.bool("add_bos_token"), chatTemplate: template)
    }
  }

  private func settings() throws(InputError) -> JSONNode? {
    let name = Self.tokenizerConfigurationName
    guard
      let bytes = try folder.bytes(of: name, limit: Self.tokenizerConfigurationByteCountLimit)
    else { return nil }
    return try Self.naming(folder.path(of: name)) { () throws(InputError) in
      try JSONNode(parsing: bytes)
    }
  }

  /// A special token: the text that `tokenizer_config.json` names, or else the id in `config.json`.
  private func special(
    _ role: String, _ tokenizer: HuggingFaceTokenizer, _ settings: JSONNode?, vocabularySize: Int
  ) throws(InputError) -> Int? {
    if let node = settings?["\(role)_token"] {
      let path = folder.path(of: Self.tokenizerConfigurationName)
      var text = node.text
      if text == nil { text = try node.string("content") }
      guard let text, let id = tokenizer.token(text) else {
        throw node.error("the tokenizer has no such token").inFile(path)
      }
      return id
    }
    return try Self.naming(folder.path(of: Self.configurationName)) { () throws(InputError) in
      guard let id = try configuration.token("\(role)_token_id") else { return nil }
      guard id < vocabularySize else {
        throw InputError(
          place: "\(role)_token_id", reason: "\(id) is not one of \(vocabularySize) tokens")
      }
      return id
    }
  }

  /// A file of its own comes before the one in `tokenizer_config.json`, of several there the one
  /// called `default`.
  private func chatTemplate(_ settings: JSONNode?) throws(InputError) -> String? {
    if let bytes = try folder.bytes(
      of: Self.templateName, limit: Self.templateByteCountLimit)
    {
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw InputError(file: folder.path(of: Self.templateName), reason: "not valid UTF-8")
      }
      return text
    }
    guard let node = settings?["chat_template"] else { return nil }
    return try Self.naming(folder.path(of: Self.tokenizerConfigurationName)) {
      () throws(InputError) in
      guard let templates = node.elements else {
        return try settings?.string("chat_template")
      }
      for template in templates where template["name"]?.text == "default" {
        return try template.string("template")
      }
      return nil
    }
  }

  private static func naming<Result>(
    _ path: String, _ body: () throws(InputError) -> Result
  ) throws(InputError) -> Result {
    do {
      return try body()
    } catch {
      throw error.inFile(path)
    }
  }
}
