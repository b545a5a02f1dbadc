import Foundation
import KVCache
import Report
import Workloads

/// What `cache replay` prints.
struct ReplayReport: Encodable {
  struct Row: Encodable {
    /// Nil where there is no limit.
    var budget_bytes: Int?
    /// Hit pages over pages of prompts.
    var page_hit_rate: Double
    var prompt_pages: Int
    var hit_pages: Int
    var prompt_positions: Int
    var hit_positions: Int
    var prefill_positions: Int
    var evicted_pages: Int
    var refused_requests: Int
    /// What requests held together at most, and what was taken from the budget with cached pages.
    var peak_held_bytes: Int
    var peak_allocated_bytes: Int
    /// Requests whose bytes were not what their lengths had predicted.
    var mispredicted_requests: Int

    init(_ outcome: CacheReplay.Outcome, budget: ByteBudget) {
      budget_bytes = budget.byteCount
      page_hit_rate = outcome.hitRate
      prompt_pages = outcome.promptPageCount
      hit_pages = outcome.hitPageCount
      prompt_positions = outcome.promptPositions
      hit_positions = outcome.hitPositions
      prefill_positions = outcome.prefillPositions
      evicted_pages = outcome.evictedPageCount
      refused_requests = outcome.refusedCount
      peak_held_bytes = outcome.peakHeldBytes
      peak_allocated_bytes = outcome.peakAllocatedBytes
      mispredicted_requests = outcome.mispredictedCount
    }
  }

  var workload: String
  var requests: Int
  var seconds: Double
  var time_scale = 1.0
  var cache: String
  var page_positions: Int
  var page_bytes: Int
  /// Keys and values, scales apart; and as if every layer had a store of its own.
  var kv_bytes_per_position: Int
  var kv_bytes_per_position_unshared: Int
  /// Scales that stand in pages, and those that stand once beside the model.
  var scale_bytes_per_position: Int
  var static_scale_bytes: Int
  var rows: [Row] = []

  init(workload: Workload, cache: ReplayLayout, layout: CacheLayout) {
    self.workload = workload.name
    requests = workload.requests.count
    seconds = WorkloadSummary(workload).seconds
    self.cache = cache.rawValue
    page_positions = layout.pagePositions
    page_bytes = layout.pageByteCount
    kv_bytes_per_position = layout.idealBytesPerPosition
    kv_bytes_per_position_unshared = layout.unsharedBytesPerPosition
    scale_bytes_per_position = layout.scaleBytesPerPosition
    static_scale_bytes = layout.staticScaleByteCount
  }

  /// Throws where an account is wrong.
  func check() throws {
    for row in rows {
      guard row.mispredicted_requests == 0 else {
        throw CommandFailure(
          .checkFailed, "\(row.mispredicted_requests) requests cost other bytes than predicted")
      }
      if let budget = row.budget_bytes, row.peak_allocated_bytes > budget {
        throw CommandFailure(
          .checkFailed, "\(row.peak_allocated_bytes) bytes under a budget of \(budget)")
      }
    }
  }

  var text: String {
    var table = TextTable([
      .init("budget"), .init("page hits"), .init("prefill positions"), .init("evicted pages"),
      .init("refused"), .init("held GiB"), .init("allocated GiB"),
    ])
    func gibibytes(_ bytes: Int) -> String { String(format: "%.2f", Double(bytes) / 0x1p30) }
    for row in rows {
      table.append([
        row.budget_bytes.map { "\(gibibytes($0)) GiB" } ?? "unlimited",
        String(format: "%.1f %%", row.page_hit_rate * 100), row.prefill_positions.grouped,
        row.evicted_pages.grouped, row.refused_requests.grouped, gibibytes(row.peak_held_bytes),
        gibibytes(row.peak_allocated_bytes),
      ])
    }
    return """
      \(workload): \(requests.grouped) requests in \(Int(seconds).grouped) s
      \(cache): \(kv_bytes_per_position.grouped) KV bytes per position \
      (\(kv_bytes_per_position_unshared.grouped) with a store for every layer), \
      \(scale_bytes_per_position.grouped) bytes of scales per position and \
      \(static_scale_bytes.grouped) once; pages of \(page_positions) positions, \
      \(page_bytes.grouped) bytes

      \(table.text)
      """
  }
}
