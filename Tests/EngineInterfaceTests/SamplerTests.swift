import EngineInterface
import Foundation
import TestSupport
import Testing

/// The sampler against a scalar twin that sorts everything.
@Suite struct SamplerTests {
  /// The rule written out over all logits; `state` advances as SplitMix64.
  private struct Twin {
    var options: Sampler.Options
    var state: UInt64

    init(_ options: Sampler.Options) {
      self.options = options
      state = options.seed
    }

    /// The tokens that may be drawn, with their unnormalised probabilities, largest first.
    func kept(_ logits: [Float]) -> [(token: Int, weight: Double)] {
      var order = logits.indices.sorted { a, b in
        logits[a] == logits[b] ? a < b : logits[a] > logits[b]
      }
      if options.topK > 0 { order = Array(order.prefix(options.topK)) }
      let largest = logits[order[0]]
      var kept = order.map { index in
        (token: index, weight: Double(exp((logits[index] - largest) / options.temperature)))
      }
      guard options.topP < 1 else { return kept }
      let total = kept.reduce(0) { $0 + $1.weight }
      var cumulative = 0.0
      let last = kept.firstIndex { entry in
        cumulative += entry.weight
        return cumulative >= Double(options.topP) * total
      }
      if let last { kept.removeSubrange((last + 1)...) }
      return kept
    }

    mutating func sample(_ logits: [Float]) -> Int32 {
      let kept = kept(logits)
      var generator = SeededGenerator(seed: state)
      let bits = generator.next()
      state &+= 0x9E37_79B9_7F4A_7C15
      let unit = Double(bits >> 11) * 0x1p-53
      var rest = unit * kept.reduce(0) { $0 + $1.weight }
      for entry in kept {
        rest -= entry.weight
        if rest < 0 { return Int32(entry.token) }
      }
      return Int32(kept[kept.count - 1].token)
    }
  }

  /// Logits with ties, a heavy tail and a few −∞.
  private static func logits(_ count: Int, seed: UInt64) -> [Float] {
    var generator = SeededGenerator(seed: seed)
    return (0..<count).map { _ in
      switch Int.random(in: 0..<10, using: &generator) {
      case 0: -.infinity
      case 1, 2: Float(Int.random(in: -3...3, using: &generator))
      default: Float.random(in: -9...9, using: &generator)
      }
    }
  }

  static let rules: [Sampler.Options] = [
    .init(temperature: 1, seed: 1),
    .init(temperature: 0.3, seed: 2),
    .init(temperature: 2.5, topK: 1, seed: 3),
    .init(temperature: 1, topK: 7, seed: 4),
    .init(temperature: 1.7, topK: 50, topP: 0.8, seed: 5),
    .init(temperature: 0.9, topP: 0.95, seed: 6),
    .init(temperature: 3, topP: 0.5, seed: 7),
    .init(temperature: 1, topP: 1e-6, seed: 8),
    .init(temperature: 1, topK: 333, seed: 9),
    .init(temperature: 1, topK: 100_000, seed: 10),
    .init(temperature: 5, topK: 332, topP: 0.999, seed: UInt64.max),
  ]

  @Test(arguments: rules) func drawsWhatTheTwinDraws(_ options: Sampler.Options) throws {
    var sampler = Sampler(options)
    var twin = Twin(options)
    for step in 0..<200 {
      let logits = Self.logits(333, seed: UInt64(step))
      let drawn = sampler.choose(logits)
      let token = try #require(drawn)
      let expected = twin.sample(logits)
      try #require(token == expected, "step \(step) of \(options)")
      try #require(logits[Int(token)].isFinite)
    }
  }

  /// Over many seeds exactly the kept tokens come, every one that is not rare at its rate.
  @Test(arguments: rules) func drawsAllOfTheKeptSetAndNothingElse(
    _ options: Sampler.Options
  ) throws {
    let logits = Self.logits(333, seed: 77)
    let kept = Twin(options).kept(logits)
    let total = kept.reduce(0) { $0 + $1.weight }
    var counts: [Int32: Int] = [:]
    let draws = 4_000
    for seed in 0..<draws {
      var rule = options
      rule.seed = UInt64(seed) &* 0x2545_F491_4F6C_DD1D
      var sampler = Sampler(rule)
      let drawn = sampler.choose(logits)
      counts[try #require(drawn), default: 0] += 1
    }
    let allowed = Set(kept.map { Int32($0.token) })
    #expect(allowed.isSuperset(of: counts.keys))
    for entry in kept where entry.weight / total > 0.01 {
      let expected = entry.weight / total
      // Six standard deviations of a binomial count: seeds are fixed, so this never flickers.
      let tolerance = 6 * (expected * (1 - expected) / Double(draws)).squareRoot()
      let found = Double(counts[Int32(entry.token), default: 0]) / Double(draws)
      #expect(abs(found - expected) <= tolerance, "token \(entry.token)")
    }
  }

  @Test func greedyTakesTheLowestOfEquals() {
    var sampler = Sampler(.greedy)
    let token1 = sampler.choose([1, 3, 2, 3, 3])
    #expect(token1 == 1)
    let token2 = sampler.choose([-0.0, 0.0])
    #expect(token2 == 0)
    let token3 = sampler.choose([-.infinity, -5, -5])
    #expect(token3 == 1)
    let token4 = sampler.choose([7])
    #expect(token4 == 0)
    var one = Sampler(.init(temperature: 1, topK: 1, seed: 5))
    let token5 = one.choose([1, 3, 2, 3, 3])
    #expect(token5 == 1)
    var tiny = Sampler(.init(temperature: 1, topP: .leastNormalMagnitude, seed: 5))
    let token6 = tiny.choose([1, 3, 2, 3, 3])
    #expect(token6 == 1)
  }

  static let unusable: [[Float]] = [
    [], [.nan], [1, .nan, 2], [.nan, 5], [-.infinity, -.infinity], [.infinity, 1],
    [1, 2, -.nan],
  ]

  @Test(arguments: unusable) func logitsWithoutAFiniteLargestGiveNothing(_ logits: [Float]) {
    for options in [Sampler.Options.greedy, .init(temperature: 1), .init(temperature: 1, topK: 2)] {
      var sampler = Sampler(options)
      let token7 = sampler.choose(logits)
      #expect(token7 == nil)
    }
    let largest = Sampler.largest(logits.span)
    #expect(largest == nil)
  }

  @Test func theSameSeedGivesTheSameTokens() {
    func tokens(_ seed: UInt64) -> [Int32?] {
      var sampler = Sampler(.init(temperature: 1.5, topK: 40, topP: 0.9, seed: seed))
      return (0..<100).map { sampler.choose(Self.logits(100, seed: UInt64($0))) }
    }
    #expect(tokens(11) == tokens(11))
    #expect(tokens(11) != tokens(12))
  }

  /// A temperature whose reciprocal is no number is still almost greedy.
  @Test(arguments: [Float.leastNonzeroMagnitude, Float.leastNormalMagnitude / 100, 1e-37, 1e-20])
  func theSmallestTemperaturesAreGreedy(_ temperature: Float) {
    for (topK, topP) in [(0, Float(1)), (3, 1), (0, 0.9), (2, 0.5)] {
      var sampler = Sampler(
        .init(temperature: temperature, topK: topK, topP: topP, seed: 3))
      for _ in 0..<20 {
        let token = sampler.choose([1, 4, 2, 3.5])
        #expect(token == 1)
      }
    }
  }
}

extension Sampler {
  /// `sample` on an array, for use inside the test macros.
  fileprivate mutating func choose(_ logits: [Float]) -> Int32? { sample(logits.span) }
}
