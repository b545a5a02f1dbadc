/// What every position of a session's cache is for. The parts add up to the positions in it.
package struct ContextAccount: Hashable, Sendable {
  /// The system turn.
  package var instructions = 0
  /// Tool definitions; no tier of today takes tools, so 0.
  package var tools = 0
  /// Everything of earlier turns but the instructions.
  package var history = 0
  /// The present turn's prompt, with the template's marks around it.
  package var prompt = 0
  /// The present turn's reasoning segment, with its marks.
  package var reasoning = 0
  /// The present turn's response, as far as it has been fed back.
  package var response = 0

  package init() {}

  /// The positions in the cache.
  package var total: Int { instructions + tools + history + prompt + reasoning + response }

  /// Begins the next turn: what was prompt, reasoning and response is history now.
  package mutating func beginTurn() {
    history += prompt + reasoning + response
    prompt = 0
    reasoning = 0
    response = 0
  }
}
