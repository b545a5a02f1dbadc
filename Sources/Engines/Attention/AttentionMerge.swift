import QuantKernels

/// Puts together what the parts of one token's attention gave, on all threads of a pool.
@unsafe struct AttentionMerge: ThreadPoolWork {
  let run: AttentionRun

  func perform(part: Int, of partCount: Int, thread: Int) {
    let stage = unsafe run.stage
    let heads = stage.shape.keyValueHeadCount
    let share = ThreadPool.share(
      of: stage.segmentCount * heads, part: part, partCount: partCount)
    for slot in share {
      let segment = stage.segment(slot / heads)
      let parts = unsafe stage.partCount(segment, run.place)
      guard parts > 1 else { continue }
      unsafe merge(slot: slot, row: segment.row, parts: parts, room: stage.work.room(thread))
    }
  }

  /// output = Σ e^(m_p − M) · attended_p / Σ e^(m_p − M) · sum_p over the parts p, M the largest m_p.
  private func merge(slot: Int, row: Int, parts: Int, room: AttentionRoom) {
    let stage = unsafe run.stage
    let shape = stage.shape
    let (rows, dimension) = (shape.groupHeadCount, shape.headDimension)
    let capacity = AttentionShape.partCapacity
    let partials = unsafe stage.work.partials(slot: slot)
    for index in 0..<rows {
      // A tile has room for at least as many rows as heads share a key/value head.
      unsafe room.begins[index] = 0
      unsafe room.ends[index] = Int32(parts)
      unsafe room.maxima[index] = -.infinity
      unsafe room.sums[index] = 0
    }
    // The maxima become weights where they stand.
    unsafe stage.vectors.softmax(
      block: partials.maxima, stride: capacity, rows: rows, columns: parts, begins: room.begins,
      ends: room.ends, maxima: room.maxima, sums: room.sums, decays: room.decays)
    for index in 0..<rows {
      let weights = unsafe partials.maxima + index * capacity
      let sums = unsafe partials.sums + index * capacity
      var sum: Float = 0
      for part in 0..<parts { unsafe sum += weights[part] * sums[part] }
      let factor = sum == 0 ? 0 : 1 / sum
      for part in 0..<parts { unsafe weights[part] *= factor }
      let head = slot % shape.keyValueHeadCount * rows + index
      // One row of the step's results, and of each part's sums.
      unsafe stage.vectors.panelProduct(
        a: weights, aStride: parts, b: partials.attended + index * dimension,
        bStride: rows * dimension, of: .f32,
        c: run.output + row * shape.rowStride + head * dimension, cStride: dimension, rows: 1,
        columns: dimension, depth: parts)
    }
  }
}
