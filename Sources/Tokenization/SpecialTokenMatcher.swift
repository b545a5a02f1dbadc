/// Finds special tokens written out in text: the longest at each place, the first place first.
///
/// A trie over the tokens' bytes; looking costs nothing where no special token begins.
struct SpecialTokenMatcher: Sendable {
  private struct Node: Sendable {
    var byte: UInt8
    /// The token that ends here, or -1.
    var token: Int32 = -1
    /// The first child and the next child of the same parent; 0, the root, stands for none.
    var firstChild: Int32 = 0
    var sibling: Int32 = 0
  }

  private var nodes = [Node(byte: 0)]
  private var begins = [Bool](repeating: false, count: 256)

  init(_ vocabulary: BPEVocabulary) {
    for id in 0..<vocabulary.count where vocabulary.isSpecial(id) {
      insert(vocabulary.bytes(of: id), token: Int32(id))
    }
  }

  /// The next special token at or after an offset.
  func firstMatch(in bytes: [UInt8], from start: Int) -> (range: Range<Int>, token: Int32)? {
    for offset in start..<bytes.count where begins[Int(bytes[offset])] {
      if let match = longestMatch(in: bytes, at: offset) { return match }
    }
    return nil
  }

  private func longestMatch(
    in bytes: [UInt8], at start: Int
  ) -> (range: Range<Int>, token: Int32)? {
    var longest: (range: Range<Int>, token: Int32)?
    var node = 0
    var offset = start
    while offset < bytes.count, let child = child(of: node, byte: bytes[offset]) {
      node = child
      offset += 1
      if nodes[node].token >= 0 { longest = (start..<offset, nodes[node].token) }
    }
    return longest
  }

  private func child(of node: Int, byte: UInt8) -> Int? {
    var child = Int(nodes[node].firstChild)
    while child != 0, nodes[child].byte != byte { child = Int(nodes[child].sibling) }
    return child == 0 ? nil : child
  }

  private mutating func insert(_ bytes: ArraySlice<UInt8>, token: Int32) {
    var node = 0
    for byte in bytes {
      if let child = child(of: node, byte: byte) {
        node = child
      } else {
        nodes.append(Node(byte: byte, sibling: nodes[node].firstChild))
        nodes[node].firstChild = Int32(nodes.count - 1)
        node = nodes.count - 1
      }
    }
    nodes[node].token = token
    if let first = bytes.first { begins[Int(first)] = true }
  }
}
