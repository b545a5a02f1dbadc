import KVCache
import QuantKernels

/// Puts keys and values into a cache, in its elements.
@safe package struct CacheVectorWriter {
  private let vectors: VectorKernels
  // The caller's, `scratchByteCount` bytes.
  private let scratch: UnsafeMutableRawPointer

  /// With scratch of a thread's own.
  @unsafe package init(_ vectors: VectorKernels, scratch: UnsafeMutableRawPointer) {
    self.vectors = vectors
    unsafe self.scratch = scratch
  }

  /// Bytes of scratch for heads of that many elements: floats, or codes with scales and minimums.
  package static func scratchByteCount(headDimension: Int) -> Int {
    (headDimension * 4 + 127) & ~63
  }

  /// Writes the heads of one key and one value into a reserved position: [heads][headDimension] each.
  @unsafe package func store(
    key: UnsafePointer<Float>, value: UnsafePointer<Float>, into sequence: CacheSequence,
    _ place: StorePlace, position: Int
  ) {
    let group = sequence.pool.layout.groups[place.group]
    let geometry = group.geometry
    let dimension = geometry.headDimension
    for head in 0..<geometry.headCount {
      // Heads lie inside the caller's rows; the scratch holds one vector.
      let keyScale = unsafe convert(
        key + head * dimension, to: geometry.keyElement, count: dimension,
        scale: group.staticScales?.keys[place.store] ?? 1)
      unsafe sequence.storeKey(
        group: place.group, store: place.store, head: head, position: position,
        elements: scratch, scale: keyScale)
      if geometry.keyElement == .u4g32 {
        unsafe storeGroupScales(
          headPage(sequence, place, head, position).keyGroupScales, geometry, position)
      }
      let valueScale = unsafe convert(
        value + head * dimension, to: geometry.valueElement, count: dimension,
        scale: group.staticScales?.values[place.store] ?? 1)
      unsafe sequence.storeValue(
        group: place.group, store: place.store, head: head, position: position,
        elements: scratch, scale: valueScale)
      if geometry.valueElement == .u4g32 {
        unsafe storeGroupScales(
          headPage(sequence, place, head, position).valueGroupScales, geometry, position)
      }
    }
  }

  @unsafe private func headPage(
    _ sequence: CacheSequence, _ place: StorePlace, _ head: Int, _ position: Int
  ) -> CacheSequence.HeadPage {
    // The position is reserved.
    unsafe sequence.headPage(
      group: place.group, store: place.store, head: head,
      page: position / sequence.pool.layout.pagePositions)
  }

  /// Where the scales of 4-bit codes stand in the scratch: behind the codes and what is written there.
  @unsafe private func groupScales(_ count: Int) -> UnsafeMutablePointer<UInt16> {
    // [2 · groups], inside of the scratch.
    unsafe (scratch + ((count / 2 + 31) & ~15)).assumingMemoryBound(to: UInt16.self)
  }

  /// A vector in the cache's element, in the scratch; returns the scale of `s8`, else 1.
  @unsafe private func convert(
    _ values: UnsafePointer<Float>, to element: CacheElement, count: Int, scale: Float
  ) -> Float {
    // The scratch has room for `count` elements of four bytes, and for 4-bit codes with their scales.
    switch element {
    case .f32: unsafe scratch.copyMemory(from: values, byteCount: count * 4)
    case .f16: unsafe vectors.convert(values, toF16: scratch, count: count)
    case .s8:
      return unsafe vectors.quantize(
        values, toS8: scratch.assumingMemoryBound(to: Int8.self), count: count)
    case .s8Static:
      unsafe vectors.quantize(values, toCacheS8: scratch, count: count, scale: scale)
    case .u4g32:
      let scales = unsafe groupScales(count)
      let groups = (count + CacheElement.groupElementCount - 1) / CacheElement.groupElementCount
      unsafe vectors.quantize(
        values, toCacheU4: scratch, scales: scales, minimums: scales + groups, count: count)
    }
    return 1
  }

  /// Copies the scales and minimums of a vector to their places in a plane of the page.
  @unsafe private func storeGroupScales(
    _ plane: UnsafeMutablePointer<Float16>?, _ geometry: CacheGeometry, _ position: Int
  ) {
    guard let plane = unsafe plane else { return }
    let scales = unsafe groupScales(geometry.headDimension)
    for index in 0..<2 * geometry.elementGroupCount {
      // [2 · groups][pagePositions].
      unsafe plane[index * geometry.pagePositions + position % geometry.pagePositions] =
        unsafe Float16(bitPattern: scales[index])
    }
  }
}
