/// One key or value of one head: where its elements stand, and what they mean.
///
/// The scalar reference of how vectors are stored; kernels write the same bytes faster. A *cell* is
/// what a vector consists of in a page: an element or, of 4-bit codes, two.
@unsafe struct HeadVector {
  let element: CacheElement
  /// Elements of the vector.
  let count: Int
  /// Its first cell; the next one is `stride` bytes further, or the next two where cells of a byte
  /// stand in pairs.
  let cells: UnsafeMutableRawPointer
  let stride: Int
  let isPaired: Bool
  /// The scale plane of the head; the vector is number `index` of `pagePositions` in it.
  let scalePlane: UnsafeMutableRawPointer
  let index: Int
  let pagePositions: Int
  /// The scale of `s8static`.
  let staticScale: Float

  /// Writes cells that are in the cache's element already, and the scale of `s8`.
  @inline(__always)
  func storeCells(_ source: UnsafeRawPointer, scale: Float) {
    // Both sides hold `count` elements; this one's are `stride` bytes apart.
    switch unsafe element {
    case .f32: unsafe scatter(source, as: UInt32.self, count: count)
    case .f16: unsafe scatter(source, as: UInt16.self, count: count)
    case .s8:
      unsafe scatterCodes(source)
      unsafe scales[index] = scale
    case .s8Static: unsafe scatterCodes(source)
    case .u4g32: unsafe scatter(source, as: UInt8.self, count: count / 2)
    }
  }

  @inline(__always)
  private func scatter<Cell: BitwiseCopyable>(
    _ source: UnsafeRawPointer, as type: Cell.Type, count: Int
  ) {
    let size = MemoryLayout<Cell>.size
    if unsafe stride == size {
      // Contiguous, as values are.
      unsafe cells.copyMemory(from: source, byteCount: count * size)
      return
    }
    let (cells, stride) = unsafe (cells, stride)
    for index in 0..<count {
      let cell = unsafe source.loadUnaligned(fromByteOffset: index * size, as: type)
      unsafe cells.storeBytes(of: cell, toByteOffset: index * stride, as: type)
    }
  }

  @inline(__always)
  private func scatterCodes(_ source: UnsafeRawPointer) {
    guard unsafe isPaired else {
      unsafe scatter(source, as: UInt8.self, count: count)
      return
    }
    unsafe scatter(source, as: UInt16.self, count: count / 2)
    if unsafe count % 2 == 1 {
      unsafe put(source.load(fromByteOffset: count - 1, as: UInt8.self), count - 1)
    }
  }

  /// Quantizes and writes `count` values.
  func store(_ values: Span<Float>) {
    precondition(unsafe values.count == count, "a vector has headDimension elements")
    // Cells and scales of this vector alone are written.
    switch unsafe element {
    case .f32:
      for index in values.indices { unsafe put(values[index], index) }
    case .f16:
      for index in values.indices { unsafe put(Float16(values[index]), index) }
    case .s8:
      let scale = unsafe largestMagnitude(values) / 127
      unsafe scales[self.index] = scale
      for index in values.indices { unsafe put(code(values[index], scale: scale), index) }
    case .s8Static:
      for index in values.indices {
        unsafe put(code(values[index], scale: staticScale), index)
      }
    case .u4g32:
      for group in 0..<CacheElement.groupCount(headDimension: values.count) {
        unsafe storeGroup(group, of: values)
      }
    }
  }

  /// Dequantizes `count` values.
  func load(into values: inout MutableSpan<Float>) {
    precondition(unsafe values.count == count, "a vector has headDimension elements")
    // Cells and scales of this vector alone are read.
    for index in values.indices {
      switch unsafe element {
      case .f32: values[index] = unsafe get(Float.self, index)
      case .f16: values[index] = Float(unsafe get(Float16.self, index))
      case .s8: values[index] = unsafe Float(get(Int8.self, index)) * scales[self.index]
      case .s8Static: values[index] = unsafe Float(get(Int8.self, index)) * staticScale
      case .u4g32:
        let pair = unsafe get(UInt8.self, index / 2)
        let code = index % 2 == 0 ? pair & 15 : pair >> 4
        let group = index / CacheElement.groupElementCount
        let product = unsafe Float(code) * Float(groupScale(group).pointee)
        values[index] = unsafe Float(groupMinimum(group).pointee) + product
      }
    }
  }

  // MARK: - 8-bit

  private var scales: UnsafeMutablePointer<Float> {
    unsafe scalePlane.assumingMemoryBound(to: Float.self)
  }

  /// The largest magnitude; values that are not finite are left out.
  private func largestMagnitude(_ values: Span<Float>) -> Float {
    var largest: Float = 0
    for index in values.indices where values[index].isFinite {
      largest = max(largest, abs(values[index]))
    }
    return largest
  }

  /// The nearest code, ties to even; 0 where there is none.
  private func code(_ value: Float, scale: Float) -> Int8 {
    let quotient = (value / scale).rounded(.toNearestOrEven)
    if quotient.isNaN { return 0 }
    return Int8(max(-127, min(127, quotient)))
  }

  // MARK: - 4-bit

  private func groupScale(_ group: Int) -> UnsafeMutablePointer<Float16> {
    // [group][pagePositions].
    unsafe scalePlane.assumingMemoryBound(to: Float16.self) + group * pagePositions + index
  }

  private func groupMinimum(_ group: Int) -> UnsafeMutablePointer<Float16> {
    // As many entries after the scales of all groups.
    unsafe groupScale(group + CacheElement.groupCount(headDimension: count))
  }

  /// Scale and minimum cover the group; both are rounded to binary16 before codes are chosen.
  private func storeGroup(_ group: Int, of values: Span<Float>) {
    let start = group * CacheElement.groupElementCount
    let end = min(values.count, start + CacheElement.groupElementCount)
    let limit = Float(Float16.greatestFiniteMagnitude)
    func clamped(_ value: Float) -> Float { value.isNaN ? 0 : max(-limit, min(limit, value)) }
    var smallest = clamped(values[start])
    var largest = smallest
    for index in start..<end {
      smallest = min(smallest, clamped(values[index]))
      largest = max(largest, clamped(values[index]))
    }
    var minimum = Float16(smallest)
    if Float(minimum) > smallest { minimum = minimum.nextDown }
    let scale = Float16((largest - Float(minimum)) / 15)
    unsafe groupScale(group).pointee = scale
    unsafe groupMinimum(group).pointee = minimum
    func code(_ index: Int) -> UInt8 {
      let quotient = ((clamped(values[index]) - Float(minimum)) / Float(scale))
        .rounded(.toNearestOrEven)
      return quotient.isNaN ? 0 : UInt8(max(0, min(15, quotient)))
    }
    // Groups begin at even elements, and a head has an even number of them.
    for index in Swift.stride(from: start, to: end, by: 2) {
      unsafe put(code(index) | code(index + 1) << 4, index / 2)
    }
  }

  // MARK: - Cells

  /// The bytes before a cell.
  @inline(__always)
  private func offset(_ index: Int) -> Int {
    unsafe isPaired ? (index >> 1) * stride + (index & 1) : index * stride
  }

  @inline(__always)
  private func put<Cell: BitwiseCopyable>(_ cell: Cell, _ index: Int) {
    unsafe cells.storeBytes(of: cell, toByteOffset: offset(index), as: Cell.self)
  }

  @inline(__always)
  private func get<Cell: BitwiseCopyable>(_ type: Cell.Type, _ index: Int) -> Cell {
    unsafe cells.loadUnaligned(fromByteOffset: offset(index), as: type)
  }
}
