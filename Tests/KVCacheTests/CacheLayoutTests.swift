import KVCache
import TestSupport
import Testing

/// What a layout costs, by formula and by the accounts of a pool.
@Suite struct CacheLayoutTests {
  static let scale: Float = 0.02

  /// The 2025 on-device model: 56 layers over 35 stores, 2 heads of 128.
  static func onDevice(_ element: CacheElement, storeCount: Int = 35) -> CacheLayout {
    let scales = Array(repeating: scale, count: storeCount)
    return CacheLayout(
      sharingLastStoreOf: CacheGroup(
        geometry: CacheGeometry(
          storeCount: storeCount, headCount: 2, headDimension: 128, keyElement: element,
          valueElement: element),
        staticScales: element == .s8Static ? StaticScales(keys: scales, values: scales) : nil),
      layerCount: 56)
  }

  @Test func theOnDeviceModelSharesThreeEighths() throws {
    let shared = Self.onDevice(.s8Static)
    #expect(shared.idealBytesPerPosition == 17_920)
    #expect(shared.unsharedBytesPerPosition == 28_672)
    #expect(17_920 * 8 == 28_672 * 5)
    #expect(shared.scaleBytesPerPosition == 0)
    #expect(shared.staticScaleByteCount == 35 * 2 * 4)
    #expect(shared.pageByteCount == 64 * 17_920)
    #expect(shared.layers[34] == StorePlace(group: 0, store: 34))
    #expect(shared.layers[35...].allSatisfy { $0 == StorePlace(group: 0, store: 34) })
    // The measured accounts: 70 MiB at 4,096 positions against 112.
    for (storeCount, bytes) in [(35, 17_920), (56, 28_672)] {
      let layout = Self.onDevice(.s8Static, storeCount: storeCount)
      let pool = try PagePool(
        layout: layout, byteBudget: 256 << 20, tier: "on-device", backing: .accountOnly)
      let sequence = CacheSequence(pool: pool, maximumPositions: 8_192)
      try sequence.reserve(4_096)
      sequence.advance(4_096)
      let usage = pool.usage
      #expect(usage.tier == "on-device")
      #expect(usage.held == sequence.usage)
      #expect(usage.held.idealBytes == 4_096 * bytes)
      #expect(usage.held.usedBytes == 4_096 * bytes)
      #expect(usage.held.allocatedBytes == 4_096 * bytes)
      #expect(usage.held.scaleBytes == 0 && usage.held.wastedBytes == 0)
    }
  }

  /// Bytes of a position by the definitions: codes, and scales apart.
  @Test(
    arguments: [
      (.f32, 71_680, 0), (.f16, 35_840, 0), (.s8, 17_920, 560), (.s8Static, 17_920, 0),
      (.u4g32, 8_960, 2_240),
    ] as [(CacheElement, Int, Int)])
  func elementsCostWhatTheyPromise(_ element: CacheElement, _ ideal: Int, _ scales: Int) throws {
    let layout = Self.onDevice(element)
    #expect(layout.idealBytesPerPosition == ideal)
    #expect(layout.scaleBytesPerPosition == scales)
    // No padding at these dimensions.
    #expect(layout.pageByteCount == 64 * (ideal + scales))
  }

  @Test func localLayersAreAGroupOfTheirOwn() {
    let layout = CacheLayout(
      layerCount: 8, localCount: 3, window: 4_096, headCount: 1, headDimension: 64, element: .s8)
    #expect(layout.groups.map(\.geometry.storeCount) == [2, 6])
    #expect(layout.groups.map(\.window) == [nil, 4_096])
    #expect(layout.layers.map(\.group) == [1, 1, 1, 0, 1, 1, 1, 0])
    #expect(layout.layers.map(\.store) == [0, 1, 2, 0, 3, 4, 5, 1])
  }

  static let layouts = [
    onDevice(.u4g32), onDevice(.s8),
    CacheLayout(
      layerCount: 8, localCount: 3, window: 128, headCount: 2, headDimension: 64,
      element: .f16),
    CacheLayout(
      layerCount: 4, localCount: 3, window: 100, headCount: 1, headDimension: 12,
      pagePositions: 16, element: .s8),
  ]

  /// What a run will cost is what it costs, whatever grows in which steps; waste stays under a page
  /// a sequence and group where the window is whole pages, and under two where it is not.
  @Test(arguments: layouts.indices) func predictionsAreTheAccounts(_ number: Int) throws {
    let layout = Self.layouts[number]
    var generator = SeededGenerator(seed: UInt64(40 + number))
    let page = layout.pagePositions
    for _ in 0..<20 {
      let pool = try PagePool(layout: layout, byteBudget: .max, backing: .accountOnly)
      let identity = PrefixIdentity(model: "m")
      let common = Int.random(in: 0...300, using: &generator)
      let lengths = (0..<4).map { _ in common + Int.random(in: 0...500, using: &generator) }
      var sequences: [CacheSequence] = []
      for (index, length) in lengths.enumerated() {
        let sequence = CacheSequence(pool: pool, maximumPositions: length, identity: identity)
        sequences.append(sequence)
        while sequence.positionCount < length {
          let start = sequence.positionCount
          let count = min(length - start, Int.random(in: 1...90, using: &generator))
          try sequence.reserve(count)
          let tokens = (start..<start + count).map { Int32($0 < common ? 7 : 100 + index) }
          sequence.advance(tokens[...])
        }
        #expect(sequence.usage == layout.predictedUsage(positions: length))
      }
      let predicted = layout.predictedUsage(of: lengths, sharedPositions: common)
      #expect(pool.usage.held == predicted, "seed \(40 + number), \(lengths), common \(common)")
      let pages = layout.groups.reduce(0) { sum, group in
        let isWhole = (group.window ?? page) % page == 0
        return sum + (isWhole ? 1 : 2) * group.geometry.pageByteCount
      }
      #expect(sequences.allSatisfy { $0.usage.wastedBytes <= pages })
    }
  }

  @Test func aWindowHoldsNoMoreThanItSees() throws {
    let layout = CacheLayout(
      layerCount: 4, localCount: 3, window: 4_096, headCount: 2, headDimension: 128, element: .f16)
    let pool = try PagePool(layout: layout, byteBudget: 1 << 40, backing: .accountOnly)
    let sequence = CacheSequence(pool: pool, maximumPositions: 32_768)
    for _ in 0..<512 {
      try sequence.reserve(64)
      sequence.advance(64)
    }
    let local = layout.groups[1].geometry
    let global = layout.groups[0].geometry
    #expect(sequence.firstPage(group: 0) == 0)
    #expect(sequence.firstPage(group: 1) == (32_768 - 4_096) / 64)
    #expect(
      sequence.usage.allocatedBytes == 512 * global.pageByteCount + 64 * local.pageByteCount)
    #expect(sequence.usage.wastedBytes == 0)
    #expect(sequence.earliestPosition == 32_768)
  }
}
