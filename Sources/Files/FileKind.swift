/// What kind of file a path names, judged by its first bytes, for errors that say what was found
/// where something else was expected: `run.json: this is JSON: …`.
package enum FileKind: Hashable, Sendable {
  /// A packed model of this program.
  case container
  /// A recording of this program.
  case recording
  /// A recording as Perfetto reads it.
  case perfettoTrace
  case gguf
  /// A model file of llama.cpp from before GGUF.
  case ggml
  case safetensors
  case astcImage
  /// A checkpoint of PyTorch: a pickle, alone or in a zip archive.
  case pickle
  case numPy
  case zip
  case gzip
  case zstd
  case sqlite
  case executable
  /// What stands in a repository in place of a large file.
  case lfsPointer
  case html
  case json
  /// UTF-8 without control characters.
  case text
  case empty
  /// A folder with a Hugging Face model, or a part of one.
  case modelFolder
  /// Any other folder, and how many packed models it holds.
  case folder(containers: Int)
  case unknown

  /// The kind of the file or folder at a path; nil where nothing can be read, so that whoever
  /// opens it next says why.
  package init?(of path: String) {
    do {
      let file = try InputFile(opening: path)
      var bytes = [UInt8](repeating: 0, count: min(Self.headByteCount, file.byteCount))
      var span = bytes.mutableSpan
      // Any bytes are valid elements.
      var raw = unsafe span.mutableBytes
      try file.read(at: 0, into: &raw)
      self.init(head: bytes, byteCount: file.byteCount)
    } catch {
      guard error.reason == .isDirectory else { return nil }
      self.init(folder: path)
    }
  }

  /// Bytes that are looked at.
  package static let headByteCount = 4096

  /// The kind of a file of `byteCount` bytes that begins with `head`.
  package init(head: [UInt8], byteCount: Int) {
    if head.isEmpty {
      self = .empty
    } else if let kind = Self.magics.first(where: { magic in
      head.dropFirst(magic.offset).starts(with: magic.bytes)
    })?.kind {
      self = kind == .zip && Self.holdsPickle(head) ? .pickle : kind
    } else if Self.isSafetensors(head) {
      self = .safetensors
    } else if Self.isPickle(head) {
      self = .pickle
    } else if let kind = Self.textKind(head, isWhole: head.count == byteCount) {
      self = kind
    } else {
      self = Self.isPerfettoTrace(head) ? .perfettoTrace : .unknown
    }
  }

  private static let magics: [(bytes: [UInt8], offset: Int, kind: FileKind)] = [
    (Array("AFMW".utf8), 8, .container),
    (Array("AFMTRACE".utf8), 0, .recording),
    (Array("GGUF".utf8), 0, .gguf), (Array("FUGG".utf8), 0, .gguf),
    (Array("lmgg".utf8), 0, .ggml), (Array("tjgg".utf8), 0, .ggml),
    (Array("fmgg".utf8), 0, .ggml),
    ([0x13, 0xAB, 0xA1, 0x5C], 0, .astcImage),
    (Array("PK\u{3}\u{4}".utf8), 0, .zip),
    ([0x93] + Array("NUMPY".utf8), 0, .numPy),
    ([0x1F, 0x8B], 0, .gzip), ([0x28, 0xB5, 0x2F, 0xFD], 0, .zstd),
    (Array("SQLite format 3\0".utf8), 0, .sqlite),
    ([0x7F] + Array("ELF".utf8), 0, .executable),
    (Array("version https://git-lfs".utf8), 0, .lfsPointer),
  ]

  /// Eight bytes of length, less than 4 GiB, then the brace of the header.
  private static func isSafetensors(_ head: [UInt8]) -> Bool {
    head.count > 8 && head[8] == UInt8(ascii: "{") && head[4..<8].allSatisfy { $0 == 0 }
  }

  /// A protocol of 2 to 5, and no text: pickles of PyTorch begin so.
  private static func isPickle(_ head: [UInt8]) -> Bool {
    head.count > 2 && head[0] == 0x80 && 2...5 ~= head[1]
  }

  private static func holdsPickle(_ head: [UInt8]) -> Bool {
    let name = Array("data.pkl".utf8)
    return head.indices.contains { head[$0...].starts(with: name) }
  }

  /// Packets (field 1, of bytes) one after the other, as far as the head shows.
  private static func isPerfettoTrace(_ head: [UInt8]) -> Bool {
    var place = 0
    for packet in 0..<3 {
      guard place < head.count else { return packet > 0 }
      guard head[place] == 0x0A else { return false }
      place += 1
      var length = 0
      var shift = 0
      while place < head.count, shift < 35 {
        length |= Int(head[place] & 0x7F) << shift
        shift += 7
        place += 1
        if head[place - 1] & 0x80 == 0 { break }
      }
      // A packet has the tag of one of its fields first.
      guard length > 0, place < head.count, head[place] & 7 <= 5 else { return false }
      place += length
    }
    return true
  }

  /// The kind of a text; nil for other bytes.
  private static func textKind(_ head: [UInt8], isWhole: Bool) -> FileKind? {
    let isText = head.allSatisfy { $0 >= 32 && $0 != 127 || 9...13 ~= $0 }
    guard isText, head[...].isUTF8(allowingCutEnd: !isWhole) else { return nil }
    let text = String(decoding: head.drop { $0 <= 32 }.prefix(64), as: UTF8.self)
    if text.hasPrefix("{") || text.hasPrefix("[") { return .json }
    let lowercase = text.lowercased()
    return lowercase.hasPrefix("<!doctype html") || lowercase.hasPrefix("<html") ? .html : .text
  }

  private init?(folder: String) {
    guard let names = try? FolderEntries.names(in: folder) else { return nil }
    let parts: Set = ["config.json", "model.safetensors", "model.safetensors.index.json"]
    self =
      names.contains(where: parts.contains)
      ? .modelFolder : .folder(containers: names.count { $0.hasSuffix(".afmw") })
  }

  /// The kind in words, to follow `this is`.
  package var description: String {
    switch self {
    case .container: "a packed model (.afmw)"
    case .recording: "a recording (.afmtrace)"
    case .perfettoTrace: "an export for Perfetto"
    case .gguf: "GGUF"
    case .ggml: "a model of llama.cpp from before GGUF"
    case .safetensors: "safetensors"
    case .astcImage: "an ASTC image"
    case .pickle: "a PyTorch checkpoint (pickle)"
    case .numPy: "a NumPy array"
    case .zip: "a zip archive"
    case .gzip: "compressed with gzip"
    case .zstd: "compressed with zstd"
    case .sqlite: "an SQLite database"
    case .executable: "a program"
    case .lfsPointer: "a pointer of Git LFS, not the file itself"
    case .html: "an HTML page"
    case .json: "JSON"
    case .text: "text"
    case .empty: "empty"
    case .modelFolder: "the folder of a Hugging Face model"
    case .folder: "a folder"
    case .unknown: "of no kind that is known here"
    }
  }

  /// Whether the file is a model that `pack` imports.
  package var isImportable: Bool {
    self == .gguf || self == .safetensors || self == .modelFolder
  }
}

extension ArraySlice<UInt8> {
  /// Whether the bytes are UTF-8, of which the last character may be cut.
  fileprivate func isUTF8(allowingCutEnd: Bool) -> Bool {
    for cut in 0...(allowingCutEnd ? 3 : 0) where cut <= count {
      if String(validating: dropLast(cut), as: UTF8.self) != nil { return true }
    }
    return false
  }
}
