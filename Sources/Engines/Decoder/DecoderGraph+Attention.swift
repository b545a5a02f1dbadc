import Foundation
import KVCache
import KernelContract
import QuantKernels

/// Rotation, cache writes and attention of a step.
extension DecoderGraph {
  /// Cosines and sines of the rows' positions (Su et al. 2021), shared by all layers.
  ///
  /// Angles are computed in double precision: at large positions float32 would lose digits.
  func computeRotations() {
    let half = engine.header.ropeDimension / 2
    for row in 0..<rowCount {
      // Row `row` of tables with `half` columns and room for a step's rows.
      let position = unsafe Double(work.rowPlaces[row].position)
      for index in 0..<half {
        let angle = position * engine.rotationFrequencies[index]
        unsafe work.cosines[row * half + index] = Float(cos(angle))
        unsafe work.sines[row * half + index] = Float(sin(angle))
      }
    }
  }

  /// Turns and normalises the heads of queries and keys, and puts keys and values into the cache,
  /// row by row.
  func finishHeads(_ layer: DecoderLayer) {
    engine.compute.run(HeadWork(graph: self, layer: layer), rows: rowCount)
  }

  /// `finishHeads` on all threads of a pool.
  @safe private struct HeadWork: RowWork {
    // It outlives the run, and threads that copy the work retain nothing.
    unowned(unsafe) let graph: DecoderGraph
    let layer: DecoderLayer

    init(graph: DecoderGraph, layer: DecoderLayer) {
      unsafe self.graph = graph
      self.layer = layer
    }

    func perform(row: Int, thread: Int) {
      unsafe graph.finishHeads(layer, row: row, room: thread)
    }
  }

  private func finishHeads(_ layer: DecoderLayer, row: Int, room: Int) {
    let header = engine.header
    let queries = header.queryHeadCount * header.headDimension
    let keys = header.keyValueHeadCount * header.headDimension
    // Rows of the step's queries, and behind all of those of its keys and then its values.
    let query = unsafe work.projections + row * queries
    unsafe turn(query, heads: header.queryHeadCount, norm: layer.queryNorm, row: row)
    guard layer.makesKeysAndValues else { return }
    let key = unsafe work.projections + rowCount * queries + row * keys
    let place = unsafe work.rowPlaces[row]
    unsafe turn(key, heads: header.keyValueHeadCount, norm: layer.keyNorm, row: row)
    // One head's elements of scratch a thread.
    let writer = unsafe CacheVectorWriter(
      engine.compute.vectors, scratch: work.elements + room * work.elementStride)
    unsafe writer.store(
      key: key, value: key + rowCount * keys, into: segments[Int(place.segment)].sequence,
      StorePlace(group: 0, store: layer.store), position: Int(place.position))
  }

  /// Rotates the heads of a row of the step in place and normalises them, in the model's order.
  @unsafe private func turn(
    _ place: UnsafeMutablePointer<Float>, heads: Int, norm: FloatVector?, row: Int
  ) {
    let header = engine.header
    let half = header.ropeDimension / 2
    // The caller's row has that many heads, of which ropeDimension elements turn; a norm has as many
    // gains as a head has elements.
    if header.headNorm == .beforeRope { unsafe normalizeHeads(place, heads: heads, gains: norm) }
    unsafe engine.compute.vectors.rope(
      place, cosines: work.cosines + row * half, sines: work.sines + row * half,
      pairCount: half, headCount: heads, headStride: header.headDimension,
      pairing: header.ropePairing == .adjacent ? .adjacent : .halves)
    if header.headNorm == .afterRope { unsafe normalizeHeads(place, heads: heads, gains: norm) }
  }

  /// RMSNorm of every head of a row in place, where there are gains.
  @unsafe private func normalizeHeads(
    _ place: UnsafeMutablePointer<Float>, heads: Int, gains: FloatVector?
  ) {
    guard let gains else { return }
    let dimension = engine.header.headDimension
    // Heads of `dimension` elements inside the row, as many as there are gains.
    unsafe engine.compute.vectors.rmsNorm(
      heads: place, count: heads, stride: dimension, dimension: dimension,
      weight: gains.baseAddress, epsilon: Float(engine.header.normEpsilon))
  }

  /// Causal attention of every row over what is stored of its sequence, the step's rows included.
  func attend(_ layer: DecoderLayer) {
    // Queries and results of the step's rows.
    unsafe attentionStage.attend(
      StorePlace(group: 0, store: layer.store), queries: work.projections, output: work.attended)
  }
}
