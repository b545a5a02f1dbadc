/// Copies fewer than 32 floats by the binary digits of their count: a loop would become a call.
///
/// Both places hold that many floats, of any alignment.
@inline(__always)
func copyFloats(_ count: Int, from: UnsafeRawPointer, to: UnsafeMutableRawPointer) {
  var from = unsafe from
  var to = unsafe to
  if count & 16 != 0 {
    unsafe copy(SIMD8<Float>.self, from, to)
    unsafe copy(SIMD8<Float>.self, from + 32, to + 32)
    unsafe from += 64
    unsafe to += 64
  }
  if count & 8 != 0 {
    unsafe copy(SIMD8<Float>.self, from, to)
    unsafe from += 32
    unsafe to += 32
  }
  if count & 4 != 0 {
    unsafe copy(SIMD4<Float>.self, from, to)
    unsafe from += 16
    unsafe to += 16
  }
  if count & 2 != 0 {
    unsafe copy(UInt64.self, from, to)
    unsafe from += 8
    unsafe to += 8
  }
  if count & 1 != 0 { unsafe copy(UInt32.self, from, to) }
}

@inline(__always)
private func copy<Value: BitwiseCopyable>(
  _: Value.Type, _ from: UnsafeRawPointer, _ to: UnsafeMutableRawPointer
) {
  unsafe to.storeBytes(of: from.loadUnaligned(as: Value.self), as: Value.self)
}
