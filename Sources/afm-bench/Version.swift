/// What this build calls itself in results.
enum Version {
  static let text = "0.1.0"
}
