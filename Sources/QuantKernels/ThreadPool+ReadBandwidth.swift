/// How fast this machine reads memory: the roof that decode rates are held against.
extension ThreadPool {
  /// Bytes a second that the pool's threads read together from a block larger than the caches.
  ///
  /// The best of `passes` passes, each thread over a contiguous part, as the weights are read. The
  /// block is freed before the return. Costs the first touch of the block and `passes` reads of it:
  /// some 0.1 s with the defaults.
  package func measureReadBandwidth(byteCount: Int = 192 << 20, passes: Int = 7) -> Double {
    precondition(byteCount >= 1 << 20 && passes > 0, "nothing to read")
    let block = ReadBlock(byteCount: byteCount, pool: self)
    let roofs = MachineRoofs()
    var best = 0.0
    for _ in 0..<passes { best = max(best, roofs.readRate(block, pool: self)) }
    return best
  }
}
