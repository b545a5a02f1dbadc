/// What a metric means; every report carries these lines, so that a number can be read without us.
package struct MetricDefinition: Codable, Hashable, Sendable {
  package var name: String
  package var meaning: String

  /// The metrics of a run, in the order of its tables.
  package static let all: [MetricDefinition] = [
    .init(
      name: "t/s",
      meaning: "mean ± standard deviation over the samples, tokens of the test's phase per second, "
        + "beginning at the context frontier: the positions already in the cache; xN: of N sessions "
        + "that run together"),
    .init(
      name: "TTFT",
      meaning: "request submitted to first token of any kind, tokenizing and prefill included"),
    .init(
      name: "TTFO",
      meaning: "request submitted to first visible token; reasoning comes before it"),
    .init(name: "ITL", meaning: "gap between consecutive tokens: a distribution"),
    .init(
      name: "TPOT",
      meaning: "(end-to-end - TTFT) / (tokens - 1): one number a request"),
    .init(
      name: "prefill, decode",
      meaning: "median tokens per second of the phase @ the context frontier where it begins"),
    .init(
      name: "95 %",
      meaning:
        "of the median decode rate, or of the prefill rate where nothing is decoded: between "
        + "the order statistics that hold the true median with 95 % or more, of independent "
        + "requests of this process; needs \(Statistics.minimumIntervalCount) of them"),
    .init(
      name: "interval",
      meaning: "95 % bootstrap percentile interval of the median, resampled by request; needs "
        + "\(Statistics.minimumIntervalCount) samples"),
    .init(
      name: "times as fast",
      meaning:
        "Hodges-Lehmann: the median of all quotients of two rows' rates, request by request, "
        + "with the 95 % interval of the Mann-Whitney test, which needs 4 requests of each; "
        + "undecided where it includes 1. It is of this process: another load, process or day may "
        + "differ by more"
    ),
    .init(
      name: "percentile",
      meaning: "nearest rank; refused with too few values (P90 needs "
        + "\(PercentileRule.minimumCount(0.9)), P99 \(PercentileRule.minimumCount(0.99)) "
        + "independent ones: MLPerf LoadGen's early-stopping rule at 99 % confidence)"),
    .init(
      name: "context used",
      meaning: "positions in the cache after the request: instructions + tools + history + prompt "
        + "+ reasoning + response, against the limit and whose limit that is"),
    .init(
      name: "KV",
      meaning: "cache bytes, of each session by itself: predicted before the request for all "
        + "tokens it may take, then allocated (whole pages), used (stored positions with scales), "
        + "ideal (positions x bytes a position), wasted (allocated - used); of the tier, shared: what "
        + "pages with several holders, the frontier of -d among them, save"),
    .init(
      name: "MBU",
      meaning: "bytes that must move per token, or per step of several sessions / time / memory "
        + "read bandwidth measured in this run"),
    .init(
      name: "modelled",
      meaning: "the tier runs in this process on the same kernels; network and data centre are not "
        + "in its times"),
    .init(
      name: "verdict",
      meaning: "trusted: nothing speaks against it; noisy: disturbed; invalid: not a measurement"),
  ]
}
