import CKernels
import KernelContract

/// What an instruction set gives to the quantization of activations: 32 values at a time.
protocol QuantizationPrimitives {
  associatedtype Magnitudes: BitwiseCopyable
  static var zeroMagnitudes: Magnitudes { get }
  /// The larger of each lane and of the magnitudes' bits, as integers: a NaN is above infinity, and
  /// infinity above everything else.
  static func larger(_ m: Magnitudes, _ values: UnsafeRawPointer) -> Magnitudes
  static func largest(_ m: Magnitudes) -> Int32
  /// Values times factor, to nearest even, to int8; returns their sum.
  static func quantize(
    _ values: UnsafeRawPointer, factor: Float, to codes: UnsafeMutableRawPointer
  ) -> Int32
}

// Pointers: the arguments describe all tokens as the contract says. Whole groups of 32 are read in
// place; the columns after the last one are read from a local copy that ends in zeros.

/// Tokens to int8 with scales and sums.
@inline(__always)
func quantize<P: QuantizationPrimitives>(
  _: P.Type, _ grouping: ActivationGrouping, _ arguments: UnsafePointer<CKQuantization>
) {
  let a = unsafe arguments.pointee
  let wholeCount = unsafe a.columnCount / 32
  let restCount = unsafe a.columnCount &- wholeCount &* 32
  // Groups of 32 columns that share a scale.
  let sharingCount = grouping == .perToken ? unsafe a.chunkCount &* 2 : 2
  var rest = Halves(low: SIMD16<Float>.zero, high: SIMD16<Float>.zero)
  var token = unsafe a.tokenBegin
  while unsafe token < a.tokenEnd {
    let input = unsafe a.input + token &* a.inputStride
    unsafe withUnsafeMutableBytes(of: &rest) { bytes in
      guard let to = bytes.baseAddress else { return }
      unsafe copyFloats(restCount, from: input + wholeCount &* 32, to: to)
    }
    let codes = unsafe UnsafeMutableRawPointer(a.activations + token &* a.activationStride)
    let scales = unsafe a.activationScales + token &* a.activationScaleStride
    let groupSums = unsafe a.groupSums + token &* a.groupSumStride
    var total: Int32 = 0
    var begin = 0
    var place = 0
    while unsafe begin < a.chunkCount &* 2 {
      let end = begin &+ sharingCount
      var magnitudes = P.zeroMagnitudes
      var group = begin
      while group < min(end, wholeCount) {
        unsafe magnitudes = P.larger(magnitudes, input + group &* 32)
        group &+= 1
      }
      if restCount > 0 && begin <= wholeCount && wholeCount < end {
        unsafe magnitudes = P.larger(magnitudes, &rest)
      }
      let largest = P.largest(magnitudes)
      let magnitude = Float(bitPattern: UInt32(truncatingIfNeeded: largest))
      let isPlain = largest < 0x7F80_0000 && magnitude >= 0x1p-110
      unsafe scales[place] = largest >= 0x7F80_0000 ? Float.nan : isPlain ? magnitude / 127 : 0
      let factor = isPlain ? 127 / magnitude : 0
      group = begin
      while group < end {
        var sum: Int32 = 0
        if unsafe !isPlain || group &* 32 >= a.columnCount {
          unsafe (codes + group &* 32).storeBytes(
            of: InlineArray<4, UInt64>(repeating: 0), as: InlineArray<4, UInt64>.self)
        } else if group < wholeCount {
          unsafe sum = P.quantize(input + group &* 32, factor: factor, to: codes + group &* 32)
        } else {
          unsafe sum = P.quantize(&rest, factor: factor, to: codes + group &* 32)
        }
        unsafe groupSums[group] = Float(sum)
        total &+= sum
        group &+= 1
      }
      begin = end
      place &+= 1
    }
    if grouping == .perToken { unsafe a.tokenSums[token] = total }
    token &+= 1
  }
}

#if arch(x86_64)
  extension AVX2: QuantizationPrimitives {
    @inline(__always) static var zeroMagnitudes: SIMD8<Int32> { .zero }

    @inline(__always)
    static func larger(_ m: SIMD8<Int32>, _ values: UnsafeRawPointer) -> SIMD8<Int32> {
      var maximum = m
      unsafe ck_avx2_magnitudes(&maximum, values)
      return maximum
    }

    @inline(__always) static func largest(_ m: SIMD8<Int32>) -> Int32 {
      var maximum = m
      return unsafe ck_avx2_largest(&maximum)
    }

    @inline(__always)
    static func quantize(
      _ values: UnsafeRawPointer, factor: Float, to codes: UnsafeMutableRawPointer
    ) -> Int32 {
      unsafe ck_avx2_quantize(codes, values, factor)
    }
  }

  extension AVX512: QuantizationPrimitives {
    @inline(__always) static var zeroMagnitudes: SIMD16<Int32> { .zero }

    @inline(__always)
    static func larger(_ m: SIMD16<Int32>, _ values: UnsafeRawPointer) -> SIMD16<Int32> {
      var maximum = m
      unsafe ck_avx512_magnitudes(&maximum, values)
      return maximum
    }

    @inline(__always) static func largest(_ m: SIMD16<Int32>) -> Int32 {
      var maximum = m
      return unsafe ck_avx512_largest(&maximum)
    }

    @inline(__always)
    static func quantize(
      _ values: UnsafeRawPointer, factor: Float, to codes: UnsafeMutableRawPointer
    ) -> Int32 {
      unsafe ck_avx512_quantize(codes, values, factor)
    }
  }
#endif

extension Portable: QuantizationPrimitives {
  @inline(__always) static var zeroMagnitudes: Int32 { 0 }

  @inline(__always) static func larger(_ m: Int32, _ values: UnsafeRawPointer) -> Int32 {
    var maximum = m
    var i = 0
    while i < 32 {
      let bits = unsafe values.loadUnaligned(fromByteOffset: i &* 4, as: Int32.self) & 0x7FFF_FFFF
      maximum = bits > maximum ? bits : maximum
      i &+= 1
    }
    return maximum
  }

  @inline(__always) static func largest(_ m: Int32) -> Int32 { m }

  @inline(__always)
  static func quantize(
    _ values: UnsafeRawPointer, factor: Float, to codes: UnsafeMutableRawPointer
  ) -> Int32 {
    var sum: Int32 = 0
    var i = 0
    while i < 32 {
      let product = unsafe values.loadUnaligned(fromByteOffset: i &* 4, as: Float.self) * factor
      // 1.5 · 2^23 pushes the fraction out, to nearest even, and leaves the integer in the bits.
      let shifted = Int32(bitPattern: (product + 12_582_912).bitPattern)
      let code = shifted &- 0x4B40_0000
      unsafe codes.storeBytes(
        of: Int8(truncatingIfNeeded: code), toByteOffset: i, as: Int8.self)
      sum &+= code
      i &+= 1
    }
    return sum
  }
}
