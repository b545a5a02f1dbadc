import Glibc

/// Bytes that come or go in one piece: files, pipes, terminals and devices, by system calls alone.
package enum ByteStream {
  /// Everything that a file, pipe or device gives, up to `limit` bytes.
  package static func read(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
    // The C string lives for the call.
    let number = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard number >= 0 else { throw .last(path: path, operation: .read) }
    let descriptor = FileDescriptor(number: number)
    return try read(descriptor.number, name: path, limit: limit)
  }

  /// Everything that an open descriptor gives, up to `limit` bytes.
  package static func read(
    _ number: Int32, name: String, limit: Int
  ) throws(FileError) -> [UInt8] {
    var status = stat()
    // `status` outlives the call. A file's length is known before a byte is read.
    if unsafe fstat(number, &status) == 0, status.isRegular, Int(status.st_size) > limit {
      throw FileError(path: name, operation: .read, reason: .tooLong(limit: limit))
    }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      // The buffer has that many bytes, and outlives the call.
      let count = unsafe chunk.withUnsafeMutableBytes { buffer in
        FileDescriptor.retrying { unsafe Glibc.read(number, buffer.baseAddress, buffer.count) }
      }
      guard count >= 0 else { throw .last(path: name, operation: .read) }
      guard count > 0 else { return bytes }
      guard bytes.count + count <= limit else {
        throw FileError(path: name, operation: .read, reason: .tooLong(limit: limit))
      }
      bytes += chunk[..<count]
    }
  }

  /// Writes all bytes to an open descriptor.
  package static func write(
    _ bytes: [UInt8], to number: Int32, name: String
  ) throws(FileError) {
    var done = 0
    while done < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { buffer in
        FileDescriptor.retrying {
          // The range done..<count lies inside the array.
          unsafe Glibc.write(number, buffer.baseAddress! + done, buffer.count - done)
        }
      }
      guard count > 0 else { throw .last(path: name, operation: .write) }
      done += count
    }
  }
}
