/// What is wrong with bytes that came from outside: the file, the place in it and the reason.
///
/// Its description is the one line that a command prints before it exits with code 3:
/// `model.gguf: tensor blk.0.attn_q.weight: offset 1234: 12 bytes are missing`.
public struct InputError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file as the user named it; nil until a layer that knows it adds it.
  public var file: String?

  /// The tensor, field or section; empty where the whole file is meant.
  public var place: String

  /// Bytes from the beginning of the file, where one place can be named.
  public var offset: Int?

  /// What was found and what was expected, in words.
  public var reason: String

  /// Whether the system lacked something that reading takes (memory, a descriptor), and the file
  /// may be whole.
  public var isLackOfResources = false

  /// An error at a place of a file.
  public init(file: String? = nil, place: String = "", offset: Int? = nil, reason: String) {
    self.file = file
    self.place = place
    self.offset = offset
    self.reason = reason
  }

  /// The same error with its file named, unless one is already.
  public func inFile(_ path: String) -> InputError {
    var error = self
    error.file = error.file ?? path
    return error
  }

  /// One line: control characters of the input are escaped, and what is long loses its middle.
  public var description: String {
    var parts: [String] = []
    if let file { parts.append(MessageText.line(file)) }
    if !place.isEmpty { parts.append(MessageText.line(place)) }
    if let offset { parts.append("offset \(offset)") }
    parts.append(MessageText.line(reason))
    return parts.joined(separator: ": ")
  }
}
