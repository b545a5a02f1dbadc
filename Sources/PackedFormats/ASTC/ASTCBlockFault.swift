/// Why 128 bits are not a legal ASTC 6×6 block.
///
/// Where several apply, the first in the order of the cases is reported. The last two do not make
/// a block illegal: texels of that kind have a defined result, but no weight.
public enum ASTCBlockFault: String, Error, BitwiseCopyable, CaseIterable, Hashable,
  CustomStringConvertible
{
  /// A void extent whose bits 10 and 11 are not both 1.
  case voidExtentReservedBits = "reserved bits of a void extent"
  /// A void extent with a minimum that is not below its maximum, unless all coordinates are ones.
  case voidExtentCoordinates = "coordinates of a void extent out of order"
  /// An HDR constant in a profile without HDR.
  case hdrVoidExtent = "HDR void extent in the LDR profile"
  /// A block mode that the format reserves.
  case reservedBlockMode = "reserved block mode"
  /// A weight grid wider or higher than 6.
  case gridExceedsBlock = "weight grid larger than the block"
  /// More than 64 grid weights, counting both planes.
  case tooManyGridWeights = "more than 64 grid weights"
  /// Grid weights of fewer than 24 bits.
  case tooFewGridWeightBits = "grid weights of fewer than 24 bits"
  /// Grid weights of more than 96 bits.
  case tooManyGridWeightBits = "grid weights of more than 96 bits"
  /// Two weight planes and four partitions.
  case dualPlaneWithFourPartitions = "dual plane with four partitions"
  /// Endpoints of more than 18 numbers.
  case tooManyEndpointValues = "more than 18 endpoint values"
  /// Fewer than ⌈13/5⌉ bits for each number of the endpoints.
  case tooFewEndpointBits = "too few bits for the endpoints"
  /// A partition with an HDR endpoint mode, in a profile without HDR: its texels are magenta.
  case hdrEndpointMode = "HDR endpoint mode in the LDR profile"
  /// A constant that is infinite or NaN: undefined by the format.
  case nonFiniteConstant = "infinite or NaN constant"

  /// The kind in words.
  public var description: String { rawValue }

  /// Whether a decoder must show the error color for all of the block.
  public var isIllegalEncoding: Bool { self != .hdrEndpointMode && self != .nonFiniteConstant }
}
