import EngineInterface
import Foundation
import ModelFile
import QuantKernels
import Tokenization

/// A loaded model of the Llama family (`llama`, `qwen2`) or of Apple's on-device one
/// (`afm-ondevice`), which differs in normalised heads and shared keys and values.
final class DecoderEngine: Engine {
  let header: ModelHeader
  let weights: DecoderWeights
  let compute: Compute
  let text: ModelText
  let facts: EngineFacts
  /// Which model it is, for files of its sessions.
  let modelIdentity: String
  /// Radians a position turns each pair by: base^(−2i / ropeDimension).
  let rotationFrequencies: [Double]

  /// Loads every weight through `loader`.
  init(
    header: ModelHeader, loader: borrowing WeightLoader, text: ModelText, compute: Compute
  ) throws {
    self.header = header
    self.text = text
    self.compute = compute
    weights = try DecoderWeights(header: header, loader: loader)
    modelIdentity = loader.modelIdentity
    rotationFrequencies = (0..<(header.ropeDimension / 2)).map { index in
      pow(header.ropeBase, -2 * Double(index) / Double(header.ropeDimension))
    }
    facts = Self.facts(header: header, weights: weights, text: text, compute: compute, loader)
  }

  func encode(_ text: String, recognizingSpecialTokens: Bool) throws -> [Int32] {
    try self.text.encode(Array(text.utf8), recognizingSpecialTokens: recognizingSpecialTokens)
  }

  func decode(_ tokens: [Int32]) throws -> String { try text.decode(tokens) }

  func makeTextStream() throws -> any TextStream { try text.makeTextStream() }

  func render(_ messages: [Message], addsGenerationPrompt: Bool) throws -> String {
    try text.render(messages, addsGenerationPrompt: addsGenerationPrompt)
  }

  func loadAdapter(_ path: String) throws -> any EngineAdapter {
    try ModelAdapter(
      AdapterFile(path: path), groups: weights.groups, header: header, compute: compute)
  }

  func makeSessionGroup(_ options: SessionOptions) throws -> any SessionGroup {
    try DecoderSessionGroup(engine: self, options: options)
  }

  private static func facts(
    header: ModelHeader, weights: DecoderWeights, text: ModelText, compute: Compute,
    _ loader: borrowing WeightLoader
  ) -> EngineFacts {
    let vectorCount = weights.norms.reduce(0) { $0 + $1.count }
    let matrices = weights.matrices
    let total = matrices.reduce(0) { $0 + $1.byteCount } + vectorCount * 4
    // Decoding reads every matrix once; of an untied embedding it reads one row.
    let isTied = weights.output.layers.contains { $0 === weights.embedding }
    let embeddingBytes = weights.embedding.byteCount
    let rowBytes = embeddingBytes / header.vocabularySize
    // An untied embedding is read, not multiplied.
    let products = isTied ? matrices : Array(matrices.dropFirst())
    let formats = matrices.dropFirst().map(\.format.name)
    let common = Dictionary(formats.map { ($0, 1) }, uniquingKeysWith: +)
      .max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
    let linear = common ?? weights.embedding.format.name
    return EngineFacts(
      modelName: header.name,
      modelType: linear == weights.embedding.format.name
        ? "\(header.architecture) \(linear)"
        : "\(header.architecture) \(linear) + \(weights.embedding.format.name) embedding",
      layerCount: header.layerCount,
      parameterCount: matrices.reduce(0) { $0 + $1.parameterCount } + vectorCount,
      fileByteCount: loader.fileByteCount,
      weightByteCount: total,
      decodeWeightByteCount: isTied ? total : total - embeddingBytes + rowBytes,
      trainedContextLength: header.contextLength,
      vocabularyCount: header.vocabularySize,
      stopTokens: text.stopTokens,
      instructionSet: compute.instructionSets(of: products),
      kernelNames: compute.kernelNames(of: products),
      threadCount: compute.pool.threadCount)
  }
}
