import Glibc

/// What a folder of ours holds, in a file of its own: a line for each other file, the XXH64 of its
/// bytes and its name, as xxHash's `xxhsum` writes and checks them:
///
///     2fd8b0c1a3e4f567  results.json
///
/// A folder with such a file, in which nothing was added or changed, is an output and may be
/// replaced.
package struct FolderManifest: Hashable, Sendable {
  /// The name of the file.
  package static let name = "afm-bench.xxh64"
  private static let byteCountLimit = 1 << 20

  /// The names of the other files.
  package var names: [String] { digests.keys.sorted() }
  private var digests: [String: String] = [:]

  /// Reads the files of a folder.
  package init(of names: [String], in folder: String) throws(FileError) {
    for name in names { digests[name] = try Self.digest(of: "\(folder)/\(name)") }
  }

  /// The file's text.
  package var text: String { names.map { "\(digests[$0] ?? "")  \($0)\n" }.joined() }

  /// The manifest of a folder that is wholly ours: nil where there is none, and where a file was
  /// added, changed or taken away since. Does not look at the entry called `ignored`.
  package init?(ofUntouched folder: String, besides ignored: String? = nil) {
    let path = "\(folder)/\(Self.name)"
    guard let names = try? FolderEntries.names(in: folder), Self.isRegular(path),
      let bytes = try? Self.bytes(of: path), let text = String(validating: bytes, as: UTF8.self)
    else { return nil }
    var listed: [String] = []
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: " ", maxSplits: 1)
      guard parts.count == 2 else { return nil }
      listed.append(String(parts[1].drop { $0 == " " }))
    }
    // The names come from outside: they are held against those in the folder before any is opened.
    let expected = (listed + [Self.name]).sorted()
    guard expected == names.filter({ $0 != ignored }).sorted(),
      listed.allSatisfy({ Self.isRegular("\(folder)/\($0)") }),
      let manifest = try? FolderManifest(of: listed, in: folder), manifest.text == text
    else { return nil }
    self = manifest
  }

  /// Whether a name leads to a regular file without a link.
  private static func isRegular(_ path: String) -> Bool {
    var status = stat()
    // Only reads the path and fills `status`.
    return unsafe lstat(path, &status) == 0 && status.isRegular
  }

  private static func bytes(of path: String) throws(FileError) -> [UInt8] {
    let file = try InputFile(opening: path)
    var bytes = [UInt8](repeating: 0, count: min(file.byteCount, byteCountLimit))
    var span = bytes.mutableSpan
    // Any bytes are valid elements.
    var raw = unsafe span.mutableBytes
    try file.read(at: 0, into: &raw)
    return bytes
  }

  private static func digest(of path: String) throws(FileError) -> String {
    let file = try InputFile(opening: path)
    var hash = XXH64()
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    var offset = 0
    while offset < file.byteCount {
      let count = min(buffer.count, file.byteCount - offset)
      var span = buffer.mutableSpan
      // Any bytes are valid elements, and bytes have no padding.
      var raw = unsafe span.mutableBytes
      try file.read(at: offset, into: &raw, byteCount: count)
      unsafe hash.update(buffer.span.bytes.extracting(0..<count))
      offset += count
    }
    let digits = String(hash.value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
