import CKernels

#if arch(x86_64)
  /// The lanes of level `avx512vnni`: one 512-bit register.
  ///
  /// Each primitive gets vectors by pointer to locals of its caller, valid for the call and not
  /// kept, and memory pointers under the contract of the kernel that calls it.
  enum AVX512Floats: FloatLanes {
    @inline(__always) static var panelVectorCount: Int { 2 }

    @inline(__always)
    static func multiplyAdd(_ sum: Lanes, _ a: Lanes, _ b: Lanes) -> Lanes {
      var sum = sum
      var a = a
      var b = b
      unsafe ckf_fma_avx512vnni(&sum, &a, &b)
      return sum
    }

    @inline(__always)
    static func squareRoot(_ value: Float) -> Float { ckf_sqrt_avx512vnni(value) }

    @inline(__always)
    static func maximum(_ a: Lanes, _ b: Lanes) -> Lanes {
      var a = a
      var b = b
      unsafe ckf_max_avx512vnni(&b, &a)
      return b
    }

    @inline(__always)
    static func minimum(_ a: Lanes, _ b: Lanes) -> Lanes {
      var a = a
      var b = b
      unsafe ckf_min_avx512vnni(&b, &a)
      return b
    }

    @inline(__always)
    static func zero(_ v: Lanes, where x: Lanes, isBelow threshold: Float) -> Lanes {
      var v = v
      var x = x
      unsafe ckf_zero_below_avx512vnni(&v, &x, threshold)
      return v
    }

    @inline(__always)
    static func equal(_ v: Lanes, _ value: Float) -> UInt32 {
      var v = v
      return unsafe ckf_equal_avx512vnni(&v, value)
    }

    @inline(__always)
    static func above(_ v: Lanes, _ value: Float) -> UInt32 {
      var v = v
      return unsafe ckf_above_avx512vnni(&v, value)
    }

    @inline(__always)
    static func unordered(_ v: Lanes) -> UInt32 {
      var v = v
      return unsafe ckf_unordered_avx512vnni(&v)
    }

    @inline(__always)
    static func loadF32Part(_ source: UnsafeRawPointer, _ count: Int) -> Lanes {
      var v = Lanes.zero
      unsafe ckf_load_part_avx512vnni(&v, source, count)
      return v
    }

    @inline(__always)
    static func storeF32Part(_ target: UnsafeMutableRawPointer, _ v: Lanes, _ count: Int) {
      var v = v
      unsafe ckf_store_part_avx512vnni(target, &v, count)
    }

    @inline(__always)
    static func loadF16(_ source: UnsafeRawPointer) -> Lanes {
      var v = Lanes.zero
      unsafe ckf_load_f16_avx512vnni(&v, source)
      return v
    }

    @inline(__always)
    static func loadF16Part(_ source: UnsafeRawPointer, _ count: Int) -> Lanes {
      var v = Lanes.zero
      unsafe ckf_load_part_f16_avx512vnni(&v, source, count)
      return v
    }

    @inline(__always)
    static func storeF16(_ target: UnsafeMutableRawPointer, _ v: Lanes) {
      var v = v
      unsafe ckf_store_f16_avx512vnni(target, &v)
    }

    @inline(__always)
    static func storeF16Part(_ target: UnsafeMutableRawPointer, _ v: Lanes, _ count: Int) {
      var v = v
      unsafe ckf_store_part_f16_avx512vnni(target, &v, count)
    }

    @inline(__always)
    static func storeS8Part(_ target: UnsafeMutableRawPointer, _ v: Lanes, _ count: Int) {
      var v = v
      unsafe ckf_store_part_s8_avx512vnni(target, &v, count)
    }

    @inline(__always)
    static func storeS16Part(_ target: UnsafeMutableRawPointer, _ v: Lanes, _ count: Int) {
      var v = v
      unsafe ckf_store_part_s16_avx512vnni(target, &v, count)
    }
  }
#endif
