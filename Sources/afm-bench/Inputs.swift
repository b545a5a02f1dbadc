import Files
import Foundation
import ModelFile
import TensorCore

/// Everything on standard input.
enum StandardInput {
  static func read(_ kind: WholeFile.Kind) throws -> [UInt8] {
    if isatty(STDIN_FILENO) == 1 {
      Console.error("afm-bench: waiting for text on standard input; Ctrl-D ends it")
    }
    do throws(FileError) {
      return try ByteStream.read(
        STDIN_FILENO, name: "standard input", limit: kind.byteCountLimit)
    } catch {
      throw InputError(error, file: "standard input")
    }
  }
}

/// Raw bytes on standard output.
enum StandardOutput {
  /// Whether somebody reads along.
  static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

  static func write(_ bytes: [UInt8]) throws {
    do { try ByteStream.write(bytes, to: STDOUT_FILENO, name: "standard output") } catch {
      throw CommandFailure(.environment, "standard output: cannot write")
    }
  }
}

/// A JSON array of token ids, alone or under "ids".
enum TokenIds {
  static func parse(_ bytes: [UInt8], source: String) throws -> [Int32] {
    do { return try TokenIdList.parse(bytes) } catch { throw error.inFile(source) }
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
/// as a shell's `<(…)` are read to their end, or to the limit of their kind.
enum WholeFile {
  /// What the bytes are, which says how many there may be: far more than any command needs, and an
  /// end for a device without one.
  enum Kind {
    /// Contexts end at 32,768 tokens.
    case prompt
    /// To score, to calibrate with or to tokenize.
    case text
    case tokenIds
    case requestTrace
    case recording
    /// The rows of a run.
    case results

    var byteCountLimit: Int {
      switch self {
      case .prompt, .tokenIds: 64 << 20
      case .text, .results: 256 << 20
      case .requestTrace, .recording: 1 << 30
      }
    }
  }

  static func read(_ path: String, _ kind: Kind) throws -> [UInt8] {
    guard path != "-" else { return try StandardInput.read(kind) }
    do throws(FileError) {
      return try ByteStream.read(path, limit: kind.byteCountLimit)
    } catch {
      throw InputError(error, file: path)
    }
  }
}

/// A text that the user named, for a model to read.
enum TextFile {
  /// The text of a file; bytes that are not UTF-8 are U+FFFD, and a warning says so.
  static func read(_ path: String, _ kind: WholeFile.Kind) throws -> String {
    let bytes = try WholeFile.read(path, kind)
    let text = String(decoding: bytes, as: UTF8.self)
    // Repairing is all that changes bytes.
    if !text.utf8.elementsEqual(bytes) {
      let offset = zip(text.utf8, bytes).enumerated().first { $1.0 != $1.1 }?.offset
      let source = path == "-" ? "standard input" : path
      let error = InputError(
        file: source, offset: offset ?? min(text.utf8.count, bytes.count),
        reason: "not UTF-8 from here on: what is not becomes U+FFFD")
      Console.error("afm-bench: warning: \(error.description)")
    }
    return text
  }
}
