import Glibc

/// The names in a folder.
package enum FolderEntries {
  /// All but `.` and `..`, in no order. Throws where it is no folder or cannot be read.
  package static func names(in path: String) throws(FileError) -> [String] {
    guard let folder = unsafe opendir(path) else { throw .last(path: path, operation: .open) }
    // Ours alone.
    defer { unsafe _ = closedir(folder) }
    var names: [String] = []
    while let entry = unsafe readdir(folder) {
      // The name ends with a zero inside the entry, which lives until the next call.
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { characters in
          unsafe String(cString: characters)
        }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }
}
