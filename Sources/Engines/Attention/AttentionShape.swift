import ModelFile

/// What attention knows of a model, and what its tiles are made of.
package struct AttentionShape: Hashable, Sendable {
  package let queryHeadCount: Int
  package let keyValueHeadCount: Int
  package let headDimension: Int

  /// Query heads are a multiple of key/value heads.
  package init(queryHeadCount: Int, keyValueHeadCount: Int, headDimension: Int) {
    precondition(
      keyValueHeadCount > 0 && queryHeadCount % keyValueHeadCount == 0 && headDimension > 0,
      "equal groups of query heads share a key/value head")
    self.queryHeadCount = queryHeadCount
    self.keyValueHeadCount = keyValueHeadCount
    self.headDimension = headDimension
  }

  /// Query heads that share a key/value head.
  var groupHeadCount: Int { queryHeadCount / keyValueHeadCount }

  /// Floats of a row of queries, and of one of results.
  var rowStride: Int { queryHeadCount * headDimension }

  /// Tokens of a prefill whose heads go through a page together.
  var tileTokenCount: Int { max(1, Self.tileRowCount / groupHeadCount) }

  /// Rows of a tile: tokens times the heads that share a key/value head.
  var tileRowCapacity: Int { max(Self.tileRowCount, groupHeadCount) }

  /// As many rows as sums, codes and scores of a page leave room for in the nearest caches.
  private static var tileRowCount: Int { 32 }

  /// Parts that the pages of one token's attention are split into at most: work for threads beyond the
  /// number of key/value heads.
  static var partCapacity: Int { 16 }

  /// Pages of such a part at least.
  private static var partPageCount: Int { 2 }

  /// Parts of that many pages. It depends on the context alone, and so do results: not on threads.
  static func partCount(pages: Int) -> Int {
    min(partCapacity, (pages + partPageCount - 1) / partPageCount)
  }
}

extension AttentionShape {
  init(_ header: ModelHeader) {
    self.init(
      queryHeadCount: header.queryHeadCount, keyValueHeadCount: header.keyValueHeadCount,
      headDimension: header.headDimension)
  }
}
