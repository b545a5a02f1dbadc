/// The profile that a block is unpacked under: which endpoint modes and constants exist, and what
/// the result is.
public enum ASTCProfile: String, CaseIterable, Hashable, Sendable {
  /// Linear, low dynamic range: HDR endpoint modes and HDR constants do not exist.
  case ldr
  /// High dynamic range in all four components.
  case hdr
  /// As `ldr`, with endpoints and results of 8 bits.
  case srgb
  /// High dynamic range; alpha is low where the endpoint mode says nothing about it.
  case hdrLDRAlpha = "hdr-ldr-alpha"

  /// Whether HDR endpoint modes and HDR constants exist.
  var hasHDR: Bool { self == .hdr || self == .hdrLDRAlpha }
}
