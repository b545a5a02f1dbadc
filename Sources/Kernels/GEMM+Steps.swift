import CKernels

// Pointers: as in GEMM.swift. Strips begin at a multiple of 64.

/// Where the codes of a strip's steps come from, four steps at a time.
protocol StepSource {
  associatedtype Codes: PackedCodes
  /// Called before the first of four steps.
  func begin()
  /// One of four steps.
  func step(_ index: Int) -> Codes.Panel.Codes
  /// Goes on to the next four.
  mutating func next()
}

/// A strip that has been unpacked.
@unsafe struct StripSource<Codes: PackedCodes>: @unsafe StepSource {
  var strip: UnsafeRawPointer

  @inline(__always) init(_ strip: UnsafeMutableRawPointer) {
    unsafe self.strip = UnsafeRawPointer(strip)
  }

  @inline(__always) func begin() {}

  @inline(__always) func step(_ index: Int) -> Codes.Panel.Codes {
    unsafe (strip + index &* GEMMPanel<Codes>.stepBytes).loadUnaligned(as: Codes.Panel.Codes.self)
  }

  @inline(__always) mutating func next() {
    unsafe strip += 4 &* GEMMPanel<Codes>.stepBytes
  }
}

/// Packed codes, which are left in the strip as bytes.
@unsafe struct PackedSource<Codes: PackedCodes>: @unsafe StepSource {
  /// Of the panel's first tile.
  var codes: UnsafeRawPointer
  var strip: UnsafeMutableRawPointer
  /// From the first tile to the second.
  let tileDistance: Int

  /// Bytes between a load and the prefetch for a later one: as in GEMV, and no less than to the next
  /// panel where this one has two tiles, of which one would ask for the other's.
  private let prefetchDistance: Int

  @inline(__always) init(_ panel: GEMMPanel<Codes>, firstStep: Int) {
    unsafe codes = panel.codes + firstStep / 4 &* Codes.pieceBytes
    unsafe strip = panel.strip
    unsafe tileDistance = panel.tileDistance
    unsafe prefetchDistance = unsafe max(8192, 2 &* panel.tileDistance)
  }

  @inline(__always) func begin() {
    var tile = 0
    while tile < Codes.Panel.tileCount {
      var line = 0
      while line < Codes.pieceBytes {
        unsafe ck_prefetch(codes + (tile &* tileDistance &+ prefetchDistance &+ line))
        line &+= 64
      }
      tile &+= 1
    }
  }

  @inline(__always) func step(_ index: Int) -> Codes.Panel.Codes {
    let bytes = Codes.Panel.codes { tile in
      unsafe Codes.step(index, codes + tile &* tileDistance)
    }
    let place = unsafe strip + index &* GEMMPanel<Codes>.stepBytes
    unsafe place.assumingMemoryBound(to: Codes.Panel.Codes.self).pointee = bytes
    return bytes
  }

  @inline(__always) mutating func next() {
    unsafe codes += Codes.pieceBytes
    unsafe strip += 4 &* GEMMPanel<Codes>.stepBytes
  }
}
