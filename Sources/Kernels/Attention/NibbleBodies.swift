import CKernels

// Pointers and counts are under `NibbleFunction`; vectors are read and written only where a whole one
// is left.

/// What an instruction set gives to unpack 4-bit codes.
protocol NibblePrimitives {
  /// 16 packed bytes of each of two rows.
  static func rows(
    _ codes: UnsafeMutableRawPointer, _ first: UnsafeRawPointer, _ second: UnsafeRawPointer)
  /// Packed bytes of a step of pairs.
  static var byteCount: Int { get }
  static func pairs(_ codes: UnsafeMutableRawPointer, _ packed: UnsafeRawPointer)
}

#if arch(x86_64)
  extension AVX2: NibblePrimitives {
    @inline(__always) static var byteCount: Int { 32 }

    @inline(__always)
    static func rows(
      _ codes: UnsafeMutableRawPointer, _ first: UnsafeRawPointer, _ second: UnsafeRawPointer
    ) {
      unsafe ck_avx2_nibble_rows(codes, first, second)
    }

    @inline(__always)
    static func pairs(_ codes: UnsafeMutableRawPointer, _ packed: UnsafeRawPointer) {
      unsafe ck_avx2_nibble_pairs(codes, packed)
    }
  }

  extension AVX512: NibblePrimitives {
    @inline(__always) static var byteCount: Int { 64 }

    @inline(__always)
    static func rows(
      _ codes: UnsafeMutableRawPointer, _ first: UnsafeRawPointer, _ second: UnsafeRawPointer
    ) {
      unsafe ck_avx512_nibble_rows(codes, first, second)
    }

    @inline(__always)
    static func pairs(_ codes: UnsafeMutableRawPointer, _ packed: UnsafeRawPointer) {
      unsafe ck_avx512_nibble_pairs(codes, packed)
    }
  }
#endif

extension Portable: NibblePrimitives {
  @inline(__always) static var byteCount: Int { 16 }

  @inline(__always)
  static func rows(
    _ codes: UnsafeMutableRawPointer, _ first: UnsafeRawPointer, _ second: UnsafeRawPointer
  ) {
    let a = unsafe first.loadUnaligned(as: SIMD16<UInt8>.self)
    let b = unsafe second.loadUnaligned(as: SIMD16<UInt8>.self)
    var words = SIMD16<UInt32>.zero
    var lane = 0
    while lane < 16 {
      let both = UInt32(a[lane]) | UInt32(b[lane]) &<< 8
      words[lane] = (both | both &<< 12) & 0x0F0F_0F0F
      lane &+= 1
    }
    unsafe codes.storeBytes(of: words, as: SIMD16<UInt32>.self)
  }

  @inline(__always)
  static func pairs(_ codes: UnsafeMutableRawPointer, _ packed: UnsafeRawPointer) {
    let bytes = unsafe packed.loadUnaligned(as: SIMD16<UInt8>.self)
    var words = SIMD16<UInt16>.zero
    var lane = 0
    while lane < 16 {
      words[lane] = UInt16(bytes[lane])
      lane &+= 1
    }
    unsafe codes.storeBytes(of: (words | (words &<< 4)) & 0x0F0F, as: SIMD16<UInt16>.self)
  }
}

/// `NibbleFunction`: the codes of two rows come to stand side by side.
@inline(__always)
func nibbleRowsBody<P: NibblePrimitives>(_: P.Type, _ arguments: UnsafePointer<CKNibbles>) {
  let nibbles = unsafe arguments.pointee
  let byteCount = unsafe nibbles.byteCount
  var first = unsafe UnsafeRawPointer(nibbles.packed)
  var codes = unsafe UnsafeMutableRawPointer(nibbles.codes)
  var row = 0
  while unsafe row < nibbles.rowCount {
    let second = unsafe row &+ 1 < nibbles.rowCount ? first + byteCount : first
    var at = 0
    while at &+ 16 <= byteCount {
      unsafe P.rows(codes + 4 &* at, first + at, second + at)
      at &+= 16
    }
    while at < byteCount {
      let a = unsafe UInt32(first.load(fromByteOffset: at, as: UInt8.self))
      let b = unsafe UInt32(second.load(fromByteOffset: at, as: UInt8.self))
      let both = a | b &<< 8
      unsafe codes.storeBytes(
        of: (both | both &<< 12) & 0x0F0F_0F0F, toByteOffset: 4 &* at, as: UInt32.self)
      at &+= 1
    }
    unsafe first += 2 &* byteCount
    unsafe codes += 4 &* byteCount
    row &+= 2
  }
}

/// `NibbleFunction`: the codes of a byte come to stand side by side.
@inline(__always)
func nibblePairsBody<P: NibblePrimitives>(_: P.Type, _ arguments: UnsafePointer<CKNibbles>) {
  let nibbles = unsafe arguments.pointee
  let byteCount = unsafe nibbles.byteCount &* nibbles.rowCount
  let packed = unsafe UnsafeRawPointer(nibbles.packed)
  let codes = unsafe UnsafeMutableRawPointer(nibbles.codes)
  var at = 0
  while at &+ P.byteCount <= byteCount {
    unsafe P.pairs(codes + 2 &* at, packed + at)
    at &+= P.byteCount
  }
  while at < byteCount {
    let byte = unsafe packed.load(fromByteOffset: at, as: UInt8.self)
    unsafe codes.storeBytes(of: byte & 15, toByteOffset: 2 &* at, as: UInt8.self)
    unsafe codes.storeBytes(of: byte &>> 4, toByteOffset: 2 &* at &+ 1, as: UInt8.self)
    at &+= 1
  }
}
