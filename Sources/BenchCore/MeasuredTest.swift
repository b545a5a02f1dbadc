/// A measurement of a fixed length: so many prompt tokens, so many generated ones, at a depth.
package struct MeasuredTest: Hashable, Sendable {
  package var promptTokenCount: Int
  package var generatedTokenCount: Int
  /// Positions in the cache before the measurement.
  package var depth: Int

  package init(promptTokenCount: Int, generatedTokenCount: Int, depth: Int = 0) {
    precondition(
      promptTokenCount >= 0 && generatedTokenCount >= 0 && depth >= 0
        && promptTokenCount + generatedTokenCount > 0, "a test measures at least one token")
    self.promptTokenCount = promptTokenCount
    self.generatedTokenCount = generatedTokenCount
    self.depth = depth
  }

  /// llama-bench's name: `pp512`, `tg128`, `pp64+tg32`; the depth is a column of its own.
  package var name: String {
    switch (promptTokenCount, generatedTokenCount) {
    case (let prompt, 0): "pp\(prompt)"
    case (0, let generated): "tg\(generated)"
    case (let prompt, let generated): "pp\(prompt)+tg\(generated)"
    }
  }

  /// What of the request the test's time is.
  package var phase: MeasuredPhase {
    generatedTokenCount == 0 ? .prefill : promptTokenCount == 0 ? .decode : .both
  }

  /// The tests of a run as llama-bench orders them: for each depth the prompts, the generations,
  /// the pairs. A length of 0 leaves its test out.
  package static func all(
    prompts: [Int], generations: [Int], pairs: [(prompt: Int, generated: Int)] = [],
    depths: [Int] = [0]
  ) -> [MeasuredTest] {
    let lengths =
      prompts.filter { $0 > 0 }.map { (prompt: $0, generated: 0) }
      + generations.filter { $0 > 0 }.map { (prompt: 0, generated: $0) } + pairs
    return depths.flatMap { depth in
      lengths.map {
        MeasuredTest(
          promptTokenCount: $0.prompt, generatedTokenCount: $0.generated, depth: depth)
      }
    }
  }
}

/// What part of a request a row's time is, and which tokens its rate counts.
package enum MeasuredPhase: Hashable, Sendable {
  /// Prefill began → ended; the prompt's tokens.
  case prefill
  /// First token → last token, less the choosing of tokens; the tokens after the first. To time N decode steps, generate N + 1
  /// tokens: prefill gives the first.
  case decode
  /// Prefill began → last token, less the choosing of tokens; the prompt's tokens and the generated ones after the first.
  case both
  /// Request submitted → ended; all generated tokens.
  case request
}
