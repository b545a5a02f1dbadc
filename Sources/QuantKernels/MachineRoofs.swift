import CKernels
import CPlatform
import KernelContract
import TensorCore

/// What this machine can do at most, by the widest instructions that it has: the roofs that kernels
/// are held against, whatever level they are written for.
package struct MachineRoofs: Sendable {
  private let features: CPUFeatures

  package init() { features = CPUFeatures.detect() }

  /// The widest level whose instructions read and multiply here.
  private var level: InstructionSet {
    InstructionSet.available(on: features).max() ?? .portable
  }

  /// Bytes a second that a pool's threads read together, each its contiguous part of the block.
  ///
  /// From memory where the block is larger than the caches, from a cache where a part of it fits
  /// there and `passCount` is large.
  package func readRate(
    _ block: borrowing ReadBlock, passCount: Int = 1, pool: ThreadPool
  ) -> Double {
    let lineCount = block.lineCount
    let base = unsafe block.base
    let level = level
    let start = cp_monotonic_nanoseconds()
    pool.run { index, count in
      let lines = ThreadPool.share(of: lineCount, part: index, partCount: count)
      guard !lines.isEmpty else { return }
      var sum: UInt64 = 0
      for _ in 0..<passCount {
        // Lines lie inside the block.
        unsafe sum &+= Self.read(base + lines.lowerBound * 64, lineCount: lines.count, level)
      }
      // A use that the optimiser has to keep; the first line of a part is no other thread's.
      unsafe (base + lines.lowerBound * 64).storeBytes(of: sum, as: UInt64.self)
    }
    return Double(passCount * lineCount * 64) / Self.seconds(since: start)
  }

  /// 8-bit multiplications and additions a second on all threads; nil where no level has them.
  package func int8Rate(stepCount: Int = 400_000, pool: ThreadPool) -> Double? {
    #if arch(x86_64)
      switch level {
      case .portable: return nil
      case .avx2:
        return unsafe rate(Int(CK_PEAK_CHAINS_AVX2) * 64, stepCount, pool) {
          unsafe ck_peak_int8_avx2($0, $1)
        }
      case .avx2vnni:
        return unsafe rate(Int(CK_PEAK_CHAINS_AVX2) * 64, stepCount, pool) {
          unsafe ck_peak_int8_avx2vnni($0, $1)
        }
      case .avx512vnni:
        return unsafe rate(Int(CK_PEAK_CHAINS_AVX512) * 128, stepCount, pool) {
          unsafe ck_peak_int8_avx512($0, $1)
        }
      }
    #else
      return nil
    #endif
  }

  /// binary32 multiplications and additions a second on all threads; nil where no level has them.
  package func floatRate(stepCount: Int = 400_000, pool: ThreadPool) -> Double? {
    #if arch(x86_64)
      switch level {
      case .portable: return nil
      case .avx2, .avx2vnni:
        return unsafe rate(Int(CK_PEAK_CHAINS_AVX2) * 16, stepCount, pool) {
          unsafe ck_peak_float_avx2($0, $1)
        }
      case .avx512vnni:
        return unsafe rate(Int(CK_PEAK_CHAINS_AVX512) * 32, stepCount, pool) {
          unsafe ck_peak_float_avx512($0, $1)
        }
      }
    #else
      return nil
    #endif
  }

  /// `body` does so many steps, and has 64 bytes to write to.
  @unsafe private func rate(
    _ operationsPerStep: Int, _ stepCount: Int, _ pool: ThreadPool,
    _ body: (Int, UnsafeMutableRawPointer) -> Void
  ) -> Double {
    let start = cp_monotonic_nanoseconds()
    pool.run { _, _ in
      // Room for the widest vector.
      unsafe withUnsafeTemporaryAllocation(byteCount: 64, alignment: 64) { sink in
        if let base = sink.baseAddress { unsafe body(stepCount, base) }
      }
    }
    return Double(operationsPerStep * stepCount * pool.threadCount) / Self.seconds(since: start)
  }

  @unsafe private static func read(
    _ start: UnsafeRawPointer, lineCount: Int, _ level: InstructionSet
  ) -> UInt64 {
    #if arch(x86_64)
      switch level {
      case .portable: unsafe ck_read_portable(start, lineCount)
      case .avx2, .avx2vnni: unsafe ck_read_avx2(start, lineCount)
      case .avx512vnni: unsafe ck_read_avx512(start, lineCount)
      }
    #else
      unsafe ck_read_portable(start, lineCount)
    #endif
  }

  private static func seconds(since start: UInt64) -> Double {
    Double(max(1, cp_monotonic_nanoseconds() &- start)) * 1e-9
  }
}

/// Memory to measure read rates over. Every page has been written: untouched ones would all be one
/// page of zeros.
package struct ReadBlock: ~Copyable {
  private let storage: AlignedStorage

  /// Takes and touches the memory, half a second a gigabyte where the system has it at hand.
  package init(byteCount: Int, pool: ThreadPool) {
    precondition(byteCount >= 64, "nothing to read")
    storage = AlignedStorage(byteCount: byteCount, prefersHugePages: true)
    let base = unsafe storage.baseAddress
    pool.runRanges(byteCount / 64) { lines, _ in
      for line in lines {
        // Inside the block; each part writes lines of its own.
        unsafe base.storeBytes(of: UInt64(line), toByteOffset: line * 64, as: UInt64.self)
      }
    }
  }

  /// Whole cache lines.
  package var lineCount: Int { storage.byteCount / 64 }

  /// The first line, valid as long as the block.
  @unsafe package var base: UnsafeMutableRawPointer { unsafe storage.baseAddress }
}
