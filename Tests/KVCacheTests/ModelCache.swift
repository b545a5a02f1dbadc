import KVCache

/// One head's key and value of one position, as they were stored.
struct StoredHead: Equatable {
  var key: [UInt8]
  var value: [UInt8]
  /// Nil where the element has no scales.
  var keyScale: Float?
  var valueScale: Float?

  /// Seeded bytes in the elements of a geometry.
  init(geometry: CacheGeometry, using generator: inout some RandomNumberGenerator) {
    func bytes(_ element: CacheElement, _ generator: inout some RandomNumberGenerator) -> [UInt8] {
      (0..<element.byteCount(elements: geometry.headDimension)).map { _ in
        UInt8.random(in: .min ... .max, using: &generator)
      }
    }
    key = bytes(geometry.keyElement, &generator)
    value = bytes(geometry.valueElement, &generator)
    keyScale = geometry.keyElement == .s8 ? Float.random(in: 0...1, using: &generator) : nil
    valueScale = geometry.valueElement == .s8 ? Float.random(in: 0...1, using: &generator) : nil
  }
}

extension StoredHead {
  /// Reads a position of a sequence through the panels' documented layout.
  init(in sequence: CacheSequence, store: Int, head: Int, position: Int) {
    let geometry = sequence.geometry
    let column = position % geometry.pagePositions
    // The sequence holds the page, and all indices are inside the panels' documented shapes.
    let place = unsafe sequence.headPage(
      store: store, head: head, page: position / geometry.pagePositions)
    let keySize = geometry.keyElement.byteCount(elements: 1)
    let valueSize = geometry.valueElement.byteCount(elements: 1)
    var key: [UInt8] = []
    var value: [UInt8] = []
    // Bytes before the element at a row and a column of a panel.
    func offset(_ row: Int, _ column: Int, of columns: Int, _ element: CacheElement) -> Int {
      element == .s8 || element == .s8Static
        ? 2 * (row / 2 * columns + column) + row % 2
        : (row * columns + column) * element.byteCount(elements: 1)
    }
    for index in 0..<geometry.headDimension {
      let keyOffset = offset(index, column, of: geometry.pagePositions, geometry.keyElement)
      for byte in 0..<keySize {
        key.append(unsafe place.keys.load(fromByteOffset: keyOffset + byte, as: UInt8.self))
      }
      let valueOffset = offset(column, index, of: geometry.headDimension, geometry.valueElement)
      for byte in 0..<valueSize {
        value.append(unsafe place.values.load(fromByteOffset: valueOffset + byte, as: UInt8.self))
      }
    }
    self.key = key
    self.value = value
    if let scales = unsafe place.keyScales {
      unsafe keyScale = scales[column]
    } else {
      keyScale = nil
    }
    if let scales = unsafe place.valueScales {
      unsafe valueScale = scales[column]
    } else {
      valueScale = nil
    }
  }

  /// Stores it at a reserved position.
  func store(in sequence: CacheSequence, store: Int, head: Int, position: Int) {
    // Both arrays hold headDimension elements and live through the calls.
    unsafe key.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      unsafe sequence.storeKey(
        store: store, head: head, position: position, elements: base, scale: keyScale ?? -1)
    }
    unsafe value.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      unsafe sequence.storeValue(
        store: store, head: head, position: position, elements: base, scale: valueScale ?? -1)
    }
  }
}

/// A sequence beside the arrays it should equal.
struct ModelledSequence {
  var sequence: CacheSequence
  /// [position][store · headCount + head].
  var positions: [[StoredHead]] = []
  var pageCount = 0

  var geometry: CacheGeometry { sequence.geometry }

  init(pool: PagePool, maximumPositions: Int) {
    sequence = CacheSequence(pool: pool, maximumPositions: maximumPositions)
  }

  /// What the sequence holds at a position.
  func found(_ position: Int) -> [StoredHead] {
    (0..<(geometry.storeCount * geometry.headCount)).map { index in
      StoredHead(
        in: sequence, store: index / geometry.headCount, head: index % geometry.headCount,
        position: position)
    }
  }

  /// The addresses of the pages it holds.
  var pageAddresses: [UInt] {
    (0..<pageCount).map { page in
      // Only the number of the address is used.
      unsafe UInt(bitPattern: sequence.headPage(store: 0, head: 0, page: page).keys)
    }
  }

  /// Stores and adds `count` reserved positions.
  mutating func append(_ count: Int, using generator: inout some RandomNumberGenerator) {
    for position in positions.count..<(positions.count + count) {
      var heads: [StoredHead] = []
      for index in 0..<(geometry.storeCount * geometry.headCount) {
        let head = StoredHead(geometry: geometry, using: &generator)
        head.store(
          in: sequence, store: index / geometry.headCount, head: index % geometry.headCount,
          position: position)
        heads.append(head)
      }
      positions.append(heads)
    }
    sequence.advance(count)
  }
}
