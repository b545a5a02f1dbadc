import TensorCore

/// A low-rank adapter in a safetensors file of its own (Hu et al. 2021): for some of a model's
/// matrices W a product B · A, so that the model runs as if they were W + scale · B · A.
///
/// Tensors are named after the matrix that they belong to:
///
/// | A [rank, columns] | B [rows, rank] | |
/// | --- | --- | --- |
/// | `blk.N.attn_q.weight.lora_a` | `….lora_b` | our names; a scale of 1 |
/// | `base_model.model.model.layers.N.self_attn.q_proj.lora_A.weight` | `….lora_B.weight` | PEFT's |
///
/// The scale is `lora_alpha` / rank where the file's metadata have `lora_alpha`, a number as text. A
/// file with PEFT's names has to have it, since PEFT scales by a number that stands elsewhere.
/// Elements are any floats that ``SafetensorsFile`` reads.
package struct AdapterFile: Sendable {
  /// The factors of one matrix.
  package struct Entry: Sendable {
    /// The name of the model's tensor.
    package let matrix: String
    /// rank × columns.
    package let a: SafetensorsTensor
    /// rows × rank.
    package let b: SafetensorsTensor
    /// What the product is multiplied by.
    package let scale: Float
    package var rank: Int { a.shape.rowCount }
  }

  package let file: SafetensorsFile
  /// In ascending order of their matrices' names.
  package let entries: [Entry]
  /// Whether the names are PEFT's, whose query and key rows stand for rotations in halves.
  package let hasForeignNames: Bool

  /// Opens a file and pairs its tensors; the factors are read later.
  package init(path: String) throws(InputError) {
    try self.init(SafetensorsFile(path: path))
  }

  package init(_ file: SafetensorsFile) throws(InputError) {
    self.file = file
    var pairs: [String: (a: SafetensorsTensor?, b: SafetensorsTensor?)] = [:]
    var isForeign = false
    for tensor in file.tensors {
      guard let name = Self.parse(tensor.name) else {
        throw Self.fault(file, tensor, "the name is not one of an adapter's factor")
      }
      isForeign = isForeign || name.isForeign
      var pair = pairs[name.matrix] ?? (nil, nil)
      let isTaken = name.isA ? pair.a != nil : pair.b != nil
      guard !isTaken else { throw Self.fault(file, tensor, "its factor is there twice") }
      if name.isA { pair.a = tensor } else { pair.b = tensor }
      pairs[name.matrix] = pair
    }
    guard !pairs.isEmpty else {
      throw InputError(file: file.path, place: "header", reason: "an adapter without tensors")
    }
    let alpha = try Self.alpha(file, isRequired: isForeign)
    hasForeignNames = isForeign
    var entries: [Entry] = []
    for (matrix, pair) in pairs.sorted(by: { $0.key < $1.key }) {
      guard let a = pair.a, let b = pair.b else {
        throw InputError(
          file: file.path, place: "tensor \((pair.a ?? pair.b)?.name ?? matrix)",
          reason: "its other factor is missing")
      }
      entries.append(try Self.entry(matrix, a: a, b: b, alpha: alpha, in: file))
    }
    self.entries = entries
  }

  /// Reads all elements of a factor of this file, row-major.
  package func readFactor(
    _ tensor: SafetensorsTensor, into output: inout MutableSpan<Float>
  ) throws(InputError) {
    try file.readElements(0..<tensor.shape.elementCount, of: tensor, into: &output)
  }

  private static func entry(
    _ matrix: String, a: SafetensorsTensor, b: SafetensorsTensor, alpha: Float?,
    in file: SafetensorsFile
  ) throws(InputError) -> Entry {
    for tensor in [a, b] {
      guard tensor.shape.dimensions.count == 2, tensor.shape.elementCount > 0 else {
        throw fault(file, tensor, "a factor of shape \(tensor.shape) is no matrix")
      }
      guard tensor.element.isReadable else {
        throw fault(file, tensor, "elements of \(tensor.element.rawValue) are not read")
      }
    }
    let rank = a.shape.rowCount
    guard b.shape.columnCount == rank else {
      throw fault(file, b, "\(b.shape) and \(a.shape) are of different ranks")
    }
    return Entry(matrix: matrix, a: a, b: b, scale: alpha.map { $0 / Float(rank) } ?? 1)
  }

  private static func alpha(
    _ file: SafetensorsFile, isRequired: Bool
  ) throws(InputError) -> Float? {
    guard let text = file.metadata["lora_alpha"] else {
      guard !isRequired else {
        throw InputError(
          file: file.path, place: "header",
          reason: "the metadata of an adapter with PEFT's names must have lora_alpha")
      }
      return nil
    }
    guard let alpha = Float(text), alpha.isFinite else {
      throw InputError(
        file: file.path, place: "header", reason: "lora_alpha \"\(text)\" is not a number")
    }
    return alpha
  }

  private static func parse(_ name: String) -> (matrix: String, isA: Bool, isForeign: Bool)? {
    for (suffix, isA) in [(".lora_a", true), (".lora_b", false)] where name.hasSuffix(suffix) {
      return (String(name.dropLast(suffix.count)), isA, false)
    }
    let prefix = "base_model.model."
    for (suffix, isA) in [(".lora_A.weight", true), (".lora_B.weight", false)]
    where name.hasPrefix(prefix) && name.hasSuffix(suffix) {
      let module = name.dropFirst(prefix.count).dropLast(suffix.count)
      return HuggingFaceNames.ours("\(module).weight").map { ($0, isA, true) }
    }
    return nil
  }

  private static func fault(
    _ file: SafetensorsFile, _ tensor: SafetensorsTensor, _ reason: String
  ) -> InputError {
    InputError(
      file: file.path, place: "tensor \(tensor.name)", offset: tensor.entryOffset, reason: reason)
  }
}
