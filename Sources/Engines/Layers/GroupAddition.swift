import QuantKernels

/// The low-rank additions to the layers of one group: part of the model's file, or of an adapter.
///
/// Its working memory has a part for each layer with an addition, [tokens][rank of the layer].
final class GroupAddition: Sendable {
  /// One for each layer of the group that has any.
  private let products: [LowRankProduct?]
  /// Where a token's A · x of each layer begins, in floats a token.
  private let offsets: [Int]
  /// Of all layers: floats of working memory a token.
  let rank: Int

  /// nil where no layer has an addition.
  init?(_ products: [LowRankProduct?]) {
    guard products.contains(where: { $0 != nil }) else { return nil }
    self.products = products
    var offsets: [Int] = []
    var rank = 0
    for product in products {
      offsets.append(rank)
      rank += product?.rank ?? 0
    }
    self.offsets = offsets
    self.rank = rank
  }

  /// A share of every layer's A · x.
  @unsafe func multiplyInner(
    _ input: UnsafePointer<Float>, into inner: UnsafeMutablePointer<Float>, tokens: Int, part: Int,
    of partCount: Int
  ) {
    for (index, product) in products.enumerated() {
      guard let product else { continue }
      let share = ThreadPool.share(of: product.rank, part: part, partCount: partCount)
      if share.isEmpty { continue }
      // The layers' parts lie one after the other.
      unsafe product.multiplyInner(
        share, input, tokens: tokens, into: inner + tokens * offsets[index])
    }
  }

  /// Some rows of a layer's B · (A · x), for output rows `stride` floats apart; false where the layer
  /// has no addition.
  @unsafe func multiplyOuter(
    _ rows: Range<Int>, ofLayer index: Int, _ inner: UnsafePointer<Float>, tokens: Int,
    into output: UnsafeMutablePointer<Float>, outputStride: Int
  ) -> Bool {
    guard let product = products[index] else { return false }
    // As above.
    unsafe product.multiplyOuter(
      rows, inner + tokens * offsets[index], tokens: tokens, into: output,
      outputStride: outputStride)
    return true
  }
}
