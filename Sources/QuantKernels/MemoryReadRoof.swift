import CKernels
import CPlatform
import TensorCore

/// How fast this machine reads memory: the roof that decode rates are held against.
extension ThreadPool {
  /// Bytes a second that the pool's threads read together from a block larger than the caches.
  ///
  /// The best of `passes` passes, each thread over a contiguous part, as the weights are read. The
  /// block is freed before the return. Costs the first touch of the block and `passes` reads of it:
  /// some 0.1 s with the defaults.
  package func measureReadBandwidth(byteCount: Int = 192 << 20, passes: Int = 7) -> Double {
    precondition(byteCount >= 1 << 20 && passes > 0, "nothing to read")
    let storage = AlignedStorage(byteCount: byteCount, prefersHugePages: true)
    let lineCount = byteCount / 64
    let base = unsafe storage.baseAddress
    // Untouched pages all map to one page of zeros: every one is written first.
    runRanges(lineCount) { lines, _ in
      for line in lines {
        unsafe base.storeBytes(of: UInt64(line), toByteOffset: line * 64, as: UInt64.self)
      }
    }
    var best = Double.infinity
    for _ in 0..<passes {
      let start = ContinuousClock.now
      runRanges(lineCount) { lines, _ in
        // Lines lie inside the block. Storing the sum in the first of them is a use that the
        // optimiser has to keep.
        let first = unsafe base + lines.lowerBound * 64
        let sum = unsafe Self.sum(first, lineCount: lines.count)
        unsafe cp_store(
          first.assumingMemoryBound(to: UInt32.self), UInt32(truncatingIfNeeded: sum))
      }
      let elapsed = (ContinuousClock.now - start).components
      best = min(best, Double(elapsed.seconds) + Double(elapsed.attoseconds) * 1e-18)
    }
    return Double(lineCount * 64) / best
  }

  /// Reads whole cache lines through four independent sums.
  @unsafe private static func sum(_ start: UnsafeRawPointer, lineCount: Int) -> UInt64 {
    var a = SIMD2<UInt64>(), b = a, c = a, d = a
    var line = unsafe start
    let end = unsafe start + lineCount * 64
    while unsafe line < end {
      // Far enough ahead for memory, as the kernels do it; a prefetch may leave the block.
      unsafe ck_prefetch(line + 8192)
      // Four vectors of one line, inside lineCount lines.
      unsafe a &+= line.load(as: SIMD2<UInt64>.self)
      unsafe b &+= line.load(fromByteOffset: 16, as: SIMD2<UInt64>.self)
      unsafe c &+= line.load(fromByteOffset: 32, as: SIMD2<UInt64>.self)
      unsafe d &+= line.load(fromByteOffset: 48, as: SIMD2<UInt64>.self)
      unsafe line += 64
    }
    return (a &+ b &+ c &+ d).wrappedSum()
  }
}
