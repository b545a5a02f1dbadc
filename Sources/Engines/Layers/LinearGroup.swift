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
  /// What the model's file adds to its matrices.
  let addition: GroupAddition?

  private let packed: PackedMatrixGroup?
  /// Whether a thread that has rows of one layer has those of the others too.
  private let isPaired: Bool
  private let firstRows: [Int]
  private let hasBiases: Bool
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
    var row = 0
    for layer in layers {
      firstRows.append(row)
      row += layer.rows
    }
    rows = row
    self.firstRows = firstRows
    addition = GroupAddition(layers.map(\.adapter))
    hasBiases = layers.contains { $0.bias != nil }
    groupings = ActivationGrouping.allCases.filter { grouping in
      layers.contains { $0.inputGrouping == grouping }
    }
    let matrices = layers.compactMap(\.packed)
    packed =
      matrices.count == layers.count && groupings.count == 1
      ? PackedMatrixGroup(
        matrices, arrangement: isPaired ? .paired : .stacked, library: compute.library) : nil
  }

  /// Floats of scratch a token where an adapter adds to the group too: every A · x, and room for
  /// B · (A · x).
  func scratchCount(with adapter: GroupAddition?) -> Int {
    let rank = (addition?.rank ?? 0) + (adapter?.rank ?? 0)
    return rank == 0 ? 0 : rank + rows
  }

  /// Writes each layer's rows for every input row, contiguous, into `output`, and ends as told.
  @unsafe func apply(
    _ inputs: LayerInputs, into output: UnsafeMutablePointer<Float>, ending: Ending = .none
  ) {
    precondition(inputs.columns == columns, "inputs of another width")
    // The caller's output has room for inputs.tokens × rows elements, and what the ending names for
    // as many rows; scratch belongs to this call until the next layers are applied.
    let additions = unsafe inputs.additions(to: self)
    let innerCount = unsafe additions.reduce(0) { $0 + $1.innerCount }
    let scratch: UnsafeMutablePointer<Float>? =
      unsafe innerCount == 0 ? nil : inputs.scratch(floatCount: innerCount + inputs.tokens * rows)
    let epilogue = unsafe GroupEpilogue(
      group: self, additions: additions, innerCount: innerCount, output: output, scratch: scratch,
      tokens: inputs.tokens, ending: ending)
    if unsafe scratch != nil {
      unsafe compute.pool.run(InnerWork(epilogue: epilogue, input: inputs.rows))
    }
    if let packed {
      unsafe packed.multiply(
        inputs.activations(packed.grouping), into: output, finishing: epilogue,
        pool: compute.pool)
      return
    }
    for index in layers.indices {
      unsafe layers[index].multiply(inputs, into: output + inputs.tokens * firstRows[index])
    }
    if innerCount == 0, !hasBiases, case .none = ending { return }
    compute.pool.run(EpilogueWork(epilogue: epilogue))
  }

  // MARK: - Parts, on any thread

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
    let hasAdditions = unsafe work.scratch != nil
    if hasBiases || hasAdditions {
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
    let output = unsafe work.output
    unsafe work.forEachAddition { entry, inner, outer in
      // Room for B · (A · x) is laid out as the outputs are.
      let outer = unsafe outer + first
      let isAny = unsafe entry.addition.multiplyOuter(
        part, ofLayer: index, inner, tokens: entry.rows.count,
        into: outer + entry.rows.lowerBound * width, outputStride: width)
      guard isAny else { return }
      for token in entry.rows {
        let row = unsafe output + first + token * width
        unsafe vectors.add(row, outer + token * width, output: row, count: part.count)
      }
    }
    if let bias = layers[index].bias {
      for token in 0..<tokens {
        let row = unsafe output + first + token * width
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
  let additions: UnsafeBufferPointer<AdditionRows>
  let innerCount: Int
  let output: UnsafeMutablePointer<Float>
  /// Every A · x of each addition's rows, then room for B · (A · x).
  let scratch: UnsafeMutablePointer<Float>?
  let tokens: Int
  let ending: LinearGroup.Ending

  init(
    group: LinearGroup, additions: UnsafeBufferPointer<AdditionRows>, innerCount: Int,
    output: UnsafeMutablePointer<Float>, scratch: UnsafeMutablePointer<Float>?, tokens: Int,
    ending: LinearGroup.Ending
  ) {
    unsafe self.group = group
    unsafe self.additions = unsafe additions
    self.innerCount = innerCount
    unsafe self.output = output
    unsafe self.scratch = scratch
    self.tokens = tokens
    self.ending = ending
  }

  /// Calls the body with each addition, its A · x, and the room for B · (A · x).
  @unsafe func forEachAddition(
    _ body: (
      AdditionRows, _ inner: UnsafeMutablePointer<Float>, _ outer: UnsafeMutablePointer<Float>
    ) -> Void
  ) {
    guard var inner = unsafe scratch else { return }
    let outer = unsafe inner + innerCount
    // The scratch was reserved for all of them.
    for index in unsafe additions.indices {
      let entry = unsafe additions[index]
      unsafe body(entry, inner, outer)
      unsafe inner += entry.innerCount
    }
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

/// Every A · x of a group on all threads of a pool. The address is the caller's of `apply`.
@safe private struct InnerWork: ThreadPoolWork {
  let epilogue: GroupEpilogue
  let input: UnsafePointer<Float>

  init(epilogue: GroupEpilogue, input: UnsafePointer<Float>) {
    self.epilogue = epilogue
    unsafe self.input = input
  }

  func perform(part: Int, of partCount: Int, thread: Int) {
    unsafe epilogue.forEachAddition { entry, inner, _ in
      unsafe entry.addition.multiplyInner(
        input + entry.rows.lowerBound * epilogue.group.columns, into: inner,
        tokens: entry.rows.count, part: part, of: partCount)
    }
  }
}
