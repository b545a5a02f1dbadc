/// Collects text, each piece paid for before it is taken, up to what a template may print.
struct TemplateTextBuilder {
  private var bytes: [UInt8] = []

  /// The text so far, for the caller of a rendering.
  var text: String { String(decoding: bytes, as: UTF8.self) }

  mutating func append(
    _ text: TemplateString, _ budget: inout TemplateBudget
  ) throws(ChatTemplateError) {
    try pay(for: text.byteCount, &budget)
    bytes += try text.read(&budget).utf8
  }

  /// Appends UTF-8 that another text holds.
  mutating func append(
    utf8 piece: ArraySlice<UInt8>, _ budget: inout TemplateBudget
  ) throws(ChatTemplateError) {
    try pay(for: piece.count, &budget)
    bytes += piece
  }

  /// Appends a constant, a number or an escape: a few bytes.
  mutating func append(
    short text: String, _ budget: inout TemplateBudget
  ) throws(ChatTemplateError) {
    try pay(for: text.utf8.count, &budget)
    bytes += text.utf8
  }

  /// Appends a byte many times.
  mutating func append(
    _ byte: UInt8, count: Int, _ budget: inout TemplateBudget
  ) throws(ChatTemplateError) {
    try pay(for: count, &budget)
    bytes += repeatElement(byte, count: count)
  }

  /// What has been collected, as a value.
  func finished(_ budget: inout TemplateBudget) throws(ChatTemplateError) -> TemplateString {
    try TemplateString(utf8: bytes[...], &budget)
  }

  /// An array that grows holds up to twice its bytes.
  private func pay(
    for byteCount: Int, _ budget: inout TemplateBudget
  ) throws(ChatTemplateError) {
    try budget.spend(reading: byteCount)
    guard byteCount <= budget.limits.maximumOutputBytes - bytes.count else {
      throw budget.failure(
        .limit, "more than \(budget.limits.maximumOutputBytes) bytes of output")
    }
    try budget.spend(memory: 2 * byteCount)
  }
}
