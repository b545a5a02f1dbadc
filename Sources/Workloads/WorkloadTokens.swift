import RandomNumbers

extension WorkloadRequest {
  /// A prompt for an engine: seeded tokens below `vocabularyCount`, equal to those of another request
  /// as far as the hashes are; of a request without hashes, tokens of its own.
  func prompt(number: Int, hashPositions: Int?, vocabularyCount: Int) -> [Int32] {
    var tokens: [Int32] = []
    tokens.reserveCapacity(inputCount)
    func append(_ count: Int, seed: UInt64) {
      var generator = SplitMix64(seed: seed)
      for _ in 0..<count { tokens.append(Int32(generator.next() % UInt64(vocabularyCount))) }
    }
    if let hashPositions {
      for hash in prefixHashes where tokens.count < inputCount {
        append(min(hashPositions, inputCount - tokens.count), seed: hash)
      }
    }
    append(inputCount - tokens.count, seed: UInt64(number) &* 0x9E37_79B9_7F4A_7C15 | 1 << 63)
    return tokens
  }
}

extension Workload {
  /// The same requests with prompts, responses and the positions of a hash `divisor` times as short,
  /// for models and machines that are too small for the trace: what prompts share stays the same in
  /// pages that are as much smaller.
  ///
  /// Nil where a hash would not stand for a whole number of positions.
  package func shortened(by divisor: Int) -> Workload? {
    precondition(divisor >= 1, "lengths are divided by at least 1")
    guard (hashPositions ?? 0) % divisor == 0 else { return nil }
    var result = self
    result.hashPositions = hashPositions.map { $0 / divisor }
    for index in requests.indices {
      // Rounded up, so that no hash loses all of its positions.
      result.requests[index].inputCount = (requests[index].inputCount + divisor - 1) / divisor
      result.requests[index].outputCount = (requests[index].outputCount + divisor - 1) / divisor
    }
    return result
  }
}
