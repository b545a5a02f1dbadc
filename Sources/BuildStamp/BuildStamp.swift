/// What a build was made of, as `tools/build-stamp` saw it.
package struct BuildStamp: Sendable {
  /// The commit in git's short form; nil where the sources were no clone of this repository.
  package var commit: String?
  /// Whether the sources differed from the commit.
  package var isModified: Bool
  /// The commit's day in UTC, such as `2026-11-21`; nil where the commit is.
  package var date: String?
  /// The number of commits up to it; 0 where nobody can tell, as in a shallow clone.
  package var commitCount: Int
  /// The compiler's version, such as `6.3.1`.
  package var compiler: String

  /// The commit with `-dirty` where the sources differed from it, or `unknown`.
  package var identifier: String {
    commit.map { $0 + (isModified ? "-dirty" : "") } ?? "unknown"
  }

  /// This build's. Not inlined, so that a new commit compiles no caller again.
  @inline(never)
  package static func current() -> BuildStamp {
    let (commit, date) = (stampedCommit(), stampedDate())
    return BuildStamp(
      commit: commit.isEmpty ? nil : commit, isModified: stampedModification(),
      date: date.isEmpty ? nil : date, commitCount: stampedCount(), compiler: stampedCompiler())
  }
}
