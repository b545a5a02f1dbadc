import KernelContract
import QuantKernels

/// Linear layers that read the same rows and run together: Q, K and V; gate and up; or one alone.
///
/// Their outputs lie one after the other, [tokens][rows] each. Packed matrices of one activation
/// grouping run in one run of the pool, and what comes after the product is done by the thread that
/// has the rows.
final class LinearGroup: Sendable {
  /// In the order of their outputs.
  let layers: [Linear]
  /// Output rows of all layers.
  let rows: Int
  let columns: Int
  /// The forms that the layers read beside floats.
  let groupings: [ActivationGrouping]
  /// Floats of scratch a token that low-rank additions need: every A · x, and room for B · (A · x).
  let scratchCount: Int

  private let packed: PackedMatrixGroup?
  /// Whether a thread that has rows of one layer has those of the others too.
  private let isPaired: Bool
  private let firstRows: [Int]
  /// Where a token's A · x of each layer begins in the scratch, in floats a token.
  private let innerOffsets: [Int]
  private let hasAdditions: Bool
  private let compute: Compute

  /// What becomes of the results.
  @safe enum Ending {
    /// They stay as they are.
    case none
    /// They are added to rows of as many elements: a residual. For a group of one layer.
    case added(UnsafeMutablePointer<Float>)
    /// silu(gate) · up of a paired group is written to rows of as many elements as one layer has.
    case gated(UnsafeMutablePointer<Float>)
  }

  /// `isPaired` layers have equally many rows.
  init(_ layers: [Linear], isPaired: Bool = false, compute: Compute) {
    precondition(!layers.isEmpty, "a group without a layer")
    precondition(layers.allSatisfy { $0.columns == layers[0].columns }, "inputs of other widths")
    precondition(!isPaired || layers.allSatisfy { $0.rows == layers[0].rows }, "uneven pairs")
    self.layers = layers
    self.isPaired = isPaired
    self.compute = compute
    columns = layers[0].columns
    var firstRows: [Int] = []
    var innerOffsets: [Int] = []
    var (row, rank) = (0, 0)
    for layer in layers {
      firstRows.append(row)
      innerOffsets.append(rank)
      row += layer.rows
      rank += layer.adapter?.rank ?? 0
    }
    rows = row
    self.firstRows = firstRows
    self.innerOffsets = innerOffsets
    scratchCount = rank == 0 ? 0 : rank + row
    hasAdditions = layers.contains { $0.adapter != nil || $0.bias != nil }
    groupings = ActivationGrouping.allCases.filter { grouping in
      layers.contains { $0.inputGrouping == grouping }
    }
    let matrices = layers.compactMap(\.packed)
    packed =
      matrices.count == layers.count && groupings.count == 1
      ? PackedMatrixGroup(
        matrices, arrangement: isPaired ? .paired : .stacked, library: compute.library) : nil
  }

  /// Writes each layer's rows for every input row, contiguous, into `output`, and ends as told.
  @unsafe func apply(
    _ inputs: LayerInputs, into output: UnsafeMutablePointer<Float>, ending: Ending = .none
  ) {
    precondition(inputs.columns == columns, "inputs of another width")
    // The caller's output has room for inputs.tokens × rows elements, and what the ending names for
    // as many rows; scratch belongs to this call until the next layers are applied.
    let inner: UnsafeMutablePointer<Float>? =
      unsafe scratchCount == 0
      ? nil : inputs.scratch(floatCount: inputs.tokens * scratchCount)
    if let inner = unsafe inner { unsafe multiplyInner(inputs, into: inner) }
    let epilogue = unsafe GroupEpilogue(
      group: self, output: output, inner: inner, tokens: inputs.tokens, ending: ending)
    if let packed {
      unsafe packed.multiply(
        inputs.activations(packed.grouping), into: output, finishing: epilogue,
        pool: compute.pool)
      return
    }
    for index in layers.indices {
      unsafe layers[index].multiply(inputs, into: output + inputs.tokens * firstRows[index])
    }
    if !hasAdditions, case .none = ending { return }
    compute.pool.run(EpilogueWork(epilogue: epilogue))
  }

  /// The A · x of every layer that has an adapter, rows split over the threads.
  @unsafe private func multiplyInner(
    _ inputs: LayerInputs, into inner: UnsafeMutablePointer<Float>
  ) {
    unsafe compute.pool.run(
      InnerWork(group: self, input: inputs.rows, inner: inner, tokens: inputs.tokens))
  }

  // MARK: - Parts, on any thread

  /// One layer's A · x for a share of its rows.
  @unsafe fileprivate func multiplyInner(
    _ input: UnsafePointer<Float>, into inner: UnsafeMutablePointer<Float>, tokens: Int, part: Int,
    of partCount: Int
  ) {
    for index in layers.indices {
      guard let adapter = layers[index].adapter else { continue }
      let share = ThreadPool.share(of: adapter.rank, part: part, partCount: partCount)
      if share.isEmpty { continue }
      // Each layer has `tokens` × rank floats, those of the layers one after the other.
      unsafe adapter.multiplyInner(
        share, input, tokens: tokens, into: inner + tokens * innerOffsets[index])
    }
  }

  /// `finish` for a share of every layer's rows.
  @unsafe fileprivate func finishShare(
    _ part: Int, of partCount: Int, _ work: borrowing GroupEpilogue
  ) {
    for index in layers.indices where !isPaired || index == 0 {
      let share = ThreadPool.share(of: layers[index].rows, part: part, partCount: partCount)
      if share.isEmpty { continue }
      unsafe finish(share, of: isPaired ? layers.indices : index..<index + 1, work)
    }
  }

  /// Low-rank additions, biases and the ending, for some rows of some layers.
  @unsafe fileprivate func finish(
    _ part: Range<Int>, of indices: Range<Int>, _ work: borrowing GroupEpilogue
  ) {
    let vectors = compute.vectors
    let tokens = work.tokens
    if hasAdditions {
      for index in indices { unsafe add(to: part, of: index, work) }
    }
    switch work.ending {
    case .none: break
    case .added(let residual):
      for token in 0..<tokens {
        // Both have `rows` elements a token, of which the part is.
        let place = unsafe residual + token * rows + part.lowerBound
        unsafe vectors.add(
          place, work.output + token * rows + part.lowerBound, output: place, count: part.count)
      }
    case .gated(let gated):
      let width = layers[0].rows
      for token in 0..<tokens {
        // Rows of the gate, as many of the other layer behind them, and of what becomes of both.
        let offset = token * width + part.lowerBound
        let gate = unsafe work.output + offset
        unsafe vectors.swiglu(
          gate: gate, up: gate + tokens * width, output: gated + offset, count: part.count)
      }
    }
  }

  @unsafe private func add(to part: Range<Int>, of index: Int, _ work: borrowing GroupEpilogue) {
    let vectors = compute.vectors
    let tokens = work.tokens
    let width = layers[index].rows
    // Where the part's first row of token 0 is in the outputs; others are `width` apart.
    let first = tokens * firstRows[index] + part.lowerBound
    if let adapter = layers[index].adapter, let inner = unsafe work.inner {
      // Behind every A · x lies room for B · (A · x), as large as the outputs.
      let outer = unsafe inner + tokens * (scratchCount - rows) + first
      unsafe adapter.multiplyOuter(
        part, inner + tokens * innerOffsets[index], tokens: tokens, into: outer,
        outputStride: width)
      for token in 0..<tokens {
        let row = unsafe work.output + first + token * width
        unsafe vectors.add(row, outer + token * width, output: row, count: part.count)
      }
    }
    if let bias = layers[index].bias {
      for token in 0..<tokens {
        let row = unsafe work.output + first + token * width
        unsafe vectors.add(
          row, bias.baseAddress + part.lowerBound, output: row, count: part.count)
      }
    }
  }
}

/// What a group does with rows of its products. All addresses are the caller's of `apply`.
@safe private struct GroupEpilogue: ProductEpilogue {
  // It outlives the run, and threads that copy this retain nothing.
  unowned(unsafe) let group: LinearGroup
  let output: UnsafeMutablePointer<Float>
  let inner: UnsafeMutablePointer<Float>?
  let tokens: Int
  let ending: LinearGroup.Ending

  init(
    group: LinearGroup, output: UnsafeMutablePointer<Float>, inner: UnsafeMutablePointer<Float>?,
    tokens: Int, ending: LinearGroup.Ending
  ) {
    unsafe self.group = group
    unsafe self.output = output
    unsafe self.inner = inner
    self.tokens = tokens
    self.ending = ending
  }

  func finish(_ rows: Range<Int>, of matrices: Range<Int>) {
    unsafe group.finish(rows, of: matrices, self)
  }
}

/// The same for layers whose products do not run in one run of the pool.
@safe private struct EpilogueWork: ThreadPoolWork {
  let epilogue: GroupEpilogue

  func perform(part: Int, of partCount: Int, thread: Int) {
    unsafe epilogue.group.finishShare(part, of: partCount, epilogue)
  }
}

/// The A · x of a group on all threads of a pool. Addresses are the caller's of `apply`.
@safe private struct InnerWork: ThreadPoolWork {
  unowned(unsafe) let group: LinearGroup
  let input: UnsafePointer<Float>
  let inner: UnsafeMutablePointer<Float>
  let tokens: Int

  init(
    group: LinearGroup, input: UnsafePointer<Float>, inner: UnsafeMutablePointer<Float>,
    tokens: Int
  ) {
    unsafe self.group = group
    unsafe self.input = input
    unsafe self.inner = inner
    self.tokens = tokens
  }

  func perform(part: Int, of partCount: Int, thread: Int) {
    unsafe group.multiplyInner(input, into: inner, tokens: tokens, part: part, of: partCount)
  }
}
