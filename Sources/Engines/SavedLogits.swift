import Files
import ModelFile
import TensorCore

/// Which predictions some logits belong to: windows of a tokenized text.
package struct ScoredText: Hashable, Sendable {
  /// Tokens in a window; the second half's are scored.
  package var context: Int
  /// The first window, counted from 0.
  package var firstWindow: Int
  package var windowCount: Int
  /// Of the token ids of all windows.
  package var digest: UInt64

  /// Windows of a text's tokens, which reach that far.
  package init(tokens: [Int32], context: Int, firstWindow: Int, windowCount: Int) {
    self.context = context
    self.firstWindow = firstWindow
    self.windowCount = windowCount
    // FNV-1a over the ids, least significant byte first.
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for token in tokens[firstWindow * context..<(firstWindow + windowCount) * context] {
      for shift: UInt32 in [0, 8, 16, 24] {
        let byte = UInt32(bitPattern: token) >> shift & 0xFF
        hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
      }
    }
    digest = hash
  }

  /// Scored predictions of a window.
  package var scoredCount: Int { context - context / 2 }

  var metadata: [String: String] {
    [
      "format": SavedLogits.formatName, "context": "\(context)",
      "first_window": "\(firstWindow)", "windows": "\(windowCount)",
      "token_digest": String(digest, radix: 16),
    ]
  }
}

/// The logits of a reference model for the scored predictions of a text, in a file, so that several
/// models can be compared with it without running it again.
///
/// A safetensors file with the F32 tensor `logits` of predictions × vocabulary; its metadata say
/// what was scored.
package final class SavedLogits {
  static let formatName = "afm-bench reference logits 1"

  private let file: SafetensorsFile
  private let tensor: SafetensorsTensor
  private let rowsOfWindow: Int
  /// Entries of the vocabulary.
  package let vocabularyCount: Int

  /// Opens a file; nil where it is not one of saved logits. Throws where its logits are of other
  /// windows, another text or another tokenizer.
  package init?(path: String, for text: ScoredText) throws(InputError) {
    // What does not parse as a safetensors file is a model of another kind.
    guard let file = try? SafetensorsFile(path: path),
      file.metadata["format"] == Self.formatName
    else { return nil }
    guard file.metadata == text.metadata else {
      throw InputError(file: path, reason: "its logits are of another text, or of other windows")
    }
    let rows = text.scoredCount * text.windowCount
    guard let tensor = file.tensor(named: "logits"), tensor.element == .f32,
      tensor.shape.dimensions.count == 2, tensor.shape.dimensions[0] == rows
    else { throw InputError(file: path, place: "tensor logits", reason: "not \(rows) rows of F32") }
    self.file = file
    self.tensor = tensor
    vocabularyCount = tensor.shape.dimensions[1]
    rowsOfWindow = text.scoredCount
  }

  /// The logits of a window's predictions, counted from the first saved window.
  func window(_ index: Int) throws(InputError) -> [Float] {
    let count = rowsOfWindow * vocabularyCount
    var values = [Float](repeating: 0, count: count)
    var output = values.mutableSpan
    try file.readElements(index * count..<(index + 1) * count, of: tensor, into: &output)
    if let place = values.firstIndex(where: { !$0.isFinite }) {
      let (row, column) = (index * count + place).quotientAndRemainder(dividingBy: vocabularyCount)
      throw InputError(
        file: file.path, place: "tensor logits", offset: tensor.offset,
        reason: "row \(row), column \(column): not a finite number")
    }
    return values
  }
}

/// Writes the file that ``SavedLogits`` reads; it appears at `finish` or not at all.
package struct LogitsWriter: ~Copyable {
  private var writer: SafetensorsWriter

  /// Creates the partial file. Throws for more logits than can be addressed.
  package init(
    creating path: String, for text: ScoredText, vocabularyCount: Int
  ) throws(PackError) {
    guard let shape = TensorShape([text.scoredCount * text.windowCount, vocabularyCount]) else {
      throw .input(InputError(file: path, reason: "too many logits"))
    }
    writer = try SafetensorsWriter(
      creating: path, metadata: text.metadata,
      tensors: [.init(name: "logits", element: .f32, shape: shape)])
  }

  /// Adds the logits of the next predictions.
  package mutating func append(_ logits: [Float]) throws(PackError) {
    // Floats have no padding; the machine is little-endian, as the file is.
    try writer.append(unsafe logits.span.bytes)
  }

  /// Makes the file appear; all logits must have come.
  package consuming func finish() throws(PackError) { try writer.finish() }
}
