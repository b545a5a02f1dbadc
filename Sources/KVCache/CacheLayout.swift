/// Everything that decides what a sequence's cache looks like: groups of stores, and which layer
/// reads which.
///
/// A **group** is a set of stores that always hold the same positions and so share one page table.
/// A model whose layers all look back without limit has one group; layers with a sliding window
/// are another, since their old pages can be given back. Layers that read another layer's keys and
/// values name that layer's store, and cost nothing.
public struct CacheLayout: Hashable, Sendable {
  /// The groups.
  public let groups: [CacheGroup]
  /// For every layer of the model, where its keys and values are.
  public let layers: [StorePlace]
  /// Positions of a page, the same in every group.
  public let pagePositions: Int

  /// A layout; every layer's place exists, and all groups have pages of as many positions.
  public init(groups: [CacheGroup], layers: [StorePlace]) {
    precondition(!groups.isEmpty && groups.count < 256, "a cache has 1…255 groups")
    pagePositions = groups[0].geometry.pagePositions
    for group in groups {
      precondition(
        group.geometry.pagePositions == pagePositions,
        "all groups of a cache have pages of the same number of positions")
    }
    for place in layers {
      precondition(
        groups.indices.contains(place.group)
          && (0..<groups[place.group].geometry.storeCount).contains(place.store),
        "a layer's keys and values are in a store that the cache has")
    }
    self.groups = groups
    self.layers = layers
  }

  /// One group, and a store for every layer.
  public init(geometry: CacheGeometry) {
    self.init(
      groups: [CacheGroup(geometry: geometry)],
      layers: (0..<geometry.storeCount).map { StorePlace(group: 0, store: $0) })
  }

  /// One group, whose stores belong to the first layers; the layers after them read the last one.
  ///
  /// `layerCount` 56 over a group of 35 stores is the 2025 on-device model.
  public init(sharingLastStoreOf group: CacheGroup, layerCount: Int) {
    let stores = group.geometry.storeCount
    precondition(layerCount >= stores, "a store without a layer")
    self.init(
      groups: [group],
      layers: (0..<layerCount).map { StorePlace(group: 0, store: min($0, stores - 1)) })
  }

  /// Two groups: a repeating pattern of `localCount` layers with a window and one layer without.
  ///
  /// Group 0 is the global layers', group 1 the local ones'. `element` is that of keys and values;
  /// `layerScales` are the static scales of every layer, where it asks for them.
  public init(
    layerCount: Int, localCount: Int, window: Int, headCount: Int, headDimension: Int,
    pagePositions: Int = 64, element: CacheElement, layerScales: StaticScales? = nil
  ) {
    precondition(layerCount > localCount && localCount > 0, "a pattern of local and global layers")
    let members = [
      (0..<layerCount).filter { $0 % (localCount + 1) == localCount },
      (0..<layerCount).filter { $0 % (localCount + 1) != localCount },
    ]
    var places = Array(repeating: StorePlace(group: 0, store: 0), count: layerCount)
    var groups: [CacheGroup] = []
    for (index, layers) in members.enumerated() {
      for (store, layer) in layers.enumerated() {
        places[layer] = StorePlace(group: index, store: store)
      }
      groups.append(
        CacheGroup(
          geometry: CacheGeometry(
            storeCount: layers.count, headCount: headCount, headDimension: headDimension,
            pagePositions: pagePositions, keyElement: element, valueElement: element),
          window: index == 0 ? nil : window,
          staticScales: layerScales.map { scales in
            StaticScales(
              keys: layers.map { scales.keys[$0] }, values: layers.map { scales.values[$0] })
          }))
    }
    self.init(groups: groups, layers: places)
  }
}

/// Stores with one page table.
public struct CacheGroup: Hashable, Sendable {
  /// The shape of its pages.
  public let geometry: CacheGeometry
  /// Positions that its layers look back at, their own included; nil where there is no limit.
  public let window: Int?
  /// The scales of `s8static` elements; part of the model.
  public let staticScales: StaticScales?

  /// A group; static scales are given where an element asks for them, one for each store.
  public init(geometry: CacheGeometry, window: Int? = nil, staticScales: StaticScales? = nil) {
    precondition(window.map { $0 > 0 } ?? true, "a window holds at least one position")
    let isStatic = geometry.keyElement == .s8Static || geometry.valueElement == .s8Static
    precondition(isStatic == (staticScales != nil), "s8static elements have scales, others none")
    if let staticScales {
      precondition(
        staticScales.keys.count == geometry.storeCount
          && staticScales.values.count == geometry.storeCount, "a scale for each store")
    }
    self.geometry = geometry
    self.window = window
    self.staticScales = staticScales
  }

  /// The first position that a sequence of `count` positions still looks back at.
  package func firstVisible(positions count: Int) -> Int {
    window.map { max(0, count - $0) } ?? 0
  }
}

/// One scale for the keys and one for the values of every store.
public struct StaticScales: Hashable, Sendable {
  /// [store]; value = code · scale.
  public let keys: [Float]
  /// [store].
  public let values: [Float]

  /// Scales, finite and positive.
  public init(keys: [Float], values: [Float]) {
    precondition(
      (keys + values).allSatisfy { $0.isFinite && $0 > 0 }, "scales are finite and positive")
    self.keys = keys
    self.values = values
  }
}

/// Where the keys and values of a layer are.
public struct StorePlace: Hashable, Sendable {
  /// The group.
  public let group: Int
  /// The store in its group.
  public let store: Int

  /// A place.
  public init(group: Int, store: Int) {
    self.group = group
    self.store = store
  }
}

extension CacheLayout {
  /// Bytes of keys and values that a position costs as long as every layer sees it, scales apart.
  public var idealBytesPerPosition: Int {
    groups.reduce(0) { $0 + $1.geometry.idealBytesPerPosition }
  }

  /// The same without sharing: as if every layer had a store of its own.
  public var unsharedBytesPerPosition: Int {
    layers.reduce(0) { sum, place in
      let geometry = groups[place.group].geometry
      return sum + geometry.idealBytesPerPosition / geometry.storeCount
    }
  }

  /// Bytes of the scales that a position has in its pages.
  public var scaleBytesPerPosition: Int {
    groups.reduce(0) { $0 + $1.geometry.scaleBytesPerPosition }
  }

  /// Bytes of the static scales: once for all sequences, and in no page.
  public var staticScaleByteCount: Int {
    groups.reduce(0) { sum, group in
      let geometry = group.geometry
      let kinds =
        (geometry.keyElement == .s8Static ? 1 : 0) + (geometry.valueElement == .s8Static ? 1 : 0)
      return sum + 4 * geometry.storeCount * kinds
    }
  }

  /// Bytes of one page in every group: the least that a sequence holds.
  public var pageByteCount: Int { groups.reduce(0) { $0 + $1.geometry.pageByteCount } }

  /// Pages that hold that many positions, in a group without a window.
  public func pageCount(positions: Int) -> Int {
    (positions + pagePositions - 1) / pagePositions
  }
}
