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
  /// [threads][scoreRows][contextLimit rounded up to pages] attention scores.
  let scores: UnsafeMutablePointer<Float>
  /// [threads][headDimension] one head's key or value in the cache's element.
  let elements: UnsafeMutableRawPointer
  /// [threads][scoreRows][codeStride] queries or weights as 16-bit codes.
  private let codes: UnsafeMutablePointer<Int16>
  /// [threads][scoreRows] what the codes of a row are multiplied by.
  private let rowScales: UnsafeMutablePointer<Float>
  /// [threads][panelCount] a page's keys or values of one head as floats.
  private let panels: UnsafeMutablePointer<Float>

  /// Positions that logits are computed for at one time.
  static var outputRows: Int { 16 }
  /// Tokens of a prefill batch that share one pass over the keys.
  static var scoreTokens: Int { 16 }

  let scoreRows: Int
  let scoreStride: Int
  let elementStride: Int
  let codeStride: Int
  private let panelCount: Int
  let byteCount: Int
  private let storage: AlignedStorage

  init(header: ModelHeader, tokens: Int, contextLimit: Int, pagePositions: Int, threads: Int) {
    let queries = header.queryHeadCount * header.headDimension
    let keys = header.keyValueHeadCount * header.headDimension
    let widest = max(header.hiddenSize, queries)
    scoreRows = max(Self.scoreTokens, header.queryHeadCount / header.keyValueHeadCount)
    scoreStride = (contextLimit + pagePositions - 1) / pagePositions * pagePositions
    elementStride = (header.headDimension * 4 + 63) & ~63
    // Even, and longer than a row: the element behind a row of odd length is read.
    codeStride = (max(scoreStride, header.headDimension) + 31) & ~15
    panelCount = header.headDimension * (pagePositions + 1)

    // Counts of floats, in the order of the properties; each part begins on a cache line.
    let counts = [
      tokens * header.hiddenSize, tokens * widest, tokens * widest,
      tokens * (queries + 2 * keys), tokens * queries,
      tokens * 2 * header.feedForwardSize, tokens * header.feedForwardSize,
      tokens * (header.ropeDimension / 2), tokens * (header.ropeDimension / 2),
      Self.outputRows * header.vocabularySize,
      threads * scoreRows * scoreStride, threads * elementStride / 4,
      threads * scoreRows * codeStride / 2, threads * scoreRows, threads * panelCount,
      tokens * MemoryLayout<RowPlace>.stride / 4,
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
    unsafe scores = part(10)
    unsafe elements = UnsafeMutableRawPointer(part(11))
    unsafe codes = UnsafeMutableRawPointer(part(12)).assumingMemoryBound(to: Int16.self)
    unsafe rowScales = part(13)
    unsafe panels = part(14)
    unsafe rowPlaces = UnsafeMutableRawPointer(part(15)).assumingMemoryBound(to: RowPlace.self)
  }

  /// A thread's own part of each.
  @unsafe func codes(_ room: Int) -> UnsafeMutablePointer<Int16> {
    unsafe codes + room * scoreRows * codeStride
  }
  @unsafe func rowScales(_ room: Int) -> UnsafeMutablePointer<Float> {
    unsafe rowScales + room * scoreRows
  }
  @unsafe func panel(_ room: Int) -> UnsafeMutablePointer<Float> {
    unsafe panels + room * panelCount
  }
}

/// Where a row of a step belongs.
struct RowPlace {
  /// Of the step's segments.
  var segment: Int32
  var position: Int32
}
