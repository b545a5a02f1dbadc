import Files
import TensorCore
import Workloads

/// Request traces that the user named.
enum WorkloadInput {
  static func read(_ path: String) throws -> Workload {
    switch path == "-" ? nil : FileKind(of: path) {
    case nil, .json, .text, .empty, .unknown: break
    // A model may have gigabytes: what it is can be said without reading it.
    case let kind?:
      throw InputError(
        file: path,
        reason: "a request trace is needed (.jsonl or .csv): this is \(kind.description)")
    }
    return try Workload(WholeFile.read(path, .requestTrace), file: path)
  }
}
