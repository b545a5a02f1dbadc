/// Turns tokens into text one at a time, never showing half a character. The pieces together are the
/// text of all the tokens.
package protocol TextStream {
  /// The text that a token completes; empty while a character is incomplete.
  mutating func append(_ token: Int32) throws -> String

  /// The text of what is still incomplete.
  mutating func finish() throws -> String
}

extension Engine {
  /// A stream that decodes all tokens again for each; engines with a tokenizer of their own have a
  /// faster one.
  package func makeTextStream() throws -> any TextStream { WholeTextStream(engine: self) }
}

/// A stream of an engine that can only decode whole texts.
private struct WholeTextStream: TextStream {
  let engine: any Engine
  private var tokens: [Int32] = []
  private var shown = 0

  init(engine: any Engine) { self.engine = engine }

  mutating func append(_ token: Int32) throws -> String {
    tokens.append(token)
    let scalars = try engine.decode(tokens).unicodeScalars
    // A replacement character at the end may yet become another one.
    guard scalars.last != "\u{FFFD}" else { return "" }
    return show(scalars)
  }

  mutating func finish() throws -> String { show(try engine.decode(tokens).unicodeScalars) }

  private mutating func show(_ scalars: String.UnicodeScalarView) -> String {
    defer { shown = max(shown, scalars.count) }
    return String(String.UnicodeScalarView(scalars.dropFirst(shown)))
  }
}
