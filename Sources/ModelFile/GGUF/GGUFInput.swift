import Files
import TensorCore

/// The file under a GGUF reader, with the errors of one: read at offsets, by several threads if
/// need be, and never mapped, so that a big source file stays out of this process's memory.
final class GGUFInput: Sendable {
  private let file: InputFile

  var path: String { file.path }
  var byteCount: Int { file.byteCount }

  init(path: String) throws(InputError) {
    do throws(FileError) {
      file = try InputFile(opening: path)
    } catch {
      throw InputError(error, file: path)
    }
  }

  /// Fills `bytes` from `offset` on, or throws with that offset and the given place.
  func read(
    at offset: Int, into bytes: inout MutableRawSpan, place: String
  ) throws(InputError) {
    do throws(FileError) {
      try file.read(at: offset, into: &bytes)
    } catch {
      throw InputError(error, file: path, place: place, offset: offset)
    }
  }
}
