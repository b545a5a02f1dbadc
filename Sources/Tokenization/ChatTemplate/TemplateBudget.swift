/// Meters what a rendering does, and ends it at the limits.
///
/// Every operation pays here before it works, for the size of all it reads and all it makes. It
/// cannot forget to: the content of a `TemplateString`, the elements of a `TemplateList` and the
/// entries of a `TemplateMapping` are private, and the methods that hand them out take a budget.
///
/// | work | steps |
/// | --- | --- |
/// | a statement, expression, argument or loop iteration; a node printed, compared or looked up | 1 |
/// | 64 bytes of text copied | 1 |
/// | 16 bytes of text searched, escaped or compared byte by byte | 1 |
/// | 4 bytes of text read scalar by scalar | 1 |
/// | 2 bytes of text whose case changes | 1 |
/// | 8 elements copied | 1 |
/// | 256 bytes of memory | 1 |
///
/// Memory counts as it is made and is never given back: what a rendering holds at any time is less
/// than it has paid for.
struct TemplateBudget {
  /// Expressions and blocks of statements inside one another, over all macros called.
  static let maximumDepth = 256

  let limits: ChatTemplate.Limits
  private(set) var usage = ChatTemplate.Usage()
  /// The line of the template that is being evaluated.
  var line = 1
  private var depth = 0

  init(_ limits: ChatTemplate.Limits) { self.limits = limits }

  /// Begins something nested at a line; returns the line to go back to with `leave`.
  mutating func enter(line: Int) throws(ChatTemplateError) -> Int {
    let outer = self.line
    self.line = line
    depth += 1
    guard depth <= Self.maximumDepth else {
      throw failure(.limit, "expressions, statements and macros nest too deeply")
    }
    return outer
  }

  mutating func leave(to line: Int) {
    self.line = line
    depth -= 1
  }

  /// Pays for steps.
  mutating func spend(_ steps: Int) throws(ChatTemplateError) {
    guard steps <= limits.maximumSteps - usage.steps else {
      throw failure(.limit, "more than \(limits.maximumSteps) steps")
    }
    usage.steps += steps
  }

  /// Pays for copying text.
  mutating func spend(reading byteCount: Int) throws(ChatTemplateError) {
    try spend(1 + byteCount / 64)
  }

  /// Pays for going through text byte by byte: searching, comparing, hashing.
  mutating func spend(searching byteCount: Int) throws(ChatTemplateError) {
    try spend(1 + byteCount / 16)
  }

  /// Pays for going through text scalar by scalar.
  mutating func spend(scalarsOf byteCount: Int) throws(ChatTemplateError) {
    try spend(1 + byteCount / 4)
  }

  /// Pays for upper and lower case, which are Unicode's.
  mutating func spend(casesOf byteCount: Int) throws(ChatTemplateError) {
    try spend(1 + byteCount / 2)
  }

  /// Pays for memory that a value may keep.
  mutating func spend(memory byteCount: Int) throws(ChatTemplateError) {
    try makeRoom(for: byteCount)
    usage.bytes += byteCount
    try spend(byteCount / 256)
  }

  /// Checks that memory for the time of one operation is left; the operation gives it back.
  func makeRoom(for byteCount: Int) throws(ChatTemplateError) {
    guard byteCount <= limits.maximumBytes - usage.bytes else {
      throw failure(.limit, "more than \(limits.maximumBytes) bytes of memory")
    }
  }

  /// An error at the line that is being evaluated.
  func failure(_ kind: ChatTemplateError.Kind, _ reason: String) -> ChatTemplateError {
    ChatTemplateError(kind, line: line, reason)
  }
}
