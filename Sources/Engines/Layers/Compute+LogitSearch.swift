import EngineInterface

/// The searches of the sampler, by the selected kernels.
extension Compute: LogitSearch {
  func largest(_ logits: Span<Float>) -> Int? {
    unsafe logits.withUnsafeBufferPointer { values in
      // Without a value there is none to find.
      guard let base = values.baseAddress, !values.isEmpty else { return nil }
      return unsafe vectors.argMax(base, count: values.count)
    }
  }

  func findLargest(
    _ logits: Span<Float>, keys: inout [UInt64], places: inout [Int32]
  ) {
    precondition(keys.count == places.count, "working memory of another size")
    unsafe logits.withUnsafeBufferPointer { values in
      unsafe keys.withUnsafeMutableBufferPointer { keys in
        unsafe places.withUnsafeMutableBufferPointer { places in
          // Room for places.count numbers each; a search for none has nothing to do.
          guard let base = values.baseAddress, let room = keys.baseAddress,
            let output = places.baseAddress
          else { return }
          let hasNumbers = unsafe vectors.topK(
            base, count: values.count, k: places.count, keys: room, indices: output)
          precondition(hasNumbers, "a search among values of which one is NaN")
        }
      }
    }
  }
}
