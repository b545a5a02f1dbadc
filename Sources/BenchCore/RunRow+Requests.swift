import EngineInterface
import Tiers

extension RunRow {
  /// A row about a loaded model; what was run and measured is still to be set.
  package init(facts: EngineFacts, modelFilename: String) {
    self.init()
    self.modelFilename = modelFilename
    modelType = facts.modelType
    modelByteCount = facts.weightByteCount
    fileByteCount = facts.fileByteCount
    modelParameterCount = facts.parameterCount
    weightByteCount = facts.weightByteCount
    instructionSet = facts.instructionSet
    kernels = facts.kernelNames
    threadCount = facts.threadCount
  }

  /// Says where the row's requests are served.
  package mutating func setTier(
    _ tier: Tier, context: EffectiveContext, reasoning level: ReasoningLevel,
    reasoningBudget budget: Int
  ) {
    self.tier = tier.rawValue
    tierIsModelled = tier.isModelled
    contextLimit = context.limit
    contextLimitSource = context.source.rawValue
    reasoning = level.rawValue
    reasoningBudget = budget
  }

  /// Takes in the measured requests, a sample each, and computes every estimate of the row from
  /// them. `seed` begins the bootstrap's random numbers.
  package mutating func record(
    _ requests: [ServedRequest], phase: MeasuredPhase, seed: UInt64 = 1
  ) {
    recordPhase(requests, phase: phase)
    recordRates(requests)
    recordLatencies(requests, seed: seed)
    recordGaps(requests, seed: seed)
    guard let last = requests.last else { return }
    reasoningTokenCount = last.reasoningTokens.count
    outputTokenCount = last.reasoningTokens.count + last.responseTokens.count
    finish = last.finish.rawValue
    promptHash = requests.first.map { PromptHash.text(of: $0.promptTokens) }
    contextUsed = ContextUse(last.context)
    cacheBytesAllocated = last.cache.allocated
    cacheBytesUsed = last.cache.used
    cacheBytesIdeal = last.cache.ideal
    cacheBytesShared = last.sharedCacheBytes
    cacheBytesWasted = last.cache.allocated - last.cache.used
    cacheBytesPredicted = last.predictedCacheBytes
  }

  /// The MBU of decoding: weights and the cache's mean content, read once a step, over the roof.
  /// Call after `record`; stays nil where there is no decode rate.
  package mutating func recordBandwidth(
    decodeWeightByteCount: Int, memoryReadBytesPerSecond roof: Double
  ) {
    memoryReadBytesPerSecond = roof
    guard let rate = decodeTokensPerSecond, let frontier = decodeContextFrontier, roof > 0 else {
      return
    }
    let positions = contextUsed.total
    // Of all sessions together, which read the weights once a step.
    let bytesPerPosition = positions > 0 ? Double(cacheBytesUsed) / Double(positions) : 0
    let meanPositions = (Double(frontier) + Double(max(positions, frontier))) / 2
    let bytes = Double(decodeWeightByteCount) + bytesPerPosition * meanPositions
    memoryBandwidthUtilisation = bytes * rate / Double(sessionCount) / roof
  }

  /// Takes over a verdict with its reasons.
  package mutating func setVerdict(_ verdict: Verdict) {
    self.verdict = verdict.level
    verdictReasons = verdict.findings.map(\.reason)
    verdictWords = verdict.findings.map(\.words)
  }

  private mutating func recordPhase(_ requests: [ServedRequest], phase: MeasuredPhase) {
    let measured = requests.compactMap { $0.measured(phase) }
    sampleNanoseconds = measured.map(\.nanoseconds)
    sampleTokensPerSecond = measured.map(\.tokensPerSecond)
    let times = sampleNanoseconds.map { Double($0) }
    averageNanoseconds = Statistics.mean(times).map { UInt64($0.rounded()) }
    deviationNanoseconds = Statistics.standardDeviation(times).map { UInt64($0.rounded()) }
    averageTokensPerSecond = Statistics.mean(sampleTokensPerSecond)
    deviationTokensPerSecond = Statistics.standardDeviation(sampleTokensPerSecond)
  }

  private mutating func recordRates(_ requests: [ServedRequest]) {
    let prefill = requests.compactMap(\.prefillTokensPerSecond)
    prefillRateSamples = prefill
    prefillRateInterval = Statistics.medianOrderInterval(prefill)
    prefillTokensPerSecond = Statistics.median(prefill)
    prefillContextFrontier = prefill.isEmpty ? nil : requests.last?.cachedPositionCount
    let decode = requests.compactMap(\.decodeTokensPerSecond)
    decodeRateSamples = decode
    decodeRateInterval = Statistics.medianOrderInterval(decode)
    decodeTokensPerSecond = Statistics.median(decode)
    decodeContextFrontier =
      decode.isEmpty ? nil : requests.last.map { $0.cachedPositionCount + $0.promptTokenCount }
  }

  private mutating func recordLatencies(_ requests: [ServedRequest], seed: UInt64) {
    ttftSamples = requests.compactMap(\.ttftNanoseconds)
    ttfoSamples = requests.compactMap(\.ttfoNanoseconds)
    tpotSamples = requests.compactMap(\.tpotNanoseconds)
    let ttft = ttftSamples.map { Double($0) }
    let ttfo = ttfoSamples.map { Double($0) }
    ttftNanoseconds = Statistics.median(ttft)
    ttftInterval = Statistics.medianInterval(ttft, seed: seed)
    ttfoNanoseconds = Statistics.median(ttfo)
    ttfoInterval = Statistics.medianInterval(ttfo, seed: seed)
    tpotNanoseconds = Statistics.median(tpotSamples)
    tpotInterval = Statistics.medianInterval(tpotSamples, seed: seed)
    if !requests.isEmpty && requests.count < Statistics.minimumIntervalCount {
      intervalRefusal =
        "a 95 % interval needs \(Statistics.minimumIntervalCount) samples, has \(requests.count)"
    }
  }

  private mutating func recordGaps(_ requests: [ServedRequest], seed: UInt64) {
    itlSamples = requests.flatMap(\.itlNanoseconds)
    guard !itlSamples.isEmpty else { return }
    let gaps = requests.map { $0.itlNanoseconds.map { Double($0) } }
    itlP50Nanoseconds = Statistics.median(itlSamples.map { Double($0) })
    itlP50Interval = Statistics.medianInterval(ofClusters: gaps, seed: seed)
    let p90 = Statistics.percentile(0.90, ofClusters: gaps)
    let p99 = Statistics.percentile(0.99, ofClusters: gaps)
    itlP90Nanoseconds = p90.value
    itlP99Nanoseconds = p99.value
    let refusals = [("P90", p90), ("P99", p99)].compactMap { name, estimate in
      estimate.refusal.map { "\(name): \($0)" }
    }
    itlRefusal = refusals.isEmpty ? nil : refusals.joined(separator: "; ")
  }
}

extension ServedRequest {
  /// The time and rate of a phase; nil where it has no token or took no time. As in llama-bench
  /// the fixed-length phases count the model's work alone: choosing tokens is no part of them.
  package func measured(
    _ phase: MeasuredPhase
  ) -> (nanoseconds: UInt64, tokensPerSecond: Double)? {
    let generated = tokenTimes.count
    let first = tokenTimes.first ?? prefillEnded
    let last = tokenTimes.last ?? prefillEnded
    let (begin, end, apart, tokens): (UInt64, UInt64, UInt64, Int) =
      switch phase {
      case .prefill: (prefillBegan, prefillEnded, 0, promptTokenCount * sessionCount)
      case .decode:
        (
          first, last, samplingNanoseconds - firstSamplingNanoseconds,
          (generated - 1) * sessionCount
        )
      case .both:
        (
          prefillBegan, last, samplingNanoseconds,
          (promptTokenCount + max(generated - 1, 0)) * sessionCount
        )
      case .request: (submitted, ended, 0, generated * sessionCount)
      }
    guard tokens > 0, end > begin, end - begin > apart else { return nil }
    let nanoseconds = end - begin - apart
    return (nanoseconds, Double(tokens) * 1e9 / Double(nanoseconds))
  }
}

extension ContextUse {
  package init(_ account: ContextAccount) {
    instructions = account.instructions
    tools = account.tools
    history = account.history
    prompt = account.prompt
    reasoning = account.reasoning
    response = account.response
  }
}
