import RandomNumbers

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// How the next token is chosen from the logits, with the state of its random numbers.
///
/// The order is that of the field: temperature, then top-k, then top-p, then one draw. The same
/// seed and logits give the same tokens on every machine. Preallocates for the vocabulary once;
/// choosing costs O(vocabulary), and O(n log n) in the candidates kept where it draws.
package struct Sampler: Sendable {
  /// Which tokens may be drawn.
  package struct Options: Hashable, Sendable {
    /// 0 is greedy: the largest logit, the lowest id among equals.
    package var temperature: Float
    /// Only the k largest logits; 0 keeps all.
    package var topK: Int
    /// Only the smallest set of tokens whose probability reaches p; 1 keeps all.
    package var topP: Float
    /// Where the random numbers begin.
    package var seed: UInt64

    /// Greedy unless told otherwise.
    package init(temperature: Float = 0, topK: Int = 0, topP: Float = 1, seed: UInt64 = 0) {
      self.temperature = temperature
      self.topK = topK
      self.topP = topP
      self.seed = seed
    }

    /// The largest logit, always.
    package static let greedy = Options()
  }

  /// The rule.
  package let options: Options

  private var generator: SplitMix64
  private var candidates: [Candidate] = []
  /// Room for top-k: working memory, and the places of the largest logits.
  private var keys: [UInt64] = []
  private var places: [Int32] = []

  private struct Candidate {
    var token: Int32
    var logit: Float
  }

  package init(_ options: Options) {
    precondition(
      options.temperature >= 0 && options.topK >= 0 && options.topP > 0 && options.topP <= 1,
      "sampling options outside their range")
    self.options = options
    generator = SplitMix64(seed: options.seed)
  }

  /// The chosen token, or nil where no logit is a finite number or any is NaN.
  package mutating func sample(_ logits: Span<Float>) -> Int32? {
    sample(logits, searching: PlainLogitSearch())
  }

  /// The same with the searches of an engine, which give the same places.
  package mutating func sample(
    _ logits: Span<Float>, searching search: some LogitSearch
  ) -> Int32? {
    guard let best = search.largest(logits), logits[best].isFinite else { return nil }
    guard options.temperature > 0 else { return Int32(best) }
    gather(logits, largest: logits[best], search)
    return draw()
  }

  /// The index of the largest value, the lowest among equals; nil if there is a NaN or no finite
  /// value.
  package static func largest(_ logits: Span<Float>) -> Int32? {
    guard let best = PlainLogitSearch().largest(logits), logits[best].isFinite else { return nil }
    return Int32(best)
  }

  /// Fills `candidates` with the tokens that top-k keeps, largest first (ties by id).
  private mutating func gather(
    _ logits: Span<Float>, largest: Float, _ search: some LogitSearch
  ) {
    candidates.removeAll(keepingCapacity: true)
    if options.topK > 0 && options.topK < logits.count {
      if keys.isEmpty {
        keys = Array(repeating: 0, count: options.topK)
        places = Array(repeating: 0, count: options.topK)
      }
      // There is no NaN: the largest was found.
      search.findLargest(logits, keys: &keys, places: &places)
      for token in places {
        candidates.append(Candidate(token: token, logit: logits[Int(token)]))
      }
    } else {
      // Below this a probability is under 2^-40 of the largest: it could not be drawn.
      let floor = largest - 28 * options.temperature
      for index in logits.indices where logits[index] >= floor {
        candidates.append(Candidate(token: Int32(index), logit: logits[index]))
      }
      candidates.sort { ($0.logit, $1.token) > ($1.logit, $0.token) }
    }
  }

  /// Draws from the candidates that top-p keeps.
  private mutating func draw() -> Int32 {
    let largest = candidates[0].logit
    // Divided by, not multiplied with its reciprocal: that of a denormal number is infinite.
    let temperature = options.temperature
    var total: Double = 0
    for candidate in candidates { total += Double(exp((candidate.logit - largest) / temperature)) }
    var kept = candidates.count
    if options.topP < 1 {
      var cumulative: Double = 0
      for index in candidates.indices {
        cumulative += Double(exp((candidates[index].logit - largest) / temperature))
        if cumulative >= Double(options.topP) * total {
          kept = index + 1
          total = cumulative
          break
        }
      }
    }
    var remaining = generator.unit() * total
    for candidate in candidates.prefix(kept) {
      remaining -= Double(exp((candidate.logit - largest) / temperature))
      if remaining < 0 { return candidate.token }
    }
    return candidates[kept - 1].token
  }
}
