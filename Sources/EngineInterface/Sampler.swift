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
    guard let best = Self.largest(logits) else { return nil }
    guard options.temperature > 0 else { return best }
    gather(logits, largest: logits[Int(best)])
    return draw()
  }

  /// The index of the largest value, the lowest among equals; nil if there is a NaN or no finite
  /// value.
  package static func largest(_ logits: Span<Float>) -> Int32? {
    var best: Int32?
    var value = -Float.infinity
    var hasNaN = false
    for index in logits.indices {
      let logit = logits[index]
      if logit > value {
        value = logit
        best = Int32(index)
      }
      if logit.isNaN { hasNaN = true }
    }
    return hasNaN || !value.isFinite ? nil : best
  }

  /// Fills `candidates` with the tokens that top-k keeps, largest first (ties by id).
  private mutating func gather(_ logits: Span<Float>, largest: Float) {
    candidates.removeAll(keepingCapacity: true)
    if options.topK > 0 && options.topK < logits.count {
      keepLargest(options.topK, of: logits)
    } else {
      // Below this a probability is under 2^-40 of the largest: it could not be drawn.
      let floor = largest - 28 * options.temperature
      for index in logits.indices where logits[index] >= floor {
        candidates.append(Candidate(token: Int32(index), logit: logits[index]))
      }
    }
    candidates.sort { ($0.logit, $1.token) > ($1.logit, $0.token) }
  }

  /// A bounded heap of the k best, the worst at its root.
  private mutating func keepLargest(_ k: Int, of logits: Span<Float>) {
    for index in logits.indices {
      let candidate = Candidate(token: Int32(index), logit: logits[index])
      if candidates.count < k {
        candidates.append(candidate)
        siftUp(candidates.count - 1)
      } else if isWorse(candidates[0], than: candidate) {
        candidates[0] = candidate
        siftDown()
      }
    }
  }

  private func isWorse(_ a: Candidate, than b: Candidate) -> Bool {
    (a.logit, b.token) < (b.logit, a.token)
  }

  private mutating func siftUp(_ start: Int) {
    var child = start
    while child > 0 {
      let parent = (child - 1) / 2
      guard isWorse(candidates[child], than: candidates[parent]) else { return }
      candidates.swapAt(child, parent)
      child = parent
    }
  }

  private mutating func siftDown() {
    var parent = 0
    while true {
      var worst = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < candidates.count {
        if isWorse(candidates[child], than: candidates[worst]) { worst = child }
      }
      guard worst != parent else { return }
      candidates.swapAt(worst, parent)
      parent = worst
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
