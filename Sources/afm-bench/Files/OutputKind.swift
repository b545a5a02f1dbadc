import Files

/// What an output holds: the endings that its name may have, and what may be in its place.
enum OutputKind: CaseIterable {
  case packedModel
  case safetensors
  case floats
  case astcImage
  case recording
  case perfettoTrace
  case jsonLines
  case commaSeparatedValues
  case cacheSnapshot
  case folder

  /// As messages call it.
  var name: String {
    switch self {
    case .packedModel: "a packed model"
    case .safetensors: "safetensors"
    case .floats: "float32 numbers"
    case .astcImage: "an ASTC image"
    case .recording: "a recording"
    case .perfettoTrace: "a Perfetto trace"
    case .jsonLines: "lines of JSON"
    case .commaSeparatedValues: "comma-separated values"
    case .cacheSnapshot: "a cache's keys and values"
    case .folder: "a folder"
    }
  }

  /// The endings that stand for it, the usual one first.
  var endings: [String] {
    switch self {
    case .packedModel: ["afmw"]
    case .safetensors: ["safetensors"]
    case .floats: ["f32"]
    case .astcImage: ["astc"]
    case .recording: ["afmtrace"] + Self.perfettoTrace.endings
    case .perfettoTrace: ["perfetto-trace", "pftrace"]
    case .jsonLines: ["jsonl", "ndjson", "json", "txt"]
    case .commaSeparatedValues: ["csv", "txt"]
    case .cacheSnapshot, .folder: []
    }
  }

  /// Whether a name may end in nothing else: the ending says which form is written.
  private var isNamedByItsEnding: Bool { self == .recording }

  /// Endings that promise a format which no command writes.
  private static let foreignEndings: Set = [
    "gguf", "ggml", "onnx", "pt", "pth", "npy", "npz", "pkl", "h5",
    "tsv", "txt", "text", "md", "rst", "log", "html", "htm", "xml", "yaml", "yml", "toml", "ini",
    "cfg", "conf", "jinja", "sql", "sqlite", "db",
    "c", "cc", "cpp", "h", "hpp", "js", "ts", "py", "rs", "sh", "swift", "ipynb",
    "zip", "gz", "bz2", "xz", "zst", "tar", "tgz", "7z",
    "png", "jpg", "jpeg", "gif", "svg", "webp", "pdf", "wav", "mp3", "mp4",
    "so", "exe", "dll", "dylib", "doc", "docx", "xls", "xlsx",
  ]

  /// Refuses a name whose ending promises another format.
  func checkEnding(of path: String, label: String) throws {
    guard let ending = FileEnding.of(path), !endings.contains(ending) else { return }
    let isKnown =
      Self.foreignEndings.contains(ending) || Self.allCases.contains { $0.endings.contains(ending) }
    guard isNamedByItsEnding || isKnown else { return }
    let advice =
      endings.isEmpty
      ? "" : ": name it " + endings.map { ".\($0)" }.joined(separator: " or ")
    throw CommandFailure(
      .usage, "\(path) (\(label)): .\(ending) is no ending for \(name)\(advice)")
  }

  /// Refuses to replace a file that is plainly of another kind: somebody's model, not an older
  /// output.
  func checkContent(of path: String, label: String) throws {
    guard let found = FileKind(of: path), Self.kept.contains(found), found != content else {
      return
    }
    throw CommandFailure(
      .usage,
      "\(path) (\(label)): \(name) will not replace the file there, which is "
        + "\(found.description)")
  }

  /// What only an output of its own kind replaces.
  private static let kept: Set<FileKind> = [
    .container, .recording, .gguf, .ggml, .safetensors, .astcImage, .pickle,
  ]

  private var content: FileKind? {
    switch self {
    case .packedModel: .container
    case .safetensors: .safetensors
    case .astcImage: .astcImage
    case .recording: .recording
    default: nil
    }
  }
}

/// The ending of a file's name, as programs go by it.
enum FileEnding {
  /// What follows the last dot, in small letters; nil where there is none but a hidden file's.
  static func of(_ path: String) -> String? {
    let name = path.split(separator: "/").last ?? ""
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return nil }
    let ending = name[name.index(after: dot)...]
    return ending.isEmpty ? nil : ending.lowercased()
  }
}
