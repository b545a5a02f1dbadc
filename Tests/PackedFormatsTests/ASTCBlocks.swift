import PackedFormats
import TestSupport

/// Random blocks of which most are legal, or break exactly one rule.
enum ASTCBlocks {
  private static let legalFields = (0..<2048).filter { field in
    !ASTCBlockMode.isVoidExtent(field) && (try? ASTCBlockMode(field: field)) != nil
  }

  /// Of 20 blocks: one void extent, one of random bits alone, 18 of a legal mode.
  static func random(_ count: Int, seed: UInt64) -> [ASTCBlock] {
    var generator = SeededGenerator(seed: seed)
    return (0..<count).map { index in
      var block = ASTCBlock(low: generator.next(), high: generator.next())
      let choice = generator.next()
      switch index % 20 {
      case 0:
        block.low = block.low & ~0x1FF | 0x1FC
        if choice & 7 != 0 { block.low |= 3 << 10 }
        if choice & 8 != 0 { block.low |= ~0xFFF }
      case 1: break
      default:
        let field = Self.legalFields[Int(choice >> 8) % Self.legalFields.count]
        block.low = block.low & ~0x7FF | UInt64(field)
        // Every partition count, and half of the time one endpoint mode for all.
        if choice & 7 != 0 { block.low = block.low & ~(3 << 11) | UInt64(index % 4) << 11 }
        if choice & 8 != 0 { block.low &= ~(3 << 23) }
        if choice & 16 != 0 { block.low &= ~(15 << 25) }
      }
      return block
    }
  }

  /// Random numbers, and a random seed, in blocks of one of the encoder's modes.
  static func random(_ count: Int, mode: ASTCWeightMode, seed: UInt64) -> [ASTCBlock] {
    var generator = SeededGenerator(seed: seed)
    let field = UInt64(mode.blockModeField) | UInt64(mode.partitionCount - 1) << 11
    let endpointMode = UInt64(mode.endpointMode)
    let isOne = mode.partitionCount == 1
    // Mode, partition count, and endpoint mode; between the last two stands the seed, if any.
    let mask: UInt64 = isOne ? 0x1FFFF : 0x1FFF | 63 << 23
    let fixed = field | endpointMode << (isOne ? 13 : 25)
    return (0..<count).map { _ in
      ASTCBlock(low: generator.next() & ~mask | fixed, high: generator.next())
    }
  }

  static func bytes(_ blocks: [ASTCBlock]) -> [UInt8] { blocks.flatMap(\.bytes) }
}

extension ASTCUnpacker {
  /// The texels, or the fault.
  borrowing func floats(_ block: ASTCBlock) -> Result<[SIMD4<Float>], ASTCBlockFault> {
    var texels = [SIMD4<Float>](repeating: SIMD4(), count: 36)
    do throws(ASTCBlockFault) {
      try unsafe texels.withUnsafeMutableBufferPointer { texels throws(ASTCBlockFault) in
        // 36 texels.
        guard let base = texels.baseAddress else { return }
        try unsafe unpackFloats(block, into: base)
      }
      return .success(texels)
    } catch { return .failure(error) }
  }

  borrowing func unorms(_ block: ASTCBlock) -> Result<[SIMD4<UInt8>], ASTCBlockFault> {
    var texels = [SIMD4<UInt8>](repeating: SIMD4(), count: 36)
    do throws(ASTCBlockFault) {
      try unsafe texels.withUnsafeMutableBufferPointer { texels throws(ASTCBlockFault) in
        // 36 texels.
        guard let base = texels.baseAddress else { return }
        try unsafe unpackBytes(block, into: base)
      }
      return .success(texels)
    } catch { return .failure(error) }
  }
}
