/// A text in a template: Unicode scalars, as in Python.
///
/// Two are equal when their scalars are, and never by canonical equivalence. Its content is private
/// to this file, so that a template pays for every look at it.
package struct TemplateString: Sendable {
  private let content: String

  /// A text that no template made: the caller's, or a literal of the source.
  package init(given content: String) {
    var content = content
    content.makeContiguousUTF8()
    self.content = content
  }

  /// A text that a template made.
  init(_ content: String, _ budget: inout TemplateBudget) throws(ChatTemplateError) {
    try Self.pay(for: content.utf8.count, &budget)
    self.content = content
  }

  /// A text that a template made, from the UTF-8 of other texts.
  init(
    utf8 bytes: ArraySlice<UInt8>, _ budget: inout TemplateBudget
  ) throws(ChatTemplateError) {
    try Self.pay(for: bytes.count, &budget)
    content = String(decoding: bytes, as: UTF8.self)
  }

  /// Short texts lie in the value itself; others are allocations.
  private static func pay(
    for byteCount: Int, _ budget: inout TemplateBudget
  ) throws(ChatTemplateError) {
    try budget.spend(reading: byteCount)
    if byteCount > 15 { try budget.spend(memory: byteCount + 48) }
  }

  var byteCount: Int { content.utf8.count }
  var isEmpty: Bool { content.isEmpty }

  /// The content.
  func read(_ budget: inout TemplateBudget) throws(ChatTemplateError) -> String {
    try budget.spend(reading: byteCount)
    return content
  }

  /// The content's UTF-8.
  func bytes(_ budget: inout TemplateBudget) throws(ChatTemplateError) -> [UInt8] {
    try budget.spend(reading: byteCount)
    try budget.makeRoom(for: byteCount)
    return Array(content.utf8)
  }

  /// The content, to go through it scalar by scalar.
  func scalars(
    _ budget: inout TemplateBudget
  ) throws(ChatTemplateError) -> String.UnicodeScalarView {
    try budget.spend(scalarsOf: byteCount)
    return content.unicodeScalars
  }

  /// How many scalars the content has.
  func scalarCount(_ budget: inout TemplateBudget) throws(ChatTemplateError) -> Int {
    try budget.spend(searching: byteCount)
    var count = 0
    for byte in content.utf8 where byte & 0xC0 != 0x80 { count += 1 }
    return count
  }

  /// The content in upper or lower case.
  func changed(
    toUpper: Bool, _ budget: inout TemplateBudget
  ) throws(ChatTemplateError) -> TemplateString {
    try budget.spend(casesOf: byteCount)
    try budget.makeRoom(for: 3 * byteCount)
    return try TemplateString(toUpper ? content.uppercased() : content.lowercased(), &budget)
  }

  /// Whether two texts have the same scalars.
  func isIdentical(
    to other: TemplateString, _ budget: inout TemplateBudget
  ) throws(ChatTemplateError) -> Bool {
    guard byteCount == other.byteCount else { return false }
    try budget.spend(searching: byteCount)
    return content.utf8.elementsEqual(other.content.utf8)
  }

  /// Whether the text comes before another; the order of UTF-8 is the order of the scalars.
  func precedes(
    _ other: TemplateString, _ budget: inout TemplateBudget
  ) throws(ChatTemplateError) -> Bool {
    try budget.spend(searching: 2 * min(byteCount, other.byteCount))
    return content.utf8.lexicographicallyPrecedes(other.content.utf8)
  }

  fileprivate func hasSameBytes(as other: TemplateString) -> Bool {
    byteCount == other.byteCount && content.utf8.elementsEqual(other.content.utf8)
  }

  fileprivate func makeHash() -> Int {
    var hasher = Hasher()
    var copy = content
    // The bytes are read within the call that lends them.
    copy.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    return hasher.finalize()
  }
}

/// A text to look up by: a name, or a key of a mapping.
///
/// Making one pays for hashing the text and for comparing it with the key that it finds; looking up
/// then costs a step, whatever the mapping's size.
package struct TemplateKey: Hashable, Sendable {
  package let text: TemplateString
  private let hash: Int

  /// A key that no template made: the caller's, or a name in the source.
  package init(given text: String) {
    self.text = TemplateString(given: text)
    hash = self.text.makeHash()
  }

  init(_ text: TemplateString, _ budget: inout TemplateBudget) throws(ChatTemplateError) {
    try budget.spend(searching: 3 * text.byteCount)
    self.text = text
    hash = text.makeHash()
  }

  package static func == (left: TemplateKey, right: TemplateKey) -> Bool {
    left.hash == right.hash && left.text.hasSameBytes(as: right.text)
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
