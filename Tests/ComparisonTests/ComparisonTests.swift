import BenchCore
import Comparison
import TensorCore
import TestSupport
import Testing

@Suite struct ComparisonTests {
  /// Values around 100 with 0.5 % noise.
  static func samples(_ count: Int, times factor: Double, seed: UInt64) -> [Double] {
    var generator = SeededGenerator(seed: seed)
    return (0..<count).map { _ in
      (0..<4).reduce(100 * factor) { sum, _ in
        sum + Double.random(in: -0.45...0.45, using: &generator)
      }
    }
  }

  static func side(
    _ path: String, _ rows: [(test: String, thread: String, samples: [Double])]
  ) -> Measurements {
    Measurements(
      path: path,
      rows: rows.map { row in
        MeasuredRow(
          test: row.test, fields: ["test": row.test, "threads": row.thread],
          metrics: [.init(name: "time", unit: "ns", samples: row.samples)])
      }, workloadFields: ["test"], subjectFields: ["threads"])
  }

  private func outcome(_ factor: Double, count: Int, seed: UInt64, effect: Double) -> Outcome {
    let comparison = Comparison(
      Self.side("a", [("x", "1", Self.samples(count, times: 1, seed: seed))]),
      Self.side("b", [("x", "1", Self.samples(count, times: factor, seed: seed + 1))]),
      rule: DecisionRule(smallestEffect: effect))
    return comparison.rows[0].outcome
  }

  /// With values that spread by 0.5 %, ten a side: what is the same is called different in at most 5
  /// of 100, 3 % is found in all, and 1 % is never called equal where 2 % matters.
  @Test func outcomesHoldWhatTheyPromise() {
    var counts: [Double: [Outcome: Int]] = [:]
    for factor in [1, 1.03, 1.01, 0.97] {
      for seed in 0..<100 {
        counts[factor, default: [:]][
          outcome(factor, count: 10, seed: UInt64(seed) * 2, effect: 0.02), default: 0] += 1
      }
    }
    #expect(counts[1, default: [:]][.slower, default: 0] <= 5)
    #expect(counts[1, default: [:]][.faster, default: 0] <= 5)
    #expect(counts[1, default: [:]][.equal, default: 0] >= 60, "\(counts)")
    #expect(counts[1.03] == [.slower: 100])
    #expect(counts[0.97] == [.faster: 100])
    #expect(counts[1.01, default: [:]][.equal] == nil, "\(counts)")
  }

  /// One test in twenty would be "found" by chance: the correction holds the whole table to 5 %.
  @Test func manyRowsAreCorrectedTogether() {
    var tablesWithAFinding = 0
    for table in 0..<100 {
      func rows(_ offset: Int) -> [(test: String, thread: String, samples: [Double])] {
        (0..<20).map { row in
          let seed = UInt64(1_000_000 * offset + 1_000 * table + row)
          return ("test \(row)", "1", Self.samples(8, times: 1, seed: seed))
        }
      }
      let comparison = Comparison(
        Self.side("a", rows(1)), Self.side("b", rows(2)), rule: DecisionRule(smallestEffect: 0.02))
      if comparison.count(.faster) + comparison.count(.slower) > 0 { tablesWithAFinding += 1 }
    }
    #expect(tablesWithAFinding <= 10)
  }

  @Test func whatDiffersAsAWholeIsWhatIsCompared() {
    let values = Self.samples(6, times: 1, seed: 1)
    let comparison = Comparison(
      Self.side("a", [("x", "1", values), ("only a", "1", values)]),
      Self.side("b", [("x", "2", values), ("only b", "2", values)]),
      rule: DecisionRule(smallestEffect: 0.02))
    #expect(comparison.differences.map(\.field) == ["threads"])
    #expect(comparison.rows.map(\.test) == ["x", "only a", "only b"])
    #expect(comparison.rows.map(\.reason) == [nil, "only A has it", "only B has it"])
  }

  @Test func aSubjectOfSeveralValuesJoinsRows() {
    let values = Self.samples(6, times: 1, seed: 1)
    let rows = [("x", "1", values), ("x", "2", values)]
    let comparison = Comparison(
      Self.side("a", rows), Self.side("b", rows), rule: DecisionRule(smallestEffect: 0.02))
    #expect(comparison.differences.isEmpty)
    #expect(comparison.rows.map(\.outcome).allSatisfy { $0 != .notComparable })
    #expect(comparison.rows.count == 2)
  }

  @Test func tooFewOrUnusableValuesDecideNothing() {
    func outcome(_ a: [Double], _ b: [Double]) -> Comparison.Row {
      Comparison(
        Self.side("a", [("x", "1", a)]), Self.side("b", [("x", "1", b)]),
        rule: DecisionRule(smallestEffect: 0.02)
      ).rows[0]
    }
    let few = outcome([1], [2])
    #expect(few.outcome == .undecided && few.ratio == 2 && few.low == nil && few.reason != nil)
    #expect(outcome([], [2]).outcome == .notComparable)
    #expect(outcome([1, 0], [2, 3]).outcome == .notComparable)
  }
}

@Suite struct ResultFileTests {
  private func read(_ text: String) throws -> Measurements {
    try ResultFile.measurements(in: Array(text.utf8), path: "r.json")
  }

  @Test func readsLlamaBench() throws {
    let row =
      #"{"cpu_info":"X","model_filename":"m","n_threads":2,"n_prompt":512,"n_gen":0,"n_depth":256,"#
      + #""samples_ns":[5,6,7]}"#
    for text in ["[\(row)]", row, row + "\n" + row.replacing("512", with: "0")] {
      let side = try read(text)
      #expect(side.rows[0].test == "pp512 @ d256")
      #expect(side.rows[0].metrics.map(\.samples) == [[5, 6, 7]])
      #expect(side.rows[0].fields["n_threads"] == "2")
    }
  }

  @Test func readsHyperfine() throws {
    let side = try read(
      #"{"results":[{"command":"sleep","times":[0.1,0.2],"parameters":{"n":"1"}},"#
        + #"{"command":"false","times":[0.1],"exit_codes":[1]}]}"#)
    #expect(side.rows.map(\.test) == ["sleep", "false"])
    #expect(side.rows[0].fields == ["command": "sleep", "n": "1"])
    #expect(side.rows.map(\.refusal) == [nil, "a run ended with exit code 1"])
    #expect(side.workloadFields == ["n"] && side.subjectFields == ["command"])
  }

  @Test(arguments: [
    ("", "r.json: it holds no rows"), ("[]", "r.json: it holds no rows"),
    ("nonsense", "r.json: not JSON"), ("{}\n{", "r.json: line 2: not JSON"),
    ("3", "r.json: neither rows of results nor hyperfine's object with \"results\""),
    ("[1]", "r.json: row 0: not an object"),
    (#"[{"n_gen":1}]"#, "r.json: row 0: samples_ns: missing"),
    (#"[{"samples_ns":[1,"2"]}]"#, "r.json: row 0: samples_ns: not an array of numbers"),
    (#"[{"samples_ns":5}]"#, "r.json: row 0: samples_ns: not an array"),
    (#"[{"samples_ns":[1],"n_gen":[]}]"#, "r.json: row 0: n_gen: neither text nor a number"),
    (#"{"results":[{"times":[1]}]}"#, "r.json: row 0: command: missing"),
    (#"{"results":[]}"#, "r.json: it holds no results"),
  ])
  func whatIsWrongIsNamed(_ text: String, _ message: String) {
    #expect {
      try read(text)
    } throws: { error in
      (error as? InputError)?.description.hasPrefix(message) ?? false
    }
  }
}
