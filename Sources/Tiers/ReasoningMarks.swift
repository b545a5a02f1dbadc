import EngineInterface

/// The tokens around a reasoning segment, in the convention of open reasoning models.
struct ReasoningMarks {
  var opening: [Int32] = []
  var closing: [Int32] = []
  /// Tokens that end the segment where the model has a closing mark of its own.
  var stops: Set<Int32> = []

  /// No segment.
  init() {}

  /// The marks in the engine's vocabulary.
  init(_ engine: any Engine) throws {
    opening = try engine.encode("<think>\n", recognizingSpecialTokens: true)
    closing = try engine.encode("\n</think>\n\n", recognizingSpecialTokens: true)
    let mark = try engine.encode("</think>", recognizingSpecialTokens: true)
    if mark.count == 1 { stops = Set(mark) }
  }
}
