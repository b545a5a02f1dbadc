import Foundation
import TensorCore

/// Everything on standard input.
enum StandardInput {
  static func read() throws -> [UInt8] {
    do { return Array(try FileHandle.standardInput.readToEnd() ?? Data()) } catch {
      throw InputError(file: "standard input", reason: "cannot be read")
    }
  }
}

/// Raw bytes on standard output.
enum StandardOutput {
  static func write(_ bytes: [UInt8]) throws {
    do { try FileHandle.standardOutput.write(contentsOf: Data(bytes)) } catch {
      throw CommandFailure(.environment, "standard output: cannot write")
    }
  }
}

/// A JSON array of token ids, alone or under "ids".
enum TokenIds {
  private struct Wrapped: Decodable { var ids: [Int32] }

  static func parse(_ bytes: [UInt8], source: String) throws -> [Int32] {
    let data = Data(bytes)
    if let ids = try? JSONDecoder().decode([Int32].self, from: data) { return ids }
    if let wrapped = try? JSONDecoder().decode(Wrapped.self, from: data) { return wrapped.ids }
    throw InputError(file: source, reason: "not a JSON array of token ids")
  }

  /// Ids that a model has, or an error that says where the first other one stands.
  static func check(_ ids: [Int32], vocabularyCount: Int, source: String) throws {
    let known = 0..<Int32(clamping: vocabularyCount)
    guard let index = ids.firstIndex(where: { !known.contains($0) }) else { return }
    throw InputError(
      file: source, place: "index \(index)",
      reason: "token \(ids[index]) is outside the vocabulary of \(vocabularyCount)")
  }
}

/// A whole text or JSON file that the user named, as bytes; `-` is standard input, and pipes such
/// as a shell's `<(…)` are read to their end.
enum WholeFile {
  static func read(_ path: String) throws -> [UInt8] {
    guard path != "-" else { return try StandardInput.read() }
    do {
      let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      return Array(try handle.readToEnd() ?? Data())
    } catch {
      throw InputError(file: path, reason: "cannot read: \(reason(error))")
    }
  }

  /// The system's word for what went wrong.
  private static func reason(_ error: any Error) -> String {
    let error = error as NSError
    let underlying = error.userInfo[NSUnderlyingErrorKey] as? NSError
    for candidate in [underlying, error] {
      if let candidate, candidate.domain == NSPOSIXErrorDomain,
        let code = Int32(exactly: candidate.code)
      {
        // strerror's text is copied before anything else runs.
        return unsafe String(cString: strerror(code))
      }
    }
    return error.code == NSFileReadNoSuchFileError || error.code == NSFileNoSuchFileError
      ? "No such file or directory" : "not readable"
  }
}

/// Guards the input of a command that writes a file.
enum OutputPath {
  /// Refuses an output that is the input itself: the source would be lost.
  static func check(_ output: String, isNot input: String) throws {
    var first = stat()
    var second = stat()
    // Both values outlive the calls.
    guard unsafe stat(input, &first) == 0, unsafe stat(output, &second) == 0 else { return }
    if first.st_dev == second.st_dev && first.st_ino == second.st_ino {
      throw CommandFailure(.usage, "\(output): the output is the input itself")
    }
  }
}
