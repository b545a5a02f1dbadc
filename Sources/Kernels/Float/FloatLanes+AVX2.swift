import CKernels

#if arch(x86_64)
  /// The lanes of level `avx2`: two 256-bit registers.
  ///
  /// Each primitive gets vectors by pointer to locals of its caller, valid for the call and not
  /// kept, and memory pointers under the contract of the kernel that calls it.
  enum AVX2Floats: FloatLanes {
    @inline(__always) static var panelVectorCount: Int { 1 }

    @inline(__always)
    static func multiplyAdd(_ sum: Lanes, _ a: Lanes, _ b: Lanes) -> Lanes {
      var sum = sum
      var a = a
      var b = b
      unsafe ckf_fma_avx2(&sum, &a, &b)
      return sum
    }

    @inline(__always)
    static func squareRoot(_ value: Float) -> Float { ckf_sqrt_avx2(value) }

    @inline(__always)
    static func maximum(_ a: Lanes, _ b: Lanes) -> Lanes {
      var a = a
      var b = b
      unsafe ckf_max_avx2(&b, &a)
      return b
    }

    @inline(__always)
    static func minimum(_ a: Lanes, _ b: Lanes) -> Lanes {
      var a = a
      var b = b
      unsafe ckf_min_avx2(&b, &a)
      return b
    }

    @inline(__always)
    static func zero(_ v: Lanes, where x: Lanes, isBelow threshold: Float) -> Lanes {
      var v = v
      var x = x
      unsafe ckf_zero_below_avx2(&v, &x, threshold)
      return v
    }

    @inline(__always)
    static func equal(_ v: Lanes, _ value: Float) -> UInt32 {
      var v = v
      return unsafe ckf_equal_avx2(&v, value)
    }

    @inline(__always)
    static func above(_ v: Lanes, _ value: Float) -> UInt32 {
      var v = v
      return unsafe ckf_above_avx2(&v, value)
    }

    @inline(__always)
    static func unordered(_ v: Lanes) -> UInt32 {
      var v = v
      return unsafe ckf_unordered_avx2(&v)
    }

    @inline(__always)
    static func loadF32Part(_ source: UnsafeRawPointer, _ count: Int) -> Lanes {
      var v = Lanes.zero
      unsafe ckf_load_part_avx2(&v, source, count)
      return v
    }

    @inline(__always)
    static func storeF32Part(_ target: UnsafeMutableRawPointer, _ v: Lanes, _ count: Int) {
      var v = v
      unsafe ckf_store_part_avx2(target, &v, count)
    }

    @inline(__always)
    static func loadF16(_ source: UnsafeRawPointer) -> Lanes {
      var v = Lanes.zero
      unsafe ckf_load_f16_avx2(&v, source)
      return v
    }

    @inline(__always)
    static func loadF16Part(_ source: UnsafeRawPointer, _ count: Int) -> Lanes {
      var v = Lanes.zero
      unsafe ckf_load_part_f16_avx2(&v, source, count)
      return v
    }

    @inline(__always)
    static func storeF16(_ target: UnsafeMutableRawPointer, _ v: Lanes) {
      var v = v
      unsafe ckf_store_f16_avx2(target, &v)
    }

    @inline(__always)
    static func storeF16Part(_ target: UnsafeMutableRawPointer, _ v: Lanes, _ count: Int) {
      var v = v
      unsafe ckf_store_part_f16_avx2(target, &v, count)
    }

    @inline(__always)
    static func storeS8Part(_ target: UnsafeMutableRawPointer, _ v: Lanes, _ count: Int) {
      var v = v
      unsafe ckf_store_part_s8_avx2(target, &v, count)
    }

    @inline(__always)
    static func storeS16Part(_ target: UnsafeMutableRawPointer, _ v: Lanes, _ count: Int) {
      var v = v
      unsafe ckf_store_part_s16_avx2(target, &v, count)
    }
  }
#endif
