import Files
import TensorCore

/// A safetensors file: header in memory, tensor data read on demand, by several threads if need be.
///
/// Opening reads the header alone and allocates a small multiple of it; an error names the file,
/// the tensor and the byte offset. The layout is that of <doc:Safetensors>.
package final class SafetensorsFile: Sendable {
  /// The file as the user named it.
  package let path: String
  package let byteCount: Int
  package let header: SafetensorsHeader
  private let storage: Storage
  private let indices: [String: Int]

  private enum Storage: ~Copyable, Sendable {
    case file(InputFile)
    case memory([UInt8])
  }

  /// In the order of their data.
  package var tensors: [SafetensorsTensor] { header.tensors }
  /// The strings under `__metadata__`.
  package var metadata: [String: String] { header.metadata }

  /// Opens a file and checks its header.
  package init(path: String) throws(InputError) {
    let file: InputFile
    do throws(FileError) { file = try InputFile(opening: path) } catch {
      throw InputError(error, file: path)
    }
    self.path = path
    byteCount = file.byteCount
    do throws(InputError) {
      let prefix = try file.prefix(min(file.byteCount, SafetensorsHeader.prefixByteCount))
      let count = try SafetensorsHeader.byteCount(prefix: prefix, fileByteCount: file.byteCount)
      header = try SafetensorsHeader(
        parsing: try file.prefix(SafetensorsHeader.prefixByteCount + count),
        fileByteCount: file.byteCount)
    } catch {
      throw error.inFile(path)
    }
    storage = .file(file)
    indices = Self.indices(header)
  }

  /// Takes a file that lies in memory; `name` stands for it in errors.
  package init(bytes: [UInt8], name: String) throws(InputError) {
    path = name
    byteCount = bytes.count
    do throws(InputError) {
      header = try SafetensorsHeader(parsing: bytes, fileByteCount: bytes.count)
    } catch {
      throw error.inFile(name)
    }
    storage = .memory(bytes)
    indices = Self.indices(header)
  }

  private static func indices(_ header: SafetensorsHeader) -> [String: Int] {
    var indices: [String: Int] = [:]
    // The parser has refused duplicate names as bytes; of canonically equivalent ones the first
    // is found by name.
    for (index, tensor) in header.tensors.enumerated() where indices[tensor.name] == nil {
      indices[tensor.name] = index
    }
    return indices
  }

  /// The tensor of that name.
  package func tensor(named name: String) -> SafetensorsTensor? {
    indices[name].map { tensors[$0] }
  }

  /// Fills `bytes` from `offset` on, or throws with that offset and the given place.
  func read(
    at offset: Int, into bytes: inout MutableRawSpan, place: String
  ) throws(InputError) {
    switch storage {
    case .file(let file):
      do throws(FileError) {
        try file.read(at: offset, into: &bytes)
      } catch {
        throw InputError(error, file: path, place: place, offset: offset)
      }
    case .memory(let content):
      guard offset >= 0, bytes.byteCount <= content.count - offset else {
        throw InputError(file: path, place: place, offset: offset, reason: "the file ends early")
      }
      for index in 0..<bytes.byteCount {
        bytes.storeBytes(of: content[offset + index], toByteOffset: index, as: UInt8.self)
      }
    }
  }
}

extension InputFile {
  /// The first bytes of the file, which the caller has found to be there.
  fileprivate borrowing func prefix(_ count: Int) throws(InputError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var span = bytes.mutableSpan
    // Any bytes are valid elements.
    var raw = unsafe span.mutableBytes
    do throws(FileError) { try read(at: 0, into: &raw) } catch {
      throw InputError(error, place: "header", offset: 0)
    }
    return bytes
  }
}
