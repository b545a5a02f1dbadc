/// Why a tokenizer cannot be built from a description, or ids cannot be decoded.
package enum TokenizerError: Error, Hashable, Sendable, CustomStringConvertible {
  case unknownModel(String)
  case unknownPreTokenizer(String)
  case emptyVocabulary
  /// Token ids are 32-bit integers.
  case tooManyTokens(count: Int)
  case kindCount(tokens: Int, kinds: Int)
  case emptyToken(Int)
  /// Two entries with the same text; `first` is the lower id.
  case duplicateToken(Int, first: Int)
  /// A normal token with a character that stands for no byte.
  case tokenOutsideAlphabet(Int, scalar: UInt32)
  /// A byte of ordinary text that no token stands for.
  case missingBaseByte(UInt8)
  case mergeOutsideVocabulary(merge: Int, token: UInt32)
  /// The two tokens of a merge, one after the other, are no token.
  case mergeWithoutResult(merge: Int)
  case duplicateMerge(Int, first: Int)
  /// The begin, end, unknown or padding token is no index of the vocabulary.
  case specialTokenOutOfRange(role: String, id: Int)
  /// An id to be decoded, by its place in the sequence, that the vocabulary does not have.
  case idOutOfRange(index: Int, id: Int32)

  package var description: String {
    switch self {
    case .unknownModel(let name):
      return "tokenizer model '\(name)' is not known; byte-level BPE is 'gpt2'"
    case .unknownPreTokenizer(let name):
      let known = PreTokenizer.names.joined(separator: ", ")
      return "pre-tokenizer '\(name)' is not known; known are \(known)"
    case .emptyVocabulary: return "the vocabulary has no tokens"
    case .tooManyTokens(let count): return "\(count) tokens are more than ids can number"
    case .kindCount(let tokens, let kinds): return "\(tokens) tokens, but \(kinds) token kinds"
    case .emptyToken(let index): return "token \(index) is empty"
    case .duplicateToken(let index, let first): return "token \(index) repeats token \(first)"
    case .tokenOutsideAlphabet(let index, let scalar):
      let hex = String(scalar, radix: 16, uppercase: true)
      return "token \(index) has U+\(hex), which is outside the byte-level alphabet"
    case .missingBaseByte(let byte): return "no token stands for byte \(byte)"
    case .mergeOutsideVocabulary(let merge, let token):
      return "merge \(merge) names token \(token), which the vocabulary does not have"
    case .mergeWithoutResult(let merge): return "merge \(merge) makes a text that is no token"
    case .duplicateMerge(let merge, let first): return "merge \(merge) repeats merge \(first)"
    case .specialTokenOutOfRange(let role, let id):
      return "the \(role) token is \(id), which the vocabulary does not have"
    case .idOutOfRange(let index, let id):
      return "id \(id) at index \(index) is outside the vocabulary"
    }
  }
}
