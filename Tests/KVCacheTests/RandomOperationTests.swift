import CacheSnapshots
import Foundation
import KVCache
import TestSupport
import Testing

/// Sequences that are made, grown, forked, cut, written to files, restored and dropped at random,
/// beside a plain model of them: same contents, same pages, same bytes after every step.
@Suite struct RandomOperationTests {
  static let layouts = [
    CacheLayout(
      geometry: CacheGeometry(
        storeCount: 2, headCount: 1, headDimension: 6, pagePositions: 4, keyElement: .s8,
        valueElement: .f16)),
    CacheLayout(
      sharingLastStoreOf: CacheGroup(
        geometry: CacheGeometry(
          storeCount: 2, headCount: 2, headDimension: 4, pagePositions: 3,
          keyElement: .s8Static, valueElement: .s8Static),
        staticScales: StaticScales(keys: [0.01, 0.02], values: [0.03, 0.015])),
      layerCount: 3),
    // Two local layers and a global one: pages of the groups have different byte counts.
    CacheLayout(
      layerCount: 3, localCount: 2, window: 8, headCount: 1, headDimension: 34,
      pagePositions: 4, element: .u4g32),
    CacheLayout(
      layerCount: 5, localCount: 4, window: 7, headCount: 1, headDimension: 3, pagePositions: 2,
      element: .f32),
  ]

  /// 4 layouts × 25,000 operations.
  @Test(arguments: layouts.indices) func equalsThePlainModel(_ number: Int) throws {
    let seed: UInt64 = 0xCAC4E_0000 + UInt64(number)
    var run = try CacheRun(layout: Self.layouts[number], budgetPages: 20, seed: seed)
    for step in 0..<25_000 {
      try run.operate()
      try run.check(thorough: step % 100 == 99, "seed \(seed), step \(step)")
    }
    // Every kind of operation happened, and every kind of refusal.
    #expect(run.counts.values.allSatisfy { $0 > 50 }, "\(run.counts)")
    #expect(run.counts.count == CacheRun.Happening.allCases.count, "\(run.counts)")
    try run.finish()
  }
}
