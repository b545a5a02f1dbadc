import CacheSnapshots
import Files
import KVCache
import TensorCore
import Workloads

extension FuzzTarget {
  /// A snapshot of a cache, with digests that are right whatever the fuzzer did to the rest: restored, or
  /// refused with the sequence as it was. Either way the sequence goes on.
  static let snapshot = FuzzTarget(name: "snapshot", heap: (1 << 20, 64)) { input in
    var bytes = input
    SnapshotSeal.seal(&bytes)
    reading(bytes, in: snapshotFile) { path throws(InputError) in
      guard let pool = try? PagePool(layout: snapshotLayout, byteBudget: 1 << 16) else {
        fatalError("the budget holds pages")
      }
      let identity = PrefixIdentity(model: "m", adapter: "a")
      let sequence = CacheSequence(pool: pool, maximumPositions: 100, identity: identity)
      grow(sequence, by: 3)
      var refusal: InputError?
      do throws(SnapshotError) {
        try sequence.restoreSnapshot(from: path, identity: identity)
      } catch {
        promise(!error.description.utf8.contains(0x0A), "two lines: \(error)")
        promise(sequence.positionCount == 3 && sequence.tokens == [0, 1, 2], "after \(error)")
        if case .input(let fault) = error { refusal = fault }
        promise(!isStrict, "refused: \(error)")
      }
      promise(sequence.usage.usedBytes <= pool.allocatedBytes, "used beyond what is held")
      grow(sequence, by: 1)
      if let refusal { throw refusal }
    }
  }

  /// A request trace in either format: requests in order, and everything that is made of them.
  static let workload = FuzzTarget(name: "workload", heap: (2 << 20, 512)) { bytes in
    checking(bytes, name: "trace") { name throws(InputError) in
      let workload = try Workload(bytes, file: name)
      promise(!workload.requests.isEmpty, "no request")
      var last: Int64 = 0
      for request in workload.requests {
        promise(request.arrivalNanoseconds >= last, "arrivals that go back")
        promise(request.inputCount >= 1 && request.outputCount >= 0, "counts")
        last = request.arrivalNanoseconds
      }
      promise(WorkloadSummary(workload).requestCount == workload.requests.count, "summary")
      // Half of a time is a time.
      let halved = try? workload.scaled(byTime: 0.5)
      promise(halved?.requests.count == workload.requests.count, "scaled")
      if let short = workload.shortened(by: 16) {
        promise(short.requests.allSatisfy { $0.inputCount >= 1 }, "shortened to nothing")
      }
    }
  }
}

private let snapshotFile = MemoryFile()

/// Two groups, one with a window; every kind of scale.
private let snapshotLayout = CacheLayout(
  groups: [
    CacheGroup(
      geometry: CacheGeometry(
        storeCount: 2, headCount: 1, headDimension: 4, pagePositions: 16, keyElement: .s8,
        valueElement: .u4g32)),
    CacheGroup(
      geometry: CacheGeometry(
        storeCount: 1, headCount: 1, headDimension: 4, pagePositions: 16, keyElement: .f16,
        valueElement: .s8Static), window: 20,
      staticScales: StaticScales(keys: [1], values: [0.5])),
  ],
  layers: [
    StorePlace(group: 0, store: 0), StorePlace(group: 1, store: 0), StorePlace(group: 0, store: 1),
  ])

/// Some more positions, where there is room, their keys and values written.
private func grow(_ sequence: CacheSequence, by count: Int) {
  let first = sequence.positionCount
  do throws(CacheError) { try sequence.reserve(count) } catch { return }
  let vector: [Float] = [1, -2, 3, 0.5]
  for position in first..<first + count {
    for place in snapshotLayout.layers {
      sequence.storeKey(
        vector.span, group: place.group, store: place.store, head: 0, position: position)
      sequence.storeValue(
        vector.span, group: place.group, store: place.store, head: 0, position: position)
    }
  }
  sequence.advance((first..<first + count).map { Int32($0) }[...])
}

/// Makes the digests of a snapshot right after the fuzzer has changed it.
private enum SnapshotSeal {
  static func seal(_ bytes: inout [UInt8]) {
    guard bytes.count >= 24 else { return }
    let headerCount = Int(bytes.integer(12, width: 4))
    guard headerCount >= 8, headerCount <= bytes.count - 24 else { return }
    let frame = 24 + headerCount
    // The header ends with the frame's byte count and digest.
    bytes.set(frame - 8, XXH64.hash(Array(bytes[frame...])), width: 8)
    bytes.set(16, XXH64.hash(Array(bytes[..<16]) + Array(bytes[24..<frame])), width: 8)
  }
}
