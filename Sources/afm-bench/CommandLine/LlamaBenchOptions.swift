/// Options of llama-bench that cannot mean anything here, each with the reason.
///
/// Those that can are options of `run` under the same names.
enum LlamaBenchOptions {
  /// The options without their dashes, and why they are refused.
  static let refused: [(names: [String], reason: String)] = [
    (["ngl", "n-gpu-layers", "gpu-layers"], "\(noDevice), so all layers run on it"),
    (["sm", "split-mode", "mg", "main-gpu", "ts", "tensor-split"], noDevice),
    (["dev", "device", "list-devices", "nkvo", "no-kv-offload", "no-host"], noDevice),
    (["nopo", "no-op-offload", "ot", "override-tensor"], noDevice),
    (["ncmoe", "n-cpu-moe", "moe-cache"], noDevice),
    (
      ["fitt", "fit-target", "fitc", "fit-ctx"],
      "\(noDevice), so no device's memory is to be fitted"
    ),
    (["rpc"], "this CPU engine has no remote devices"),
    (["fa", "flash-attn"], "this CPU engine has one kind of attention, which cannot be switched"),
    (["numa"], "this CPU engine has no modes for NUMA: start it under numactl"),
    (["prio"], "this CPU engine has no priorities: start it under nice or chrt"),
    (["C", "cpu-mask", "cpu-strict"], "this CPU engine has no CPU masks: start it under taskset"),
    (["poll"], "threads spin, or sleep with --polite; there is no level between"),
    (
      ["mmp", "lm", "load-mode", "dio", "direct-io", "lzm", "lazy-mode", "mlock", "no-mmap"],
      "files are read to memory, or mapped with the flag --mmap"
    ),
    (
      ["nr", "no-repack", "repack"],
      "weights are laid out for the kernels at loading, or before by `pack --layout kernel`"
    ),
    (["embd", "embeddings"], "this engine generates text only, and has no embeddings"),
    (["n-gen-warmup"], "the warm-up is one repetition; --no-warmup leaves it out"),
    (
      ["hf", "hfr", "hf-repo", "hff", "hf-file", "hft", "hf-token", "offline"],
      "nothing is fetched: download a model first, then pack it"
    ),
  ]

  private static let noDevice = "this CPU engine has no GPU or other device"

  /// Why the first such option of a command line is refused; nil where there is none, or where help
  /// is asked for.
  static func refusal(in arguments: [String]) -> String? {
    let options = arguments.prefix { $0 != "--" }
    guard !options.contains("--help"), !options.contains("-h") else { return nil }
    for argument in options where argument.hasPrefix("-") {
      let name = argument.prefix { $0 != "=" }
      let bare = name.drop { $0 == "-" }
      guard let refused = refused.first(where: { $0.names.contains(String(bare)) }) else {
        continue
      }
      return "\(name): \(refused.reason)"
    }
    return nil
  }
}
