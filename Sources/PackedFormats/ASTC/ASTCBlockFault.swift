/// Why 128 bits are not a legal ASTC 6×6 block.
public enum ASTCBlockFault: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
  /// A block mode that the format reserves.
  case reservedBlockMode = "reserved block mode"

  /// The kind in words.
  public var description: String { rawValue }
}

/// The profile that a block is decoded under.
public enum ASTCProfile: String, CaseIterable, Hashable, Sendable {
  case ldr
  case hdr
}
