import KernelContract
import QuantKernels
import TensorCore

/// The rows that the next linear layers read: floats, and their int8 forms where one of them asks.
@safe
final class LayerInputs {
  private(set) var tokens = 0
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
  /// What is added to the layers besides what their model's file adds.
  private(set) var adapter: ModelAdapter?
  /// Sees every group of rows that is set; nobody, unless somebody asks.
  var observer: (any InputObserver)?

  init(compute: Compute, tokenCapacity: Int, columnCapacity: Int) {
    self.compute = compute
    self.tokenCapacity = tokenCapacity
    func activations() -> Activations {
      Activations(
        tokenCapacity: tokenCapacity, columnCapacity: columnCapacity,
        threadCapacity: compute.pool.threadCount)
    }
    perToken = activations()
    perChunk = activations()
    perBlock = activations()
  }

  /// Has the groups run with an adapter from now on, or without; reserves what scratch they need.
  func use(_ adapter: ModelAdapter?, with groups: [LinearGroup]) {
    self.adapter = adapter
    let count = groups.reduce(0) { max($0, $1.scratchCount(with: adapter?.addition(to: $1))) }
    let byteCount = tokenCapacity * count * 4
    if byteCount > scratchStorage.byteCount {
      scratchStorage = AlignedStorage(byteCount: byteCount)
    }
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
  @unsafe func set(_ rows: UnsafePointer<Float>, tokens: Int, for group: LinearGroup) {
    unsafe source = rows
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
