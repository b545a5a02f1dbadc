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
      let reason = (error as NSError).userInfo[NSUnderlyingErrorKey].map { "\($0)" }
      throw InputError(
        file: path, reason: FileManager.default.fileExists(atPath: path)
          ? "cannot be read" + (reason.map { " (\($0))" } ?? "") : "no such file")
    }
  }
}
