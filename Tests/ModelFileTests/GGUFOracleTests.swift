import Foundation
import ModelFile
import TestSupport
import Testing
import Tokenization

/// Compares with PyPI `gguf`, through tools/oracles/gguf_oracle.py.
@Suite(.needs(.python), .serialized) struct GGUFOracleTests {
  /// A line as the oracle prints it, from our values, 512 rows at a time.
  private func line(_ file: GGUFFile, _ tensor: GGUFTensor) throws -> String {
    var sum: UInt64 = 0
    var index: UInt64 = 0
    let rowCount = tensor.shape.rowCount
    for start in stride(from: 0, to: rowCount, by: 512) {
      let rows = start..<min(start + 512, rowCount)
      var values = [Float](repeating: .nan, count: rows.count * tensor.shape.columnCount)
      var output = values.mutableSpan
      try file.readRows(rows, of: tensor, into: &output)
      for value in values {
        let weight = (index &* 0x9E37_79B9_7F4A_7C15 &+ 0x632B_E59B_D9B4_E019) | 1
        // What a NaN's payload becomes in arithmetic depends on the machine.
        sum &+= UInt64(value.isNaN ? 0x7FC0_0000 : value.bitPattern) &* weight
        index += 1
      }
    }
    return "\(tensor.name) \(tensor.type.name) \(tensor.shape) \(sum)"
  }

  /// Every tensor's values, and the tokenizer where the file is a model.
  private func compare(_ path: String, isModel: Bool = true) throws {
    let report = try Oracle.script("gguf_oracle.py", "report", path)
    let json = try #require(JSONSerialization.jsonObject(with: report) as? [String: Any])
    let expected = try #require(json["tensors"] as? [String])
    let file = try GGUFFile(path: path)
    #expect(file.tensors.count == expected.count)
    for (tensor, line) in zip(file.tensors, expected) {
      #expect(try self.line(file, tensor) == line)
    }
    guard isModel else { return }
    let expectedTokenizer = try #require(json["tokenizer"] as? [String: Any])
    let tokenizer = try #require(try GGUFModel(path: path).tokenizer)
    try compare(tokenizer, expectedTokenizer)
  }

  private func compare(_ tokenizer: TokenizerDescription, _ json: [String: Any]) throws {
    let tokens = try #require(json["tokenizer.ggml.tokens"] as? [String])
    #expect(tokenizer.tokens.map { Array($0.utf8) } == tokens.map { Array($0.utf8) })
    let kinds = try #require(json["tokenizer.ggml.token_type"] as? [Int])
    #expect(tokenizer.kinds.map { Int($0.rawValue) } == kinds)
    let merges = try #require(json["tokenizer.ggml.merges"] as? [String])
    let ours = tokenizer.merges.map { "\(tokens[Int($0.left)]) \(tokens[Int($0.right)])" }
    #expect(ours == merges)
    #expect(tokenizer.endToken == json["tokenizer.ggml.eos_token_id"] as? Int)
    #expect(tokenizer.beginToken == json["tokenizer.ggml.bos_token_id"] as? Int)
    #expect(tokenizer.chatTemplate == json["tokenizer.chat_template"] as? String)
  }

  @Test func agreesOnFreshFilesOfEveryType() throws {
    let folder = try TemporaryFolder()
    _ = try Oracle.script("gguf_oracle.py", "models", folder.path)
    let types = folder.file("types.gguf")
    _ = try Oracle.script("gguf_oracle.py", "types", types)
    try compare(types, isModel: false)
    for name in ["llama", "qwen2"] {
      let path = folder.file("\(name).gguf")
      try compare(path)
      let header = try GGUFModel(path: path).header
      #expect(header.tiedOutput == (name == "llama"))
      #expect(header.attentionBias == (name == "qwen2"))
    }
    let bigEndian = folder.file("bigendian.gguf")
    #expect(throws: (any Error).self) { try GGUFFile(path: bigEndian) }
  }

  /// Any bytes at all, scales that are NaN or infinite among them.
  @Test(arguments: 1...3) func agreesOnUnitsOfAnyBytes(seed: Int) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("wild.gguf")
    _ = try Oracle.script("gguf_oracle.py", "wild", path, String(seed))
    let file = try GGUFFile(path: path)
    #expect(Set(file.tensors.map(\.type)) == Set(GGUFTensorType.allCases))
    try compare(path, isModel: false)
  }

  @Test(.needs(.model)) func agreesOnTheRealModel() throws {
    let path = try Oracle.model.path()
    try compare(path)
    let header = try GGUFModel(path: path).header
    #expect(header.layerCount == 30)
    #expect(header.headDimension == 64)
    #expect(header.vocabularySize == 49152)
    #expect(header.ropeBase == 100_000)
  }
}
