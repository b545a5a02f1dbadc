import KVCache

/// Sessions of one engine that share a cache under one byte budget, and the working memory that they
/// run in: they decode together, begin where another one stands, and take over equal beginnings that
/// one of them has computed.
///
/// One thread at a time uses a group and its sessions.
package protocol SessionGroup: AnyObject {
  /// The cache's account of this moment, over all sessions. Allocates.
  var cacheUsage: PoolUsage { get }

  /// What sessions of those lengths would take that share their first positions.
  func predictedUsage(positions: [Int], sharedPositions: Int) -> CacheUsage

  /// A fresh timeline in the group's cache.
  func makeSession() throws(EngineError) -> any Session

  /// Runs one token of each session in one step, which reads every weight once for all of them.
  /// Afterwards each session's logits are those after its token.
  ///
  /// Throws where one session or the cache has no room for its token, before anything is written.
  /// The sessions are different ones of this group, at most `SessionOptions.batchTokens`.
  func decode(_ tokens: [Int32], in sessions: [any Session]) throws(EngineError)

  /// The same with any number of tokens a session, at most `SessionOptions.batchTokens` in all: parts of
  /// prompts beside the next tokens of answers.
  func run(_ inputs: [SessionInput]) throws(EngineError)
}

/// What one session runs in a step.
package struct SessionInput {
  package var session: any Session
  /// Not empty.
  package var tokens: ArraySlice<Int32>
  /// Whether the logits after the last token are computed; otherwise the session has none until its
  /// next token.
  package var readsLogits: Bool

  package init(session: any Session, tokens: ArraySlice<Int32>, readsLogits: Bool = true) {
    self.session = session
    self.tokens = tokens
    self.readsLogits = readsLogits
  }
}

extension Engine {
  /// A session with a cache of its own.
  package func makeSession(_ options: SessionOptions) throws -> any Session {
    try makeSessionGroup(options).makeSession()
  }
}
