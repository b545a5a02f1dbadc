import Foundation
import TestSupport

extension TraceProcessor {
  /// The rows of a query over `trace`, a file's bytes.
  static func rows<Row: Decodable>(
    of sql: String, over trace: [UInt8], as _: Row.Type = Row.self
  ) throws -> [Row] {
    let folder = try TemporaryFolder()
    try Data(trace).write(to: folder.url("run.perfetto"))
    return try JSONDecoder().decode(
      [Row].self, from: rows(of: sql, over: folder.file("run.perfetto")))
  }
}
