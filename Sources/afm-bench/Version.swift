import BuildStamp
import TraceCore

/// What this build calls itself, to `--version` and in results.
enum Version {
  static let text = "0.1.0"

  private static let stamp = BuildStamp.current()

  /// The commit that was built, with `-dirty` where the sources differed from it, or `unknown`.
  static let commit = stamp.identifier

  /// The number of commits up to it; 0 where nobody can tell.
  static let number = stamp.commitCount

  /// One line such as `afm-bench 0.1.0 (a5998bc, 2026-11-21, Swift 6.3.1, x86_64 Linux)`.
  static let line: String = {
    let facts = [commit, stamp.date, "Swift \(stamp.compiler)", "\(architecture) \(system)"]
    return "afm-bench \(text) (\(facts.compactMap(\.self).joined(separator: ", ")))"
  }()

  /// What a recording says of the program that made it.
  static let metadata: [Recording.Metadata] = [
    .init(key: "tool", value: "afm-bench \(text)"),
    .init(key: "commit", value: commit),
  ]

  private static let architecture: String = {
    #if arch(x86_64)
      "x86_64"
    #elseif arch(arm64)
      "arm64"
    #else
      "unknown architecture"
    #endif
  }()

  private static let system: String = {
    #if os(Linux)
      "Linux"
    #elseif os(macOS)
      "macOS"
    #else
      "unknown system"
    #endif
  }()
}
