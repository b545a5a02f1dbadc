/// e^x on 16 lanes, with a relative error of at most 2^-22 (2.4e-7) where the result is normal.
///
/// x = n·ln 2 + r with |r| ≤ ln 2 / 2; e^r by a polynomial of degree 6 (interpolated at Chebyshev
/// nodes; its own error is 1.1e-8), times 2^n. Below −87.33 the result is 0, above 88.37 it stays at
/// e^88.37 = 2.4e38; NaN stays NaN.
@inline(__always)
func exponential<L: FloatLanes>(_: L.Type, _ x: Lanes) -> Lanes {
  let lowest: Float = -87.33
  // NaN passes both limits: they return their second operand.
  let limited = L.minimum(Lanes(repeating: 88.37), L.maximum(Lanes(repeating: lowest), x))
  // Adding 1.5 · 2^23 rounds to an integer, which is then in the low bits of the significand.
  let shift = Lanes(repeating: 0x1.8p23)
  let shifted = L.multiplyAdd(shift, limited, Lanes(repeating: 0x1.715476p0))
  let n = shifted - shift
  // The first part of ln 2 has 16 significant bits, so that its product with n is exact.
  var r = L.multiplyAdd(limited, n, Lanes(repeating: -0x1.62e4p-1))
  r = L.multiplyAdd(r, n, Lanes(repeating: -1.4286068203e-6))
  var p = Lanes(repeating: 0.001392625083)
  p = L.multiplyAdd(Lanes(repeating: 0.008363232884), p, r)
  p = L.multiplyAdd(Lanes(repeating: 0.04166655421), p, r)
  p = L.multiplyAdd(Lanes(repeating: 0.1666657667), p, r)
  p = L.multiplyAdd(Lanes(repeating: 0.5), p, r)
  p = L.multiplyAdd(Lanes(repeating: 1), L.multiplyAdd(Lanes(repeating: 1), p, r), r)
  // Float and UInt32 lanes have the same size; n + 127 is in 1…254 unless x is NaN, and then p is.
  let bits = unsafe unsafeBitCast(shifted, to: SIMD16<UInt32>.self)
  let power = unsafe unsafeBitCast((bits &+ 127) &<< 23, to: Lanes.self)
  return L.zero(p * power, where: x, isBelow: lowest)
}
