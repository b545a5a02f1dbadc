import CKernels

// Pointers: as in Quantization.swift; the last block is read from a local copy that ends in zeros.

/// 36 values, of which 32 are quantized as all others are.
private struct Block: BitwiseCopyable {
  var values = Halves(low: SIMD16<Float>.zero, high: SIMD16<Float>.zero)
  var last = SIMD4<Float>.zero
}

/// Tokens to int8 with a scale and a sum for each 36 columns.
@inline(__always)
func quantizeBlocks<P: QuantizationPrimitives>(
  _: P.Type, _ arguments: UnsafePointer<CKQuantization>
) {
  let a = unsafe arguments.pointee
  let wholeCount = unsafe a.columnCount / 36
  let restCount = unsafe a.columnCount &- wholeCount &* 36
  var rest = Block()
  var token = unsafe a.tokenBegin
  while unsafe token < a.tokenEnd {
    let input = unsafe UnsafeRawPointer(a.input + token &* a.inputStride)
    let codes = unsafe UnsafeMutableRawPointer(a.activations + token &* a.activationStride)
    let scales = unsafe a.activationScales + token &* a.activationScaleStride
    let sums = unsafe a.groupSums + token &* a.groupSumStride
    var block = 0
    while block < wholeCount {
      let result = unsafe quantizeBlock(P.self, input + block &* 144, to: codes + block &* 36)
      unsafe scales[block] = result.scale
      unsafe sums[block] = result.sum
      block &+= 1
    }
    if restCount > 0 {
      unsafe withUnsafeMutableBytes(of: &rest) { bytes in
        guard let to = bytes.baseAddress else { return }
        let from = unsafe input + wholeCount &* 144
        // `copyFloats` takes fewer than 32.
        let first = min(restCount, 16)
        unsafe copyFloats(first, from: from, to: to)
        unsafe copyFloats(restCount &- first, from: from + 64, to: to + 64)
        let result = unsafe quantizeBlock(P.self, to, to: codes + wholeCount &* 36)
        unsafe scales[wholeCount] = result.scale
        unsafe sums[wholeCount] = result.sum
      }
    }
    token &+= 1
  }
}

/// One block of 36 values; its scale, and the sum of its codes.
@inline(__always)
private func quantizeBlock<P: QuantizationPrimitives>(
  _: P.Type, _ values: UnsafeRawPointer, to codes: UnsafeMutableRawPointer
) -> (scale: Float, sum: Float) {
  let last = unsafe (values + 128).loadUnaligned(as: SIMD4<Float>.self)
  // The same 16 bytes, without signs: integers in the order of the magnitudes.
  let bits = unsafe unsafeBitCast(last, to: SIMD4<Int32>.self) & SIMD4(repeating: 0x7FFF_FFFF)
  var largest = unsafe P.largest(P.larger(P.zeroMagnitudes, values))
  largest = max(largest, max(max(bits[0], bits[1]), max(bits[2], bits[3])))
  let magnitude = Float(bitPattern: UInt32(truncatingIfNeeded: largest))
  guard largest < 0x7F80_0000 && magnitude >= 0x1p-110 else {
    unsafe codes.storeBytes(
      of: InlineArray<4, UInt64>(repeating: 0), as: InlineArray<4, UInt64>.self)
    unsafe codes.storeBytes(of: 0, toByteOffset: 32, as: UInt32.self)
    return (largest >= 0x7F80_0000 ? .nan : 0, 0)
  }
  let factor = 127 / magnitude
  var sum = unsafe P.quantize(values, factor: factor, to: codes)
  // As `Portable` does it.
  let shifted = last * SIMD4(repeating: factor) + SIMD4(repeating: 12_582_912)
  let four = unsafe unsafeBitCast(shifted, to: SIMD4<Int32>.self) &- SIMD4(repeating: 0x4B40_0000)
  var word: UInt32 = 0
  var i = 0
  while i < 4 {
    sum &+= four[i]
    word |= (UInt32(bitPattern: four[i]) & 0xFF) &<< UInt32(truncatingIfNeeded: 8 &* i)
    i &+= 1
  }
  unsafe codes.storeBytes(of: word.littleEndian, toByteOffset: 32, as: UInt32.self)
  return (magnitude / 127, Float(sum))
}
