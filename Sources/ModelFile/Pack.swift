import Files
import PackedFormats
import Synchronization
import TensorCore

/// Packs a float model into a `.afmw` file.
///
/// Linear layers and embeddings get the formats that are asked for; norms, biases and whatever else
/// stay f32; a tensor that the source holds packed is kept bit for bit. Tensors are read, quantized, measured and compressed a few rows at a time on several
/// threads; the file's bytes do not depend on their number.
package struct ModelPacker: Sendable {
  /// For the projections of attention and feed-forward.
  package var weights: WeightFormat
  /// For the token embedding and the output projection.
  package var embedding: WeightFormat
  package var compression: FrameCompression
  package var threads: Int
  /// How scales, endpoints and codes are chosen. Its importance and tensor scale are not read: each
  /// tensor has its own.
  package var options = QuantizationOptions()
  /// What errors are weighted with, by tensor; without it all columns count alike.
  package var statistics: ActivationStatistics?
  /// Singular vectors of each linear layer that are kept apart, before the rest is quantized; at
  /// most as many as the layer has.
  package var adapterRank = 0
  /// What finds them; must be there where `adapterRank` is not 0.
  package var lowRank: (any LowRankApproximation)?
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
    /// A tensor of which rows were just packed.
    package var tensor: String
    package var doneElementCount: Int
    package var totalElementCount: Int
  }

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
  /// - Parameter progress: called from the working threads, one call at a time.
  /// - Throws: `.output` before any other work where `path` cannot be written, and later where
  ///   writing fails; `.input` where the source holds a NaN, an infinity or a value too large for
  ///   its format, with tensor and row, and where calibration is of another model.
  ///
  /// Memory: about 12 MiB a thread besides what ``ContainerWriter`` needs; more where one row is
  /// longer than 262,144 elements; all values of a tensor in f32 and six times as much for the
  /// search on each thread, where tensors get adapters.
  package func pack(
    _ source: any ModelSource, to path: String,
    progress: (@Sendable (Progress) -> Void)? = nil
  ) throws(PackError) -> PackReport {
    var writer = try ContainerWriter(
      creating: path, compression: compression, threads: threads,
      usesKernelLayouts: usesKernelLayouts)
    var outcomes: [(outcome: TensorOutcome, isWeighted: Bool, adapterRank: Int)] = []
    let meter = PackProgress(
      total: source.tensors.reduce(0) { $0 + $1.shape.elementCount }, report: progress)
    // Adapters are found for a few tensors at a time, one on each thread.
    for start in stride(from: 0, to: source.tensors.count, by: threads) {
      for var plan in try plans(from: start, of: source) {
        if plan.tensor.stored == nil, plan.format.axis(of: .scales) == .tensor {
          plan.options.tensorScale = try tensorScale(of: plan)
        }
        let tensor = plan.tensor
        let number = writer.tensorCount
        try writer.beginTensor(name: tensor.name, shape: tensor.shape, format: plan.format)
        let outcome = try append(plan, to: &writer, progress: meter)
        try writer.endTensor()
        if let adapter = plan.adapter {
          try append(adapter, of: tensor.name, to: &writer)
          writer.adapters.append(LowRankAdapter(tensor: number, a: number + 1, b: number + 2))
        }
        outcomes.append((outcome, plan.options.importance != nil, plan.adapter?.rank ?? 0))
      }
    }
    try writer.finish(
      header: source.header, tokenizer: source.tokenizer,
      provenance: provenance(
        of: source, clippedCount: outcomes.reduce(0) { $0 + $1.outcome.quantization.clippedCount }))
    do {
      let file = try AFMWFile(opening: path)
      return report(on: file, source: source.tensors, outcomes)
    } catch {
      throw .input(error)
    }
  }

  /// How as many tensors as there are threads are packed, with their adapters.
  private func plans(
    from start: Int, of source: any ModelSource
  ) throws(PackError) -> [TensorPlan] {
    var plans: [TensorPlan] = []
    for index in start..<min(start + threads, source.tensors.count) {
      plans.append(try plan(of: source.tensors[index], index: index, in: source))
    }
    guard adapterRank > 0 else { return plans }
    let found = Mutex<[Int: LowRankFactors]>([:])
    let waiting = plans
    do {
      try WorkerGroup.forEach(waiting.count, threads: threads, context: { () }) {
        _, number throws(InputError) in
        let tensor = waiting[number].tensor
        guard tensor.stored == nil, tensor.shape.dimensions.count == 2,
          TensorRole(name: tensor.name) == .linear
        else { return }
        let factors = try factors(of: waiting[number])
        found.withLock { $0[number] = factors }
      }
    } catch {
      throw .input(error)
    }
    for number in plans.indices { plans[number].adapter = found.withLock { $0[number] } }
    return plans
  }

  /// How a tensor is packed, before anything is read of it.
  private func plan(
    of tensor: SourceTensor, index: Int, in source: any ModelSource
  ) throws(PackError) -> TensorPlan {
    var options = options
    options.tensorScale = nil
    options.importance = nil
    if let stored = tensor.stored {
      return TensorPlan(
        tensor: tensor, index: index, source: source, format: stored, options: options)
    }
    if TensorRole(name: tensor.name) != .other {
      options.importance = statistics?.importance(ofTensor: tensor.name)
    }
    if let importance = options.importance, importance.count != tensor.shape.columnCount {
      throw .input(
        InputError(
          place: "tensor \(tensor.name)",
          reason: "the calibration has \(importance.count) columns, the tensor "
            + "\(tensor.shape.columnCount): it is of another model"))
    }
    return TensorPlan(
      tensor: tensor, index: index, source: source,
      format: format(ofTensor: tensor.name, shape: tensor.shape), options: options)
  }

  /// The source's provenance, and how the file was made of it.
  private func provenance(of source: any ModelSource, clippedCount: Int) -> [String: String] {
    var provenance = source.provenance
    provenance["afmw.weights"] = weights.name
    provenance["afmw.embedding"] = embedding.name
    if weights.isASTC || embedding.isASTC { provenance["afmw.effort"] = options.effort.rawValue }
    if let fit = options.scaleFit { provenance["afmw.fit"] = fit.rawValue }
    if let clipping = options.clipping {
      provenance["afmw.clip"] = "\(clipping)"
      provenance["afmw.clipped"] = "\(clippedCount)"
    }
    if let statistics { provenance["afmw.calibration"] = statistics.origin }
    if adapterRank > 0 { provenance["afmw.adapter_rank"] = "\(adapterRank)" }
    return provenance
  }

  private func report(
    on file: AFMWFile, source: [SourceTensor],
    _ outcomes: [(outcome: TensorOutcome, isWeighted: Bool, adapterRank: Int)]
  ) -> PackReport {
    let factors = Set(file.adapters.flatMap { [$0.a, $0.b] })
    let own = file.tensors.indices.filter { !factors.contains($0) }
    let tensors = zip(own, zip(source, outcomes)).map { number, origin in
      let (tensor, result) = origin
      return PackReport.Tensor(
        stored: file.tensors[number], sourceTypeName: tensor.typeName,
        sourceByteCount: tensor.byteCount, relativeError: result.outcome.sums.relativeError,
        weightedRelativeError: result.isWeighted
          ? result.outcome.sums.weightedRelativeError : nil,
        clippedCount: result.outcome.quantization.clippedCount, adapterRank: result.adapterRank)
    }
    return PackReport(
      tensors: tensors, adapterTensors: factors.sorted().map { file.tensors[$0] },
      fileByteCount: file.byteCount)
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
