import PackedFormats
import Synchronization
import TensorCore

extension ModelPacker {
  /// What packing a tensor's rows gave.
  struct TensorOutcome {
    var sums = ErrorSums()
    var quantization = QuantizationOutcome()
  }

  /// Elements that one thread packs at a time: about a second of the slowest search at most, so
  /// that progress shows and no thread waits long for another's last piece.
  private static func pieceElementCount(of plan: TensorPlan) -> Int {
    guard plan.format.isASTC else { return 1 << 18 }
    switch plan.options.effort {
    case .fast: return 1 << 18
    case .medium: return 1 << 16
    case .thorough: return 1 << 14
    }
  }

  /// Pieces for each thread between two moments at which all wait for the last one.
  private static let piecesPerThread = 8

  /// Packs all rows of a tensor into the writer, whose present tensor it is.
  func append(
    _ plan: TensorPlan, to writer: inout ContainerWriter, progress: PackProgress
  ) throws(PackError) -> TensorOutcome {
    let shape = plan.tensor.shape
    let pieceRows = max(1, Self.pieceElementCount(of: plan) / shape.columnCount)
    let batchRows = pieceRows * threads * Self.piecesPerThread
    var result = TensorOutcome()
    for batchStart in stride(from: 0, to: shape.rowCount, by: batchRows) {
      let starts = Array(
        stride(from: batchStart, to: min(batchStart + batchRows, shape.rowCount), by: pieceRows))
      let pieces = Mutex<[Int: PackedPiece]>([:])
      do {
        try WorkerGroup.forEach(starts.count, threads: threads, context: { () }) {
          _, number throws(InputError) in
          let rows = starts[number]..<min(starts[number] + pieceRows, shape.rowCount)
          let piece =
            plan.tensor.stored == nil
            ? try PackedPiece(rows: rows, of: plan) : try PackedPiece(keeping: rows, of: plan)
          pieces.withLock { $0[number] = piece }
          progress.add(rows.count * shape.columnCount, of: plan.tensor.name)
        }
      } catch {
        throw .input(error)
      }
      for number in starts.indices {
        guard let piece = pieces.withLock({ $0.removeValue(forKey: number) }) else {
          preconditionFailure("every piece was packed")
        }
        for plane in plan.format.planes {
          // A per-tensor scale is the same in every piece, and written once.
          if plan.format.axis(of: plane) == .tensor, starts[number] > 0 { continue }
          try writer.append(piece.bytes(of: plane), to: plane)
        }
        result.sums.add(piece.sums)
        result.quantization.add(piece.outcome)
      }
    }
    return result
  }

  /// The leading part of a tensor as two factors, from all of its values; nil where those are zeros.
  func factors(of plan: TensorPlan) throws(InputError) -> LowRankFactors? {
    guard let lowRank else { preconditionFailure("an adapter without a way to find it") }
    let shape = plan.tensor.shape
    let values = try plan.read(0..<shape.rowCount).values
    if let index = values.firstIndex(where: { !$0.isFinite }) {
      throw InputError(
        place: "tensor \(plan.tensor.name)",
        reason: PackedFormatError(
          .nonFiniteWeight, row: index / shape.columnCount, column: index % shape.columnCount
        ).description)
    }
    guard values.contains(where: { $0 != 0 }) else { return nil }
    do {
      return try lowRank.factors(
        of: values.span, rowCount: shape.rowCount, columnCount: shape.columnCount,
        rank: min(adapterRank, shape.rowCount, shape.columnCount),
        importance: plan.options.importance)
    } catch {
      throw InputError(place: "tensor \(plan.tensor.name)", reason: error.reason)
    }
  }

  /// Writes an adapter's factors as two f16 tensors behind the tensor they belong to.
  func append(
    _ factors: LowRankFactors, of name: String, to writer: inout ContainerWriter
  ) throws(PackError) {
    let parts = [
      (LowRankAdapter.nameOfA(name), factors.a, [factors.rank, factors.columnCount]),
      (LowRankAdapter.nameOfB(name), factors.b, [factors.rowCount, factors.rank]),
    ]
    for (name, values, dimensions) in parts {
      guard let shape = TensorShape(dimensions) else {
        preconditionFailure("a factor is smaller than its matrix")
      }
      try writer.beginTensor(name: name, shape: shape, format: .f16)
      var bytes: [UInt8] = []
      bytes.reserveCapacity(values.count * 2)
      for value in values { bytes.appendLittleEndian(value) }
      // Bytes have no padding.
      try writer.append(unsafe bytes.span.bytes, to: .codes)
      try writer.endTensor()
    }
  }
}

/// Counts packed elements of several threads and tells a listener, one call at a time.
final class PackProgress: Sendable {
  private let done = Mutex(0)
  private let total: Int
  private let report: (@Sendable (ModelPacker.Progress) -> Void)?

  init(total: Int, report: (@Sendable (ModelPacker.Progress) -> Void)?) {
    self.total = total
    self.report = report
  }

  func add(_ elementCount: Int, of tensor: String) {
    guard let report else { return }
    done.withLock { done in
      done += elementCount
      report(.init(tensor: tensor, doneElementCount: done, totalElementCount: total))
    }
  }
}
