import ArgumentParser

/// The KV cache by itself.
struct CacheCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache",
    abstract:
      "The KV cache by itself: request traces against it, and traces like the published ones.",
    discussion: """
      Example: afm-bench cache replay requests.jsonl --budget 64GiB,unlimited
      """,
    subcommands: [Replay.self, Generate.self])
}
