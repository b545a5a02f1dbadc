import CKernels

// Pointers and counts are under `NibbleFunction`; vectors are read and written only where a whole one
// is left.

/// What an instruction set gives to unpack 4-bit codes.
protocol NibblePrimitives {
  /// Packed bytes of a step.
  static var byteCount: Int { get }
  static func rows(
    _ low: UnsafeMutableRawPointer, _ high: UnsafeMutableRawPointer, _ packed: UnsafeRawPointer)
  static func pairs(_ codes: UnsafeMutableRawPointer, _ packed: UnsafeRawPointer)
}

#if arch(x86_64)
  extension AVX2: NibblePrimitives {
    @inline(__always) static var byteCount: Int { 32 }

    @inline(__always)
    static func rows(
      _ low: UnsafeMutableRawPointer, _ high: UnsafeMutableRawPointer, _ packed: UnsafeRawPointer
    ) {
      unsafe ck_avx2_nibble_rows(low, high, packed)
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
      _ low: UnsafeMutableRawPointer, _ high: UnsafeMutableRawPointer, _ packed: UnsafeRawPointer
    ) {
      unsafe ck_avx512_nibble_rows(low, high, packed)
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
    _ low: UnsafeMutableRawPointer, _ high: UnsafeMutableRawPointer, _ packed: UnsafeRawPointer
  ) {
    let bytes = unsafe packed.loadUnaligned(as: SIMD16<UInt8>.self)
    unsafe low.storeBytes(of: bytes & 15, as: SIMD16<UInt8>.self)
    unsafe high.storeBytes(of: (bytes &>> 4) & 15, as: SIMD16<UInt8>.self)
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

/// `NibbleFunction`: the codes of a byte come to stand in two rows.
@inline(__always)
func nibbleRowsBody<P: NibblePrimitives>(_: P.Type, _ arguments: UnsafePointer<CKNibbles>) {
  let nibbles = unsafe arguments.pointee
  let byteCount = unsafe nibbles.byteCount
  var packed = unsafe UnsafeRawPointer(nibbles.packed)
  var low = unsafe UnsafeMutableRawPointer(nibbles.codes)
  var row = 0
  while unsafe row < nibbles.rowCount {
    let high = unsafe low + byteCount
    var at = 0
    while at &+ P.byteCount <= byteCount {
      unsafe P.rows(low + at, high + at, packed + at)
      at &+= P.byteCount
    }
    while at < byteCount {
      let byte = unsafe packed.load(fromByteOffset: at, as: UInt8.self)
      unsafe low.storeBytes(of: byte & 15, toByteOffset: at, as: UInt8.self)
      unsafe high.storeBytes(of: byte &>> 4, toByteOffset: at, as: UInt8.self)
      at &+= 1
    }
    unsafe packed += byteCount
    unsafe low += 2 &* byteCount
    row &+= 1
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
