import KernelContract
import QuantKernels
import TensorCore

/// The rows that the next linear layers read: floats, and their int8 forms where one of them asks.
@safe
final class LayerInputs {
  private(set) var tokens = 0
  /// The row of the step that the first of them is.
  private var firstRow = 0
  private(set) var columns = 0
  // One for each grouping, so that the layers of one call may mix formats; memory that no layer asks
  // for is reserved and never touched.
  private let perToken: Activations
  private let perChunk: Activations
  private let perBlock: Activations
  // [tokens][columns], owned by the caller of `set` and valid until its next call.
  private var source: UnsafePointer<Float>?
  private let compute: Compute
  private let tokenCapacity: Int
  // For layers with low-rank additions; empty where no layer has one.
  private var scratchStorage = AlignedStorage(byteCount: 0)
  /// The adapters that rows run with, besides what their model's file adds, in the order of the rows.
  private var adapters: [AdapterRows] = []
  /// What the layers at work add, of as many entries as a step has adapters and one of the file's own.
  private let additions: UnsafeMutablePointer<AdditionRows>
  /// Sees every group of rows that is set; nobody, unless somebody asks.
  var observer: (any InputObserver)?

  init(compute: Compute, tokenCapacity: Int, columnCapacity: Int) {
    self.compute = compute
    self.tokenCapacity = tokenCapacity
    unsafe additions = .allocate(capacity: tokenCapacity + 1)
    adapters.reserveCapacity(tokenCapacity)
    func activations() -> Activations {
      Activations(
        tokenCapacity: tokenCapacity, columnCapacity: columnCapacity,
        threadCapacity: compute.pool.threadCount)
    }
    perToken = activations()
    perChunk = activations()
    perBlock = activations()
  }

  // Trivial values: nothing to deinitialize.
  deinit { unsafe additions.deallocate() }

  /// Reserves the scratch that the groups need with an adapter, or without.
  func reserve(for adapter: ModelAdapter?, with groups: [LinearGroup]) {
    let count = groups.reduce(0) { max($0, $1.scratchCount(with: adapter?.addition(to: $1))) }
    let byteCount = tokenCapacity * count * 4
    if byteCount > scratchStorage.byteCount {
      scratchStorage = AlignedStorage(byteCount: byteCount)
    }
  }

  /// Has no row run with an adapter, until some are told to.
  func removeAdapters() { adapters.removeAll(keepingCapacity: true) }

  /// Has rows of the step, behind those of earlier calls, run with an adapter, for which there is scratch.
  func use(_ adapter: ModelAdapter, for rows: Range<Int>) {
    if let last = adapters.last, last.adapter === adapter, last.rows.upperBound == rows.lowerBound {
      adapters[adapters.count - 1].rows = last.rows.lowerBound..<rows.upperBound
    } else {
      adapters.append(AdapterRows(adapter: adapter, rows: rows))
    }
  }

  /// What is added to the products of a group: to all rows what its file adds, to some what their
  /// adapters do. Valid until the next call.
  @unsafe func additions(to group: LinearGroup) -> UnsafeBufferPointer<AdditionRows> {
    var count = 0
    func add(_ addition: GroupAddition?, _ rows: Range<Int>) {
      guard let addition, !rows.isEmpty else { return }
      // At most one entry for each adapter's rows and one of the file's own.
      unsafe (additions + count).initialize(to: AdditionRows(addition: addition, rows: rows))
      count += 1
    }
    add(group.addition, 0..<tokens)
    let present = firstRow..<firstRow + tokens
    for entry in adapters {
      let rows = entry.rows.clamped(to: present)
      add(
        entry.adapter.addition(to: group),
        rows.lowerBound - firstRow..<rows.upperBound - firstRow)
    }
    return unsafe UnsafeBufferPointer(start: additions, count: count)
  }

  /// The int8 form of one grouping; of these rows only if a layer they were set for wants it.
  func activations(_ grouping: ActivationGrouping) -> Activations {
    switch grouping {
    case .perToken: perToken
    case .perChunk: perChunk
    case .perBlock: perBlock
    }
  }

  /// Takes contiguous rows for some layers, and quantizes them once for each grouping that any of
  /// those wants.
  @unsafe func set(
    _ rows: UnsafePointer<Float>, firstRow: Int = 0, tokens: Int, for group: LinearGroup
  ) {
    unsafe source = rows
    self.firstRow = firstRow
    self.tokens = tokens
    columns = group.columns
    // The rows are those of this call.
    if let observer {
      unsafe observer.observe(rows, tokens: tokens, columns: columns, layers: group.layers)
    }
    for grouping in group.groupings { unsafe quantize(rows, grouping) }
  }

  @unsafe private func quantize(_ rows: UnsafePointer<Float>, _ grouping: ActivationGrouping) {
    unsafe activations(grouping).quantize(
      rows, tokenCount: tokens, columnCount: columns, for: grouping, using: compute.library,
      pool: compute.pool)
  }

  /// The rows as floats.
  @unsafe var rows: UnsafePointer<Float> {
    guard let source = unsafe source else { preconditionFailure("inputs before they are set") }
    return unsafe source
  }

  /// Room that a layer may use while it is applied.
  @unsafe func scratch(floatCount: Int) -> UnsafeMutablePointer<Float> {
    precondition(floatCount * 4 <= scratchStorage.byteCount, "more scratch than was reserved")
    return unsafe scratchStorage.baseAddress.assumingMemoryBound(to: Float.self)
  }
}

/// Rows of a step that run with an adapter.
private struct AdapterRows {
  let adapter: ModelAdapter
  var rows: Range<Int>
}

/// Rows of a step whose products something is added to.
@safe struct AdditionRows {
  // The model or the adapter keeps it while layers are applied; threads that read it retain nothing.
  unowned(unsafe) let addition: GroupAddition
  let rows: Range<Int>

  init(addition: GroupAddition, rows: Range<Int>) {
    unsafe self.addition = addition
    self.rows = rows
  }

  /// Floats of A · x of all its rows.
  var innerCount: Int { unsafe rows.count * addition.rank }
}
