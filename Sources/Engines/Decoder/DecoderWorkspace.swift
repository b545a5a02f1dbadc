import ModelFile
import TensorCore

/// Every buffer a graph writes while it runs, allocated once.
///
/// Rows are tokens of the present step, contiguous. Mapped storage costs no resident memory until
/// a batch is large enough to touch it.
@safe
struct DecoderWorkspace: ~Copyable {
  /// [tokens][hiddenSize] the residual stream.
  let hidden: UnsafeMutablePointer<Float>
  /// [tokens][max(hiddenSize, queries)] the normed input of a linear layer, then its output.
  let normed: UnsafeMutablePointer<Float>
  let projected: UnsafeMutablePointer<Float>
  /// [tokens][queryHeads · headDimension], then [tokens][keyValueHeads · headDimension] twice: the
  /// step's queries, and its keys and values where a layer makes some.
  let projections: UnsafeMutablePointer<Float>
  /// [tokens][queryHeads · headDimension] what attention gives.
  let attended: UnsafeMutablePointer<Float>
  /// [2][tokens][feedForwardSize] gate and up, and [tokens][feedForwardSize] what becomes of them.
  let gateAndUp: UnsafeMutablePointer<Float>
  let gated: UnsafeMutablePointer<Float>
  /// [tokens] where each row belongs.
  let rowPlaces: UnsafeMutablePointer<RowPlace>
  /// [tokens][ropeDimension / 2] cosines and sines of the rows' positions.
  let cosines: UnsafeMutablePointer<Float>
  let sines: UnsafeMutablePointer<Float>
  /// [outputRows][vocabularySize].
  let logits: UnsafeMutablePointer<Float>
  /// [threads][elementStride] bytes: one head's key or value in the cache's element.
  let elements: UnsafeMutableRawPointer

  /// Positions that logits are computed for at one time.
  static var outputRows: Int { 16 }

  let elementStride: Int
  let byteCount: Int
  private let storage: AlignedStorage

  init(header: ModelHeader, tokens: Int, threads: Int) {
    let queries = header.queryHeadCount * header.headDimension
    let keys = header.keyValueHeadCount * header.headDimension
    let widest = max(header.hiddenSize, queries)
    elementStride = CacheVectorWriter.scratchByteCount(headDimension: header.headDimension)

    // Counts of floats, in the order of the properties; each part begins on a cache line.
    let counts = [
      tokens * header.hiddenSize, tokens * widest, tokens * widest,
      tokens * (queries + 2 * keys), tokens * queries,
      tokens * 2 * header.feedForwardSize, tokens * header.feedForwardSize,
      tokens * (header.ropeDimension / 2), tokens * (header.ropeDimension / 2),
      Self.outputRows * header.vocabularySize,
      threads * elementStride / 4, tokens * MemoryLayout<RowPlace>.stride / 4,
    ].map { ($0 + 15) & ~15 }
    byteCount = counts.reduce(0, +) * 4
    storage = AlignedStorage(byteCount: byteCount)

    // The parts lie one after the other inside `storage`, which this value owns.
    var next = unsafe storage.baseAddress.assumingMemoryBound(to: Float.self)
    func part(_ index: Int) -> UnsafeMutablePointer<Float> {
      defer { unsafe next += counts[index] }
      return unsafe next
    }
    unsafe hidden = part(0)
    unsafe normed = part(1)
    unsafe projected = part(2)
    unsafe projections = part(3)
    unsafe attended = part(4)
    unsafe gateAndUp = part(5)
    unsafe gated = part(6)
    unsafe cosines = part(7)
    unsafe sines = part(8)
    unsafe logits = part(9)
    unsafe elements = UnsafeMutableRawPointer(part(10))
    unsafe rowPlaces = UnsafeMutableRawPointer(part(11)).assumingMemoryBound(to: RowPlace.self)
  }
}

/// Where a row of a step belongs.
struct RowPlace {
  /// Of the step's segments.
  var segment: Int32
  var position: Int32
}
