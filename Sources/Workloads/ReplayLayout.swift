import KVCache

/// Caches that workloads are replayed against.
package enum ReplayLayout: String, CaseIterable, Sendable {
  /// The on-device model of 2025: 56 layers over 35 stores, 2 heads of 128, 8-bit.
  case onDevice2025 = "afm-ondevice-2025"
  /// The same without sharing: a store for each of the 56 layers.
  case onDevice2025Unshared = "afm-ondevice-2025-unshared"
  /// Three local layers with a window of 4,096 and a global one, twelve times; 2 heads of 128,
  /// 8-bit.
  /// Apple publishes the pattern of its server model; counts are ours.
  case server = "afm-server-sim"

  /// Pages of that many positions.
  package func layout(pagePositions: Int) -> CacheLayout {
    switch self {
    case .onDevice2025:
      return CacheLayout(
        sharingLastStoreOf: Self.onDeviceGroup(storeCount: 35, pagePositions: pagePositions),
        layerCount: 56)
    case .onDevice2025Unshared:
      return CacheLayout(
        sharingLastStoreOf: Self.onDeviceGroup(storeCount: 56, pagePositions: pagePositions),
        layerCount: 56)
    case .server:
      let ones = Array(repeating: Float(1), count: 48)
      return CacheLayout(
        layerCount: 48, localCount: 3, window: 4_096, headCount: 2, headDimension: 128,
        pagePositions: pagePositions, element: .s8Static,
        layerScales: StaticScales(keys: ones, values: ones))
    }
  }

  private static func onDeviceGroup(storeCount: Int, pagePositions: Int) -> CacheGroup {
    // Nothing is stored: any scale will do.
    let ones = Array(repeating: Float(1), count: storeCount)
    return CacheGroup(
      geometry: CacheGeometry(
        storeCount: storeCount, headCount: 2, headDimension: 128, pagePositions: pagePositions,
        keyElement: .s8Static, valueElement: .s8Static),
      staticScales: StaticScales(keys: ones, values: ones))
  }
}
