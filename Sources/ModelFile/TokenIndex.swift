import Tokenization

/// The ids of tokens by their bytes, and merges in words as pairs of ids.
///
/// Bytes are compared, not characters: canonically equivalent tokens are different tokens.
struct TokenIndex {
  private var ids: [[UInt8]: UInt32] = [:]

  /// Of equal tokens, the first one counts; empty ones are none.
  init(_ tokens: [String]) {
    ids.reserveCapacity(tokens.count)
    for (id, token) in tokens.enumerated() where !token.isEmpty && ids[Array(token.utf8)] == nil {
      ids[Array(token.utf8)] = UInt32(truncatingIfNeeded: id)
    }
  }

  subscript(token: some Sequence<UInt8>) -> UInt32? { ids[Array(token)] }

  /// The merge that a line says: two tokens with one space between them. Else a reason.
  func merge(line: String) -> Result<TokenizerDescription.Merge, Fault> {
    let bytes = Array(line.utf8)
    guard let space = bytes.dropFirst().firstIndex(of: 0x20), space + 1 < bytes.count else {
      return .failure(.notTwoTokens)
    }
    return merge(left: bytes[..<space], right: bytes[(space + 1)...])
  }

  /// The merge of two tokens.
  func merge(
    left: some Sequence<UInt8>, right: some Sequence<UInt8>
  ) -> Result<TokenizerDescription.Merge, Fault> {
    guard let left = self[left] else { return .failure(.unknownLeft) }
    guard let right = self[right] else { return .failure(.unknownRight) }
    return .success(.init(left: left, right: right))
  }

  /// Why a merge is none; a predicate whose subject is `merge N`.
  enum Fault: Error {
    case notTwoTokens, unknownLeft, unknownRight

    /// The reason, about the merge of that number.
    func reason(_ index: Int) -> String {
      switch self {
      case .notTwoTokens: "merge \(index) is not two tokens with a space between them"
      case .unknownLeft: "the left part of merge \(index) is not in the vocabulary"
      case .unknownRight: "the right part of merge \(index) is not in the vocabulary"
      }
    }
  }
}
