import Files
import TensorCore

/// The tensors of a model in safetensors: one file, or the files that an index lists.
struct SafetensorsShards: Sendable {
  /// A tensor and its file.
  struct Entry: Sendable {
    var file: SafetensorsFile
    var tensor: SafetensorsTensor

    var name: String { tensor.name }

    /// An error about the tensor.
    func error(_ reason: String) -> InputError {
      InputError(
        file: file.path, place: "tensor \(tensor.name)", offset: tensor.entryOffset,
        reason: reason)
    }
  }

  /// In file order, the files in the order of their names.
  let entries: [Entry]
  /// The strings under `__metadata__` of all files.
  let metadata: [String: String]
  /// Bytes of all files.
  let byteCount: Int

  static let indexByteCountLimit = 1 << 26
  static let fileCountLimit = 1024

  /// One file.
  init(_ file: SafetensorsFile) {
    entries = file.tensors.map { Entry(file: file, tensor: $0) }
    metadata = file.metadata
    byteCount = file.byteCount
  }

  /// The files that an index in a folder lists: every tensor that it names is in the file that it
  /// says, and the files hold no other.
  init(index name: String, in folder: HuggingFaceFolder) throws(InputError) {
    guard let bytes = try folder.bytes(of: name, limit: Self.indexByteCountLimit) else {
      throw InputError(file: folder.path(of: name), reason: "there is no such file")
    }
    let indexPath = folder.path(of: name)
    let fileNames = try Self.fileNames(bytes, path: indexPath)
    var left = fileNames
    var entries: [Entry] = []
    var metadata: [String: String] = [:]
    var byteCount = 0
    let names = Set(fileNames.values).sorted()
    guard names.count <= Self.fileCountLimit else {
      throw InputError(
        file: indexPath, reason: "\(names.count) files, at most \(Self.fileCountLimit) are allowed")
    }
    for name in names {
      let file = try SafetensorsFile(path: folder.path(of: name))
      byteCount += file.byteCount
      for tensor in file.tensors {
        let entry = Entry(file: file, tensor: tensor)
        guard left.removeValue(forKey: tensor.name) == name else {
          throw entry.error("the index does not say that the tensor is in this file")
        }
        entries.append(entry)
      }
      try Self.merge(file, into: &metadata)
    }
    if let missing = left.min(by: { $0.key < $1.key }) {
      throw InputError(
        file: indexPath, place: "tensor \(missing.key)",
        reason: "\(missing.value) does not have it")
    }
    self.entries = entries
    self.metadata = metadata
    self.byteCount = byteCount
  }

  /// The files that an index lists; none where it cannot be read.
  static func fileNames(index name: String, in folder: HuggingFaceFolder) -> [String] {
    guard let bytes = try? folder.bytes(of: name, limit: indexByteCountLimit),
      let names = try? fileNames(bytes, path: folder.path(of: name))
    else { return [] }
    return Set(names.values).sorted()
  }

  /// The file of every tensor.
  private static func fileNames(
    _ bytes: [UInt8], path: String
  ) throws(InputError) -> [String: String] {
    var names: [String: String]?
    do throws(InputError) {
      var reader = JSONReader(bytes)
      try reader.object { reader, key throws(InputError) in
        guard key == "weight_map" else { return try reader.skip() }
        var found: [String: String] = [:]
        try reader.object { reader, tensor throws(InputError) in
          reader.place = "tensor \(tensor)"
          let start = reader.offset
          let name = try reader.string()
          guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(UInt8(ascii: "/")),
            !name.utf8.contains(0)
          else { throw reader.error("\"\(name)\" is no name of a file beside it", at: start) }
          found[tensor] = name
          reader.place = ""
        }
        names = found
      }
      try reader.end()
    } catch {
      throw error.inFile(path)
    }
    guard let names else {
      throw InputError(file: path, place: "weight_map", reason: "the name is missing")
    }
    return names
  }

  /// Files may repeat a string, but not contradict another about what matters here.
  private static func merge(
    _ file: SafetensorsFile, into metadata: inout [String: String]
  ) throws(InputError) {
    for (key, value) in file.metadata {
      if let other = metadata[key], other != value, QuantizedNames.isMetadata(key) {
        throw InputError(
          file: file.path, place: "metadata \(key)", reason: "another file says \(other)")
      }
      metadata[key] = metadata[key] ?? value
    }
  }
}
