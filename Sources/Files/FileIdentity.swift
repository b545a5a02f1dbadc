import Glibc

/// The file that a path leads to, whatever the path looks like.
///
/// Symbolic links, hard links, `..`, `/proc/self/fd/N` and `/dev/stdin` are followed: two identities
/// are the same where writing one file would change or replace the other. Files that do not exist
/// yet are compared by the place where they would appear. Nothing is opened.
package struct FileIdentity: Sendable {
  /// What the system calls an existing file.
  private struct Node: Hashable, Sendable {
    var device: UInt64
    var number: UInt64

    init(_ status: stat) {
      device = UInt64(status.st_dev)
      number = UInt64(status.st_ino)
    }
  }

  /// Nil where there is no file yet.
  private let node: Node?
  /// The path without links and dots, as bytes, since names that look alike may differ; nil for a
  /// descriptor.
  private let place: [UInt8]?

  /// The file at a path.
  package init(path: String) {
    var status = stat()
    // Only reads the path and fills `status`.
    node = unsafe stat(path, &status) == 0 ? Node(status) : nil
    place = Self.canonical(path)
  }

  /// The regular file that a descriptor of this process leads to; nil for terminals, pipes and
  /// devices, which keep nothing that could be lost.
  package init?(descriptor: Int32) {
    var status = stat()
    // `status` outlives the call.
    guard unsafe fstat(descriptor, &status) == 0, status.isRegular else { return nil }
    node = Node(status)
    place = nil
  }

  /// Whether both are one file.
  package func isSame(as other: FileIdentity) -> Bool {
    if let node, let otherNode = other.node, node == otherNode { return true }
    guard let place, let otherPlace = other.place else { return false }
    return place == otherPlace
  }

  /// Whether the file lies in a folder, at any depth.
  package func isInside(_ folder: FileIdentity) -> Bool {
    guard let place, let outer = folder.place, place.count > outer.count else { return false }
    let slash = UInt8(ascii: "/")
    return place.starts(with: outer) && (outer.last == slash || place[outer.count] == slash)
  }

  /// The path with the links of its existing beginning resolved; nil for an empty path.
  private static func canonical(_ path: String) -> [UInt8]? {
    // Bytes: a slash before a combining character is no slash among a string's characters.
    let slash = UInt8(ascii: "/")
    let bytes = Array(path.utf8)
    guard let first = bytes.first else { return nil }
    let names = bytes.split(separator: slash)
    for count in stride(from: names.count, through: 0, by: -1) {
      let start = first == slash ? [slash] : Array(".".utf8) + [slash]
      let beginning = start + names[..<count].joined(separator: [slash])
      guard let resolved = resolved(String(decoding: beginning, as: UTF8.self)) else { continue }
      // Missing folders have no links: `..` takes back the name before it.
      var parts = Array(resolved.utf8).split(separator: slash)
      for name in names[count...] where name != [UInt8(ascii: ".")] {
        if name.elementsEqual("..".utf8) { _ = parts.popLast() } else { parts.append(name) }
      }
      return [slash] + parts.joined(separator: [slash])
    }
    return nil
  }

  private static func resolved(_ path: String) -> String? {
    guard let resolved = unsafe realpath(path, nil) else { return nil }
    // realpath allocated it with malloc for us alone.
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }
}
