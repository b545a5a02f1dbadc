import CacheSnapshots
import Foundation
import KVCache
import TensorCore
import TestSupport
import Testing

/// Sequences through files: what comes back, and what is refused without touching anything.
@Suite struct SnapshotTests {
  private let identity = PrefixIdentity(model: "model", adapter: "adapter")

  static func layout(
    heads: Int = 2, dimension: Int = 6, page: Int = 4, window: Int? = 9, layers: Int = 3,
    key: CacheElement = .s8Static, value: CacheElement = .u4g32, scale: Float = 0.125
  ) -> CacheLayout {
    func group(_ stores: Int, _ window: Int?) -> CacheGroup {
      let scales = (0..<stores).map { scale * Float($0 + 1) }
      return CacheGroup(
        geometry: CacheGeometry(
          storeCount: stores, headCount: heads, headDimension: dimension, pagePositions: page,
          keyElement: key, valueElement: value),
        window: window,
        staticScales: key == .s8Static || value == .s8Static
          ? StaticScales(keys: scales, values: scales) : nil)
    }
    return CacheLayout(
      groups: [group(1, nil), group(2, window)],
      layers: (0..<layers).map { StorePlace(group: $0 % 2, store: 0) })
  }

  private func filled(
    _ layout: CacheLayout, positions: Int, pool: PagePool? = nil, seed: UInt64 = 3
  ) throws -> CacheSequence {
    let pool = try pool ?? PagePool(layout: layout, byteBudget: 20 * layout.pageByteCount)
    let sequence = CacheSequence(pool: pool, maximumPositions: 40, identity: identity)
    var generator = SeededGenerator(seed: seed)
    for position in 0..<positions {
      try sequence.reserve(1)
      for (index, group) in layout.groups.enumerated() {
        for store in 0..<group.geometry.storeCount {
          for head in 0..<group.geometry.headCount {
            let vector = (0..<group.geometry.headDimension).map { _ in
              Float.random(in: -4...4, using: &generator)
            }
            sequence.storeKey(
              vector.span, group: index, store: store, head: head, position: position)
            sequence.storeValue(
              vector.span, group: index, store: store, head: head, position: position)
          }
        }
      }
      // Other contents have other tokens, as in a real cache.
      sequence.advance([Int32(position) + 1_000 * Int32(seed)])
    }
    return sequence
  }

  private func images(_ sequence: CacheSequence) -> [UInt8] {
    var bytes: [UInt8] = []
    // Bytes have no padding.
    sequence.forEachPageImage { image in
      unsafe image.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    }
    return bytes
  }

  @Test(arguments: [0, 1, 4, 11, 40]) func whatIsWrittenComesBack(_ positions: Int) throws {
    let layout = Self.layout()
    let folder = try TemporaryFolder()
    let source = try filled(layout, positions: positions)
    try source.writeSnapshot(to: folder.file("a"), identity: identity)
    // Into another pool, over what is there.
    let target = try filled(layout, positions: 7, seed: 4)
    try target.restoreSnapshot(from: folder.file("a"), identity: identity)
    #expect(target.positionCount == positions && target.tokens == source.tokens)
    #expect(images(target) == images(source))
    #expect(target.usage == source.usage && target.pool.usage.held == source.usage)
    // Its beginning is a prefix of that pool now.
    #expect(
      target.pool.matchedPositions(source.tokens[...], identity: identity) == positions / 4 * 4)
    // The same content gives the same file.
    try target.writeSnapshot(to: folder.file("b"), identity: identity)
    #expect(
      try Data(contentsOf: folder.url("a")) == Data(contentsOf: folder.url("b")))
    try target.reserve(40 - positions)
  }

  /// Every length, and a bit of every byte, of a small file.
  @Test func damageIsRefusedAndChangesNothing() throws {
    let layout = Self.layout(heads: 1, dimension: 2, page: 2, window: 3)
    let folder = try TemporaryFolder()
    let path = folder.file("a")
    try filled(layout, positions: 5).writeSnapshot(to: path, identity: identity)
    let bytes = [UInt8](try Data(contentsOf: folder.url("a")))
    let target = try filled(layout, positions: 3, seed: 9)
    let before = (images(target), target.tokens, target.pool.usage)
    func expectRefusal(_ damaged: [UInt8], _ comment: Comment) throws {
      try Data(damaged).write(to: folder.url("a"))
      do throws(SnapshotError) {
        try target.restoreSnapshot(from: path, identity: identity)
        Issue.record("accepted: \(comment)")
      } catch {
        guard case .input(let error) = error else {
          Issue.record("\(error): \(comment)")
          return
        }
        #expect(error.file == path && error.offset != nil, comment)
      }
    }
    for end in bytes.indices { try expectRefusal(Array(bytes[..<end]), "\(end) bytes") }
    try expectRefusal(bytes + [0], "a byte more")
    // Every bit of the prologue, and one of every byte after it.
    for bit in 0..<(8 * bytes.count) where bit < 8 * 24 || bit % 8 == bit / 8 % 8 {
      var damaged = bytes
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      try expectRefusal(damaged, "bit \(bit)")
    }
    #expect(before.0 == images(target) && before.1 == target.tokens)
    #expect(before.2 == target.pool.usage)
    try target.reserve(1)
  }

  @Test func anotherModelOrLayoutIsNamed() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a")
    try filled(Self.layout(), positions: 6).writeSnapshot(to: path, identity: identity)
    let cases: [(CacheLayout, String, String, String)] = [
      (Self.layout(page: 8), "positions a page", "4", "8"),
      (Self.layout(heads: 1), "heads of group 0", "2", "1"),
      (Self.layout(dimension: 8), "head dimension of group 0", "6", "8"),
      (Self.layout(window: nil), "window of group 1", "9", "0"),
      (Self.layout(layers: 4), "layers", "3", "4"),
      (Self.layout(key: .s8), "key element of group 0", "“s8static”", "“s8”"),
      (Self.layout(value: .f16), "value element of group 0", "“u4g32”", "“f16”"),
      (Self.layout(scale: 0.25), "static scale 0 of group 0", "0.125", "0.25"),
      (
        CacheLayout(geometry: Self.layout().groups[0].geometry.withFloats), "groups", "2", "1"
      ),
    ]
    for (layout, what, found, expected) in cases {
      let target = try filled(layout, positions: 3)
      let before = images(target)
      #expect(
        throws: SnapshotError.differs(file: path, what: what, found: found, expected: expected)
      ) {
        try target.restoreSnapshot(from: path, identity: identity)
      }
      #expect(images(target) == before && target.positionCount == 3)
    }
    for (other, what) in [
      (PrefixIdentity(model: "m", adapter: "adapter"), "model"),
      (PrefixIdentity(model: "model"), "adapter"),
    ] {
      let target = CacheSequence(
        pool: try PagePool(layout: Self.layout(), byteBudget: 1 << 16), maximumPositions: 9)
      let error = #expect(throws: SnapshotError.self) {
        try target.restoreSnapshot(from: path, identity: other)
      }
      guard case .differs(_, what, _, _) = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
    }
  }

  @Test func withoutRoomNothingHappens() throws {
    let layout = Self.layout(window: nil)
    let folder = try TemporaryFolder()
    let path = folder.file("a")
    try filled(layout, positions: 13).writeSnapshot(to: path, identity: identity)
    // Too short a sequence.
    let short = CacheSequence(
      pool: try PagePool(layout: layout, byteBudget: 1 << 20), maximumPositions: 12)
    #expect(
      throws: SnapshotError.cache(.contextExceeded(limitPositions: 12, neededPositions: 13))
    ) { try short.restoreSnapshot(from: path, identity: identity) }
    // A pool whose other pages are held; what the sequence holds itself counts as room.
    let pool = try PagePool(layout: layout, byteBudget: 5 * layout.pageByteCount)
    let other = CacheSequence(pool: pool, maximumPositions: 40)
    try other.reserve(8)
    let target = try filled(layout, positions: 9, pool: pool)
    let before = images(target)
    #expect(
      throws: SnapshotError.cache(.full(limitPositions: 12, neededPositions: 13))
    ) { try target.restoreSnapshot(from: path, identity: identity) }
    #expect(images(target) == before && other.pageCount == 2)
    other.truncate(to: 0)
    try target.restoreSnapshot(from: path, identity: identity)
    #expect(target.positionCount == 13)
  }

  @Test func whatCannotBeReadOrWrittenSaysSo() throws {
    let sequence = try filled(Self.layout(), positions: 1)
    let missing = #expect(throws: SnapshotError.self) {
      try sequence.restoreSnapshot(from: "/nowhere/a", identity: identity)
    }
    #expect("\(missing.map(String.init(describing:)) ?? "")".contains("/nowhere/a: cannot open"))
    let unwritable = #expect(throws: SnapshotError.self) {
      try sequence.writeSnapshot(to: "/nowhere/a", identity: identity)
    }
    #expect("\(unwritable.map(String.init(describing:)) ?? "")".contains("/nowhere/a: cannot"))
  }
}

extension CacheGeometry {
  /// The same shape in floats.
  var withFloats: CacheGeometry {
    CacheGeometry(
      storeCount: storeCount, headCount: headCount, headDimension: headDimension,
      pagePositions: pagePositions, keyElement: .f32, valueElement: .f32)
  }
}
