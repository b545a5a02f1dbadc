/// The two colors of a partition, and how to go from one to the other.
///
/// Components are red, green, blue, alpha, in 16 bits: 8-bit values repeated (LDR), or 12-bit
/// logarithms shifted up (HDR).
struct ASTCEndpoints {
  var first: SIMD4<Int32>
  var second: SIMD4<Int32>
  /// Red, green and blue are logarithms.
  var isColorHDR = false
  /// Alpha is a logarithm.
  var isAlphaHDR = false

  /// What an HDR endpoint mode is shown in where there is no HDR: opaque magenta, of 255/256 as
  /// libastcenc has it.
  private static var magenta: ASTCEndpoints {
    let color = SIMD4<Int32>(0xFF00, 0, 0xFF00, 0xFF00)
    return ASTCEndpoints(first: color, second: color)
  }

  /// Interprets the numbers of a partition, 0 to 255 each.
  ///
  /// - Parameters:
  ///   - mode: the color endpoint mode, 0 to 15.
  ///   - values: 2 · (mode / 4 + 1) numbers.
  @inline(__always)
  init(mode: UInt8, values: UnsafePointer<UInt8>, profile: ASTCProfile) {
    // The caller vouches for the numbers that the mode takes; modes below 16 take 8 at most.
    if mode == 0 {
      let pair = unsafe (Int32(values[0]), Int32(values[1]))
      self.init(
        ldr: SIMD4(pair.0, pair.0, pair.0, 255), SIMD4(pair.1, pair.1, pair.1, 255),
        profile: profile)
    } else {
      unsafe self.init(otherMode: mode, values: values, profile: profile)
    }
  }

  @inline(never)
  private init(otherMode mode: UInt8, values: UnsafePointer<UInt8>, profile: ASTCProfile) {
    // As above.
    let v = unsafe Numbers(base: values)
    switch mode & 15 {
    case 2, 3, 7, 11, 14, 15:
      if profile.hasHDR {
        self.init(hdrMode: mode & 15, v)
      } else {
        self = .magenta
      }
    default:
      let colors = Self.ldrColors(mode: mode & 15, v)
      self.init(ldr: colors.0, colors.1, profile: profile)
    }
  }

  /// The numbers of a partition where they lie.
  @safe
  private struct Numbers {
    /// As many as the mode takes: none of the functions below reads more.
    let base: UnsafePointer<UInt8>

    @inline(__always)
    subscript(index: Int) -> Int32 { unsafe Int32(base[index]) }
  }

  private init(first: SIMD4<Int32>, second: SIMD4<Int32>) {
    self.first = first
    self.second = second
  }

  /// 8-bit colors at 16 bits.
  @inline(__always)
  private init(ldr first: SIMD4<Int32>, _ second: SIMD4<Int32>, profile: ASTCProfile) {
    let shift = SIMD4<Int32>(repeating: 8)
    if profile == .srgb {
      let half = SIMD4<Int32>(repeating: 0x80)
      self.init(first: first &<< shift | half, second: second &<< shift | half)
    } else {
      self.init(first: first &<< shift | first, second: second &<< shift | second)
    }
  }
}

// MARK: Low dynamic range

extension ASTCEndpoints {
  private typealias Color = SIMD4<Int32>

  /// Modes 0, 1, 4, 5, 6, 8, 9, 10, 12 and 13.
  private static func ldrColors(mode: UInt8, _ v: Numbers) -> (Color, Color) {
    switch mode {
    case 1:
      let base = v[0] >> 2 | v[1] & 0xC0
      let sum = min(base + v[1] & 0x3F, 255)
      return (gray(base, 255), gray(sum, 255))
    case 4: return (gray(v[0], v[2]), gray(v[1], v[3]))
    case 5:
      let l = transferred(v[1], v[0])
      let a = transferred(v[3], v[2])
      return (
        clamped(gray(l.base, a.base)), clamped(gray(l.base + l.offset, a.base + a.offset))
      )
    case 6, 10:
      let alphas: (Int32, Int32) = mode == 6 ? (255, 255) : (v[4], v[5])
      return (
        Color((v[0] * v[3]) >> 8, (v[1] * v[3]) >> 8, (v[2] * v[3]) >> 8, alphas.0),
        Color(v[0], v[1], v[2], alphas.1)
      )
    case 8, 12:
      let alphas: (Int32, Int32) = mode == 8 ? (255, 255) : (v[6], v[7])
      let first = Color(v[0], v[2], v[4], alphas.0)
      let second = Color(v[1], v[3], v[5], alphas.1)
      let isSwapped = v[1] + v[3] + v[5] < v[0] + v[2] + v[4]
      return ordered(first, second, isSwapped: isSwapped)
    case 9, 13:
      let r = transferred(v[1], v[0])
      let g = transferred(v[3], v[2])
      let b = transferred(v[5], v[4])
      let a = mode == 9 ? (base: 255, offset: 0) : transferred(v[7], v[6])
      let base = Color(r.base, g.base, b.base, a.base)
      let sum = base &+ Color(r.offset, g.offset, b.offset, a.offset)
      let colors = ordered(base, sum, isSwapped: r.offset + g.offset + b.offset < 0)
      return (clamped(colors.0), clamped(colors.1))
    default: return (gray(v[0], 255), gray(v[1], 255))
    }
  }

  private static func gray(_ luminance: Int32, _ alpha: Int32) -> Color {
    Color(luminance, luminance, luminance, alpha)
  }

  /// bit_transfer_signed: moves a bit of the offset to the base; the offset becomes −32 to 31.
  private static func transferred(_ offset: Int32, _ base: Int32) -> (base: Int32, offset: Int32) {
    let short = (offset >> 1) & 0x3F
    return (base >> 1 | offset & 0x80, short & 0x20 != 0 ? short - 0x40 : short)
  }

  /// The colors as they are; or, swapped, with red and green halfway to blue. Without a branch,
  /// since it is as random as the block.
  @inline(__always)
  private static func ordered(
    _ first: Color, _ second: Color, isSwapped: Bool
  ) -> (Color, Color) {
    let mask = Color(repeating: isSwapped ? -1 : 0)
    let exchanged = (first ^ second) & mask
    @inline(__always) func contracted(_ color: Color) -> Color {
      // Half the sum of a component and blue, or itself.
      let blue = Color(color.z, color.z, color.z, color.w)
      return (color &+ (color ^ ((color ^ blue) & mask))) &>> 1
    }
    return (contracted(first ^ exchanged), contracted(second ^ exchanged))
  }

  private static func clamped(_ color: Color) -> Color {
    color.clamped(lowerBound: Color(repeating: 0), upperBound: Color(repeating: 255))
  }
}

// MARK: High dynamic range

extension ASTCEndpoints {
  /// Modes 2, 3, 7, 11, 14 and 15; colors of 12 bits.
  private init(hdrMode mode: UInt8, _ v: Numbers) {
    // 0x780 is the logarithm of 1.
    let one: Int32 = 0x780
    var colors: (Color, Color)
    switch mode {
    case 2:
      let isOrdered = v[1] >= v[0]
      let low = isOrdered ? v[0] << 4 : v[1] << 4 + 8
      let high = isOrdered ? v[1] << 4 : v[0] << 4 - 8
      colors = (Self.gray(low, one), Self.gray(high, one))
    case 3: colors = Self.smallRangeLuminance(v[0], v[1])
    case 7: colors = Self.baseAndScale(v)
    default: colors = Self.twoColors(v)
    }
    var isAlphaHDR = true
    if mode == 14 {
      // 8 bits, interpolated as such.
      colors.0.w = v[6]
      colors.1.w = v[7]
      isAlphaHDR = false
    } else if mode == 15 {
      (colors.0.w, colors.1.w) = Self.alphas(v[6], v[7])
    }
    let shift = SIMD4<Int32>(repeating: 4)
    first = colors.0 &<< shift
    second = colors.1 &<< shift
    if !isAlphaHDR {
      first.w = colors.0.w * 257
      second.w = colors.1.w * 257
    }
    isColorHDR = true
    self.isAlphaHDR = isAlphaHDR
  }

  private static func clamped12(_ color: Color) -> Color {
    color.clamped(lowerBound: Color(repeating: 0), upperBound: Color(repeating: 0xFFF))
  }

  private static func smallRangeLuminance(_ v0: Int32, _ v1: Int32) -> (Color, Color) {
    var low: Int32
    var offset: Int32
    if v0 & 0x80 != 0 {
      low = (v1 & 0xE0) << 4 | (v0 & 0x7F) << 2
      offset = (v1 & 0x1F) << 2
    } else {
      low = (v1 & 0xF0) << 4 | (v0 & 0x7F) << 1
      offset = (v1 & 0x0F) << 1
    }
    return (gray(low, 0x780), gray(min(low + offset, 0xFFF), 0x780))
  }

  /// Mode 7: a color and what to subtract from it. Where the extra bits go depends on the bit mode,
  /// which `modes` names as a set.
  private static func baseAndScale(_ v: Numbers) -> (Color, Color) {
    let selector = (v[0] & 0xC0) >> 6 | (v[1] & 0x80) >> 5 | (v[2] & 0x80) >> 4
    let major: Int32
    let mode: Int32
    if selector & 0xC != 0xC {
      (major, mode) = (selector >> 2, selector & 3)
    } else if selector != 0xF {
      (major, mode) = (selector & 3, 4)
    } else {
      (major, mode) = (0, 5)
    }
    var red = v[0] & 0x3F
    var green = v[1] & 0x1F
    var blue = v[2] & 0x1F
    var scale = v[3] & 0x1F
    func extra(_ value: Int32, _ position: Int32, to place: Int32, modes: Int32) -> Int32 {
      modes >> mode & 1 == 0 ? 0 : (value >> position & 1) << place
    }
    green |= extra(v[1], 6, to: 6, modes: 0x30) | extra(v[1], 5, to: 5, modes: 0x3A)
    blue |= extra(v[2], 6, to: 6, modes: 0x30) | extra(v[2], 5, to: 5, modes: 0x3A)
    scale |=
      extra(v[3], 5, to: 5, modes: 0x3D) | extra(v[3], 6, to: 6, modes: 0x2D)
      | extra(v[3], 7, to: 7, modes: 0x04)
    red |= extra(v[3], 7, to: 6, modes: 0x3B) | extra(v[2], 5, to: 6, modes: 0x04)
    red |= extra(v[3], 6, to: 7, modes: 0x10) | extra(v[2], 6, to: 7, modes: 0x0F)
    red |= extra(v[1], 5, to: 8, modes: 0x05) | extra(v[1], 6, to: 8, modes: 0x0A)
    red |= extra(v[1], 6, to: 9, modes: 0x05) | extra(v[3], 5, to: 9, modes: 0x02)
    red |= extra(v[2], 5, to: 10, modes: 0x01) | extra(v[3], 6, to: 10, modes: 0x02)

    let shift = max(mode, 1)
    red <<= shift
    green <<= shift
    blue <<= shift
    scale <<= shift
    if mode != 5 {
      green = red - green
      blue = red - blue
    }
    var color = Color(red, green, blue, 0)
    if major == 1 { color = Color(green, red, blue, 0) }
    if major == 2 { color = Color(blue, green, red, 0) }
    var colors = (
      clamped12(color &- Color(repeating: scale)), clamped12(color)
    )
    colors.0.w = 0x780
    colors.1.w = 0x780
    return colors
  }

  /// Modes 11, 14 and 15 without alpha: two colors from a major component and differences.
  private static func twoColors(_ v: Numbers) -> (Color, Color) {
    let major = (v[4] & 0x80) >> 7 | (v[5] & 0x80) >> 6
    if major == 3 {
      return (
        Color(v[0] << 4, v[2] << 4, (v[4] & 0x7F) << 5, 0x780),
        Color(v[1] << 4, v[3] << 4, (v[5] & 0x7F) << 5, 0x780)
      )
    }
    let mode = (v[1] & 0x80) >> 7 | (v[2] & 0x80) >> 6 | (v[3] & 0x80) >> 5
    // Bits of d in each mode, signed.
    let unused: Int32 = 32 - (mode & 5 == 0 ? 7 : mode == 4 || mode == 6 ? 5 : 6)
    var a = v[0] | (v[1] & 0x40) << 2
    var b0 = v[2] & 0x3F
    var b1 = v[3] & 0x3F
    var c = v[1] & 0x3F
    let d0 = ((v[4] & 0x7F) << unused) >> unused
    let d1 = ((v[5] & 0x7F) << unused) >> unused
    func extra(_ value: Int32, _ position: Int32, to place: Int32, modes: Int32) -> Int32 {
      modes >> mode & 1 == 0 ? 0 : (value >> position & 1) << place
    }
    a |= extra(v[2], 6, to: 9, modes: 0xA4) | extra(v[4], 6, to: 9, modes: 0x08)
    a |= extra(v[4], 5, to: 9, modes: 0x50) | extra(v[5], 5, to: 10, modes: 0x50)
    a |= extra(v[3], 6, to: 10, modes: 0xA0) | extra(v[4], 6, to: 11, modes: 0xC0)
    c |= extra(v[3], 6, to: 6, modes: 0x04) | extra(v[5], 6, to: 6, modes: 0xE8)
    c |= extra(v[4], 6, to: 7, modes: 0x20)
    b0 |= extra(v[2], 6, to: 6, modes: 0x5B) | extra(v[4], 6, to: 7, modes: 0x12)
    b1 |= extra(v[3], 6, to: 6, modes: 0x5B) | extra(v[5], 6, to: 7, modes: 0x12)

    let shift = Color(repeating: (mode >> 1) ^ 3)
    let second = Color(a, a - b0, a - b1, 0)
    let first = Color(a - c, a - b0 - c - d0, a - b1 - c - d1, 0)
    func placed(_ color: Color) -> Color {
      var color = clamped12(color &<< shift)
      color.w = 0x780
      if major == 1 { return Color(color.y, color.x, color.z, color.w) }
      if major == 2 { return Color(color.z, color.y, color.x, color.w) }
      return color
    }
    return (placed(first), placed(second))
  }

  /// Mode 15's alphas.
  private static func alphas(_ v6: Int32, _ v7: Int32) -> (Int32, Int32) {
    let mode = v6 >> 7 & 1 | v7 >> 6 & 2
    var first = v6 & 0x7F
    var offset = v7 & 0x7F
    if mode == 3 { return (first << 5, offset << 5) }
    first |= (offset << (mode + 1)) & 0x780
    offset &= 0x3F >> mode
    offset ^= 0x20 >> mode
    offset -= 0x20 >> mode
    first <<= 4 - mode
    offset <<= 4 - mode
    return (first, min(max(first + offset, 0), 0xFFF))
  }
}
