import Files
import TensorCore

/// Where a model in safetensors lies: its tensors, and the folder with the files beside them.
struct SafetensorsPlace {
  let shards: SafetensorsShards
  let folder: HuggingFaceFolder
  /// The last part of the path that was named.
  let name: String

  private static let indexName = "model.safetensors.index.json"
  private static let fileName = "model.safetensors"

  /// What stands for the model's name where its files give none.
  var modelName: String {
    let parts = folder.path.split(separator: "/")
    return parts.last.flatMap { $0 == "." ? nil : String($0) } ?? name
  }

  init(_ path: String) throws(InputError) {
    var parts = path.split(separator: "/", omittingEmptySubsequences: true)
    name = String(parts.last ?? "")
    do throws(FileError) {
      _ = try InputFile(opening: path)
    } catch {
      guard error.reason == .isDirectory else {
        throw InputError(error, file: path)
      }
      folder = HuggingFaceFolder(path: path)
      if try folder.bytes(of: Self.indexName, limit: SafetensorsShards.indexByteCountLimit) != nil {
        shards = try SafetensorsShards(index: Self.indexName, in: folder)
      } else {
        shards = SafetensorsShards(
          try SafetensorsFile(path: folder.path(of: Self.fileName)))
      }
      return
    }
    if !parts.isEmpty { parts.removeLast() }
    let parent = (path.hasPrefix("/") ? "/" : "") + parts.joined(separator: "/")
    folder = HuggingFaceFolder(path: parent.isEmpty ? "." : parent)
    shards =
      name.hasSuffix(".json")
      ? try SafetensorsShards(index: name, in: folder)
      : SafetensorsShards(try SafetensorsFile(path: path))
  }

  /// The files that opening a path opens beside it, whether they are there or not.
  static func companions(of path: String, isFolder: Bool) -> [String] {
    let folder: String
    var names = HuggingFaceFiles.names
    var index: String?
    if isFolder {
      folder = path
      index = indexName
      names += [indexName, fileName]
    } else {
      let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
      folder = slash.map { $0 == path.startIndex ? "" : String(path[..<$0]) } ?? "."
      let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
      if name.hasSuffix(".json") { index = name }
    }
    let place = HuggingFaceFolder(path: folder)
    if let index { names += SafetensorsShards.fileNames(index: index, in: place) }
    return names.map(place.path)
  }
}

extension SafetensorsModel {
  /// The files that opening a path opens beside it, whether they are there or not.
  package static func companions(of path: String, isFolder: Bool) -> [String] {
    SafetensorsPlace.companions(of: path, isFolder: isFolder)
  }
}
