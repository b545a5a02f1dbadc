import EngineInterface

/// A session that stands where measurements begin: it is run once, and each begins as its fork.
struct ContextFrontier {
  private let session: any Session
  private var tokens: [Int32] = []

  init(in group: any SessionGroup, adapter: (any EngineAdapter)?) throws(EngineError) {
    session = try group.makeSession()
    try session.use(adapter)
  }

  /// A session behind those tokens; what has been run of them before is not run again.
  mutating func fork(behind tokens: [Int32]) throws(EngineError) -> any Session {
    let common = zip(self.tokens, tokens).prefix { $0 == $1 }.count
    if common < tokens.count {
      session.truncate(to: common)
      self.tokens.removeSubrange(common...)
      try session.prefill(tokens[common...])
      self.tokens = tokens
    }
    let fork = try session.fork()
    fork.truncate(to: tokens.count)
    return fork
  }
}
