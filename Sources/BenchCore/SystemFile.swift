#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The system's small text files, such as those of `/proc`: a missing or unreadable one is nil,
/// since containers hide some.
struct SystemFiles {
  /// What stands before every path; empty for the system's own files.
  let root: String

  /// The file's text, up to 4 MiB of it; bytes that are not UTF-8 are replaced.
  func text(_ path: String) -> String? {
    let file = unsafe open(root + path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while bytes.count < 4 << 20 {
      // The buffer's own pointer and count, for the duration of the call.
      let count = unsafe buffer.withUnsafeMutableBytes { memory in
        unsafe read(file, memory.baseAddress, memory.count)
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return count == 0 ? String(decoding: bytes, as: UTF8.self) : nil }
      bytes += buffer.prefix(count)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The file's text without the white space around it; nil where that is empty.
  func line(_ path: String) -> String? { text(path).flatMap { SystemText.trimmed($0[...]) } }

  /// The file's text as a number.
  func number(_ path: String) -> Int? { line(path).flatMap { Int($0) } }
}

/// Readers of what stands in those files. None of them traps on any text.
enum SystemText {
  /// The text without the white space around it; nil where nothing is left.
  static func trimmed(_ text: Substring) -> String? {
    var text = text
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return text.isEmpty ? nil : String(text)
  }

  /// The value after `key` and a separator on the first line that begins with the key.
  static func value(of key: String, in text: String, separator: Character = ":") -> String? {
    for line in text.split(whereSeparator: \.isNewline) {
      let parts = line.split(separator: separator, maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2, trimmed(parts[0]) == key { return trimmed(parts[1]) }
    }
    return nil
  }

  /// How many numbers a list such as `0-3,8` names.
  static func listCount(_ list: String) -> Int? {
    var count = 0
    for part in list.split(separator: ",") {
      let ends = part.split(separator: "-", omittingEmptySubsequences: false)
      guard let first = ends.first.flatMap({ Int($0) }), let last = ends.last.flatMap({ Int($0) }),
        ends.count <= 2, first >= 0, last >= first, last < 1 << 20
      else { return nil }
      count += last - first + 1
    }
    return count > 0 ? count : nil
  }

  /// Bytes of a size such as `48K`, `2048K`, `1G`, `123 kB`.
  static func byteCount(_ text: String) -> Int? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard let number = Int(digits) else { return nil }
    let factor: Int? =
      switch trimmed(text.dropFirst(digits.count))?.lowercased() {
      case nil: 1
      case "k", "kb": 1 << 10
      case "m", "mb": 1 << 20
      case "g", "gb": 1 << 30
      default: nil
      }
    guard let factor else { return nil }
    let (bytes, overflow) = number.multipliedReportingOverflow(by: factor)
    return overflow ? nil : bytes
  }

  /// The choice in brackets of a line such as `always [madvise] never`.
  static func chosen(in text: String) -> String? {
    guard let open = text.firstIndex(of: "["), let close = text[open...].firstIndex(of: "]") else {
      return nil
    }
    return trimmed(text[text.index(after: open)..<close])
  }
}
