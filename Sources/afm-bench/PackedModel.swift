import Files
import ModelFile
import TensorCore

/// Opens packed models where nothing else will do, and says what another file is.
enum PackedModel {
  static func open(_ path: String) throws -> AFMWFile {
    switch FileKind(of: path) {
    // What cannot be opened, and what is damaged, is said by the reader.
    case nil, .container, .empty, .unknown: break
    case .folder:
      throw InputError(file: path, reason: "this is a folder; name an .afmw file")
    case let kind? where kind.isImportable:
      throw InputError(
        file: path, reason: "this is \(kind.description): pack it first, with afm-bench pack")
    case let kind?:
      throw InputError(
        file: path, offset: 0, reason: "not an .afmw file: this is \(kind.description)")
    }
    return try AFMWFile(opening: path)
  }
}
