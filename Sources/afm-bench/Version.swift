import Foundation

/// What this build calls itself in results.
enum Version {
  static let text = "0.1.0"

  /// The commit it was built from, as far as the caller says: `tools/bench` sets it.
  static let commit = ProcessInfo.processInfo.environment["AFM_BUILD_COMMIT"] ?? "unknown"

  /// The count of commits up to it, from the same source; 0 where nobody says.
  static let number =
    ProcessInfo.processInfo.environment["AFM_BUILD_NUMBER"].flatMap { Int($0) } ?? 0
}
