import KVCache

/// A workload against the cache alone: which pages would be there already, which had to be given
/// up, how many positions a prefill would compute. No engine, no keys, no values.
package struct CacheReplay {
  /// What is replayed, and how.
  package struct Options: Hashable, Sendable {
    /// The model's cache.
    package var layout: CacheLayout
    /// Bytes; nil for a pool that never gives anything up.
    package var byteBudget: Int?
    /// How long a request keeps its pages after its arrival, for each output position; 0: it has
    /// ended when the next one arrives.
    package var secondsPerOutput: Double

    package init(layout: CacheLayout, byteBudget: Int? = nil, secondsPerOutput: Double = 0) {
      self.layout = layout
      self.byteBudget = byteBudget
      self.secondsPerOutput = secondsPerOutput
    }
  }

  /// What came out.
  package struct Outcome: Hashable, Sendable {
    package var requestCount = 0
    /// Requests that the pool had no room for beside those that were running.
    package var refusedCount = 0
    /// Pages of all prompts, last ones that are not full included.
    package var promptPageCount = 0
    /// Whole pages that the pool had.
    package var hitPageCount = 0
    package var promptPositions = 0
    /// Positions that no prefill has to compute.
    package var hitPositions = 0
    /// Positions that a prefill has to compute: the others of prompts that were served.
    package var prefillPositions = 0
    package var evictedPageCount = 0
    /// The most bytes that requests held together, and that were taken from the budget.
    package var peakHeldBytes = 0
    package var peakAllocatedBytes = 0
    /// Requests whose cost was not what `CacheLayout.predictedUsage` had said.
    package var mispredictedCount = 0

    /// Hit pages over pages of prompts.
    package var hitRate: Double {
      promptPageCount == 0 ? 0 : Double(hitPageCount) / Double(promptPageCount)
    }
  }

  private struct Running {
    var sequence: CacheSequence
    var end: Int64
  }

  private let options: Options
  private let pool: PagePool
  private let identity = PrefixIdentity(model: "replay")
  private var running: [Running] = []
  private var outcome = Outcome()

  /// A replay; throws where the budget does not hold a page.
  package init(_ options: Options) throws(CacheError) {
    self.options = options
    pool = try PagePool(
      layout: options.layout, byteBudget: options.byteBudget ?? .max, backing: .accountOnly)
  }

  /// Runs all requests in the order of their arrival.
  package static func run(
    _ workload: Workload, _ options: Options
  ) throws(CacheError) -> Outcome {
    var replay = try CacheReplay(options)
    for (number, request) in workload.requests.enumerated() {
      replay.serve(request, number: number, hashPositions: workload.hashPositions)
    }
    replay.running = []
    replay.outcome.evictedPageCount = replay.pool.evictedPageCount
    replay.outcome.peakHeldBytes = replay.pool.peakAllocatedBytes
    return replay.outcome
  }

  private mutating func serve(_ request: WorkloadRequest, number: Int, hashPositions: Int?) {
    running.removeAll { $0.end <= request.arrivalNanoseconds }
    let pagePositions = options.layout.pagePositions
    let total = request.inputCount + request.outputCount
    outcome.requestCount += 1
    outcome.promptPositions += request.inputCount
    outcome.promptPageCount += options.layout.pageCount(positions: request.inputCount)
    let tokens = request.tokens(number: number, hashPositions: hashPositions)
    let sequence = CacheSequence(pool: pool, maximumPositions: total, identity: identity)
    // The last position is computed in any case: its logits begin the response.
    let hits = sequence.adoptPrefix(of: tokens.dropLast())
    do throws(CacheError) {
      try sequence.reserve(request.inputCount - hits)
      sequence.advance(tokens[hits...])
      // What comes out has no hashes, so nothing can begin with it.
      try sequence.reserve(request.outputCount)
      sequence.advance(request.outputCount)
    } catch {
      outcome.refusedCount += 1
      return
    }
    outcome.hitPageCount += hits / pagePositions
    outcome.hitPositions += hits
    outcome.prefillPositions += request.inputCount - hits
    outcome.peakAllocatedBytes = max(outcome.peakAllocatedBytes, pool.allocatedBytes)
    if sequence.usage != options.layout.predictedUsage(positions: total) {
      outcome.mispredictedCount += 1
    }
    guard options.secondsPerOutput > 0 else { return }
    let seconds = Double(request.outputCount) * options.secondsPerOutput
    let end = request.arrivalNanoseconds + Int64(min(seconds * 1e9, 1e18))
    running.append(Running(sequence: sequence, end: end))
  }
}

extension WorkloadRequest {
  /// Tokens that are equal where the hashes say that the prompts are, and only there; of a request
  /// without hashes, tokens of its own.
  func tokens(number: Int, hashPositions: Int?) -> ArraySlice<Int32> {
    var tokens: [Int32] = Array(repeating: 0, count: inputCount)
    /// Writes a number at a place, as far as the prompt reaches.
    func write(_ value: UInt64, at place: Int) {
      tokens[place] = Int32(truncatingIfNeeded: value)
      if place + 1 < tokens.count { tokens[place + 1] = Int32(truncatingIfNeeded: value >> 32) }
    }
    if let hashPositions, !prefixHashes.isEmpty {
      for (index, hash) in prefixHashes.enumerated() where index * hashPositions < inputCount {
        write(hash, at: index * hashPositions)
      }
    } else {
      // Every page of any size differs, since the first one does.
      write(UInt64(number) | 1 << 62, at: 0)
    }
    return tokens[...]
  }
}
