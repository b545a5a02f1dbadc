import Files
import PackedFormats
import Synchronization
import TensorCore

/// Packs a float model into a `.afmw` file.
///
/// Linear layers and embeddings get the formats that are asked for; norms, biases and whatever else
/// stay f32; what the source holds packed keeps every bit. Tensors are read, quantized, measured and compressed a few rows at a time on several
/// threads; the file's bytes do not depend on their number.
package struct ModelPacker: Sendable {
  /// For the projections of attention and feed-forward.
  package var weights: WeightFormat
  /// For the token embedding and the output projection.
  package var embedding: WeightFormat
  package var compression: FrameCompression
  package var threads: Int
  /// Whether the file holds the layouts that kernels read, ready to be mapped.
  package var usesKernelLayouts = false

  package init(
    weights: WeightFormat, embedding: WeightFormat,
    compression: FrameCompression = .zstd(level: 3), threads: Int = 1
  ) {
    self.weights = weights
    self.embedding = embedding
    self.compression = compression
    self.threads = max(1, threads)
  }

  /// How far packing has come.
  package struct Progress: Sendable {
    /// The tensor whose rows were just packed.
    package var tensor: String
    package var doneElementCount: Int
    package var totalElementCount: Int
  }

  /// Elements that one thread packs at a time.
  private static let pieceElementCount = 1 << 18

  /// The format that a tensor of that name and shape gets.
  package func format(ofTensor name: String, shape: TensorShape) -> WeightFormat {
    guard shape.dimensions.count == 2 else { return .f32 }
    switch TensorRole(name: name) {
    case .linear: return weights
    case .embedding: return embedding
    case .other: return .f32
    }
  }

  /// Packs a model; the file appears at `path` whole or not at all.
  ///
  /// - Throws: `.output` before any other work where `path` cannot be written, and later where
  ///   writing fails; `.input` where the source holds a NaN, an infinity or a value too large for
  ///   its format, with tensor and row.
  ///
  /// Memory: about 4 MiB a thread besides what ``ContainerWriter`` needs; more where one row is
  /// longer than 262,144 elements.
  package func pack(
    _ source: any ModelSource, to path: String,
    progress: (@Sendable (Progress) -> Void)? = nil
  ) throws(PackError) -> PackReport {
    var writer = try ContainerWriter(
      creating: path, compression: compression, threads: threads,
      usesKernelLayouts: usesKernelLayouts)
    var errors: [Double] = []
    let total = source.tensors.reduce(0) { $0 + $1.shape.elementCount }
    var done = 0
    for (index, tensor) in source.tensors.enumerated() {
      let format = tensor.stored ?? format(ofTensor: tensor.name, shape: tensor.shape)
      try writer.beginTensor(name: tensor.name, shape: tensor.shape, format: format)
      let before = done
      let error = try append(tensor, index: index, of: source, as: format, to: &writer) { rows in
        progress?(
          Progress(
            tensor: tensor.name, doneElementCount: before + rows * tensor.shape.columnCount,
            totalElementCount: total))
      }
      errors.append(error)
      try writer.endTensor()
      done += tensor.shape.elementCount
    }
    var provenance = source.provenance
    provenance["afmw.weights"] = weights.name
    provenance["afmw.embedding"] = embedding.name
    try writer.finish(
      header: source.header, tokenizer: source.tokenizer, provenance: provenance)
    do {
      return PackReport(file: try AFMWFile(opening: path), source: source.tensors, errors: errors)
    } catch {
      throw .input(error)
    }
  }

  /// Packs all rows of one tensor; returns its relative error.
  private func append(
    _ tensor: SourceTensor, index: Int, of source: any ModelSource, as format: WeightFormat,
    to writer: inout ContainerWriter, progress: (_ rows: Int) -> Void
  ) throws(PackError) -> Double {
    let rowCount = tensor.shape.rowCount
    let pieceRows = max(1, Self.pieceElementCount / tensor.shape.columnCount)
    let shared = SharedSource(source: source)
    var sums = ErrorSums()
    var batchStart = 0
    while batchStart < rowCount {
      let starts = Array(
        stride(from: batchStart, to: min(batchStart + pieceRows * threads, rowCount), by: pieceRows)
      )
      let pieces = Mutex<[Int: PackedPiece]>([:])
      do {
        try WorkerGroup.forEach(starts.count, threads: threads, context: { () }) {
          _, number throws(InputError) in
          let rows = starts[number]..<min(starts[number] + pieceRows, rowCount)
          let piece =
            tensor.stored == nil
            ? try PackedPiece(rows: rows, of: tensor, index: index, from: shared.source, as: format)
            : try PackedPiece(keeping: rows, of: tensor, index: index, from: shared.source)
          pieces.withLock { $0[number] = piece }
        }
      } catch {
        throw .input(error)
      }
      for number in starts.indices {
        guard let piece = pieces.withLock({ $0.removeValue(forKey: number) }) else {
          preconditionFailure("every piece was packed")
        }
        // A number of the whole tensor comes once, with its first rows.
        for plane in format.planes
        where number == 0 && batchStart == 0
          || format.axis(of: plane) != .tensor
        {
          try writer.append(piece.bytes(of: plane), to: plane)
        }
        sums.add(piece.sums)
      }
      batchStart = min(batchStart + pieceRows * threads, rowCount)
      progress(batchStart)
    }
    return sums.relativeError
  }
}

/// What a tensor is for, by its name.
enum TensorRole {
  case linear
  case embedding
  case other

  private static let linearNames: Set<Substring> = [
    "attn_q.weight", "attn_k.weight", "attn_v.weight", "attn_output.weight", "ffn_gate.weight",
    "ffn_up.weight", "ffn_down.weight",
  ]

  init(name: String) {
    if name == "token_embd.weight" || name == "output.weight" {
      self = .embedding
      return
    }
    let parts = name.split(separator: ".", maxSplits: 2)
    self =
      parts.count == 3 && parts[0] == "blk" && Self.linearNames.contains(parts[2])
      ? .linear : .other
  }
}

/// A source that several threads read at once, as its protocol allows.
private struct SharedSource: @unchecked Sendable {
  let source: any ModelSource
}
