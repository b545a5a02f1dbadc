import PackedFormats
import TensorCore

/// Writes a packed model as safetensors: as numbers for other software, or as codes and scales
/// that `pack` takes back bit for bit. What stands where: <doc:QuantizedSafetensors>.
package struct SafetensorsExport: Sendable {
  /// What becomes of the elements. The raw value is the name on the command line.
  package enum Content: String, CaseIterable, Sendable {
    /// Real values, exact.
    case f32
    /// Real values, rounded to nearest even.
    case f16
    case bf16
    /// Codes, scales and minimums as they are.
    case codes
  }

  /// What tensors are called. The raw value is the name on the command line.
  package enum Naming: String, CaseIterable, Sendable {
    /// As `inspect` lists them; the file then has the model's header and tokenizer too.
    case own
    /// As Hugging Face names the tensors of a Llama or Qwen2 model, the rows of queries and keys in
    /// its order; a `config.json` has to come from elsewhere.
    case huggingFace = "huggingface"
  }

  package var content: Content
  package var naming: Naming
  package var threads: Int

  package init(content: Content = .f32, naming: Naming = .own, threads: Int = 1) {
    self.content = content
    self.naming = naming
    self.threads = max(1, threads)
  }

  /// What was written.
  package struct Report: Sendable {
    package var tensorCount: Int
    package var byteCount: Int
  }

  /// Writes a file; it appears at `path` whole or not at all.
  ///
  /// Memory: the planes of the largest tensor and a few MiB. Throws `.input` for a tensor that
  /// fails its checks, a value that the type does not hold, and names that Hugging Face does not
  /// have; `.output` where the file cannot be written.
  package func write(
    _ file: AFMWFile, to path: String,
    progress: ((_ doneByteCount: Int, _ totalByteCount: Int) -> Void)? = nil
  ) throws(PackError) -> Report {
    let plan: ExportPlan
    do throws(InputError) { plan = try ExportPlan(file, self) } catch {
      throw .input(error.inFile(file.path))
    }
    let tensors = plan.parts.map(\.tensor)
    let total = tensors.reduce(0) { $0 + ($1.byteCount ?? 0) }
    var writer = try SafetensorsWriter(
      creating: path, metadata: plan.metadata, tensors: tensors)
    var done = 0
    var loaded: LoadedTensor?
    for index in writer.dataOrder {
      let part = plan.parts[index]
      if case .tokenizer(let bytes) = part.source {
        // Bytes have no padding.
        try writer.append(unsafe bytes.span.bytes)
      } else if let place = part.place {
        do throws(InputError) {
          if loaded?.name != file.tensors[place].name {
            loaded = nil
            loaded = try file.loadTensors([place], threads: threads).first
          }
        } catch {
          throw .input(error)
        }
        if let loaded { try write(part, of: loaded, in: file, to: &writer) }
      }
      done += part.tensor.byteCount ?? 0
      progress?(done, total)
    }
    try writer.finish()
    return Report(tensorCount: file.tensors.count, byteCount: total)
  }

  /// Elements that are converted at a time.
  private static let chunkElementCount = 1 << 18

  private func write(
    _ part: ExportPlan.Part, of tensor: LoadedTensor, in file: AFMWFile,
    to writer: inout SafetensorsWriter
  ) throws(PackError) {
    let shape = tensor.shape
    // A vector whose elements change places is a matrix of one column.
    let isColumn = part.rowOrder != nil && shape.dimensions.count == 1
    let rowCount = isColumn ? shape.columnCount : shape.rowCount
    let columnCount = isColumn ? 1 : shape.columnCount
    let converter = ExportConverter(part: part, tensor: tensor, isColumn: isColumn)
    let step = part.rowOrder == nil ? max(1, Self.chunkElementCount / max(columnCount, 1)) : 1
    var row = 0
    while row < rowCount {
      let first = part.rowOrder?[row] ?? row
      let rows = first..<first + min(step, rowCount - row)
      let bytes: [UInt8]
      do throws(InputError) { bytes = try converter.bytes(of: rows) } catch {
        throw .input(error.inFile(file.path))
      }
      // Bytes have no padding.
      try writer.append(unsafe bytes.span.bytes)
      // One number in all comes once.
      if part.isWhole { break }
      row += rows.count
    }
  }
}
