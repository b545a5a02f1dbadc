import Files
import TensorCore

/// The folder of a Hugging Face model: small files beside the tensors.
struct HuggingFaceFolder {
  /// The path of the folder, without a slash at its end.
  let path: String

  func path(of name: String) -> String { "\(path)/\(name)" }

  /// The bytes of a file; nil where there is none of that name.
  ///
  /// Throws where the file is longer than `limit` or cannot be read.
  func bytes(of name: String, limit: Int) throws(InputError) -> [UInt8]? {
    let path = path(of: name)
    do throws(FileError) {
      let file = try InputFile(opening: path)
      var bytes = [UInt8](repeating: 0, count: min(file.byteCount, limit + 1))
      var span = bytes.mutableSpan
      // Any bytes are valid elements.
      var raw = unsafe span.mutableBytes
      try file.read(at: 0, into: &raw)
      if bytes.count <= limit { return bytes }
    } catch {
      if error.isMissing { return nil }
      throw InputError(error, file: path)
    }
    throw InputError(file: path, reason: "the file is longer than \(limit) bytes")
  }
}
