/// Why weights cannot be quantized, or why stored planes break the rules of their format.
public struct PackedFormatError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong.
  public enum Reason: Hashable, Sendable {
    /// A weight (or a stored f32 or f16 value) is NaN or infinite.
    case nonFiniteWeight
    /// A weight, or the scale that its group needs, is larger than the format can store.
    case outOfRange
    /// The code −128, which the 8-bit formats do not have.
    case forbiddenCode
    /// A code to be packed that is larger than the format's codes.
    case codeOutOfRange
    /// A scale or minimum to be packed that binary16 does not hold exactly.
    case inexactNumber
    /// Bits behind the last code of a row that are not zero.
    case nonzeroPadding
    /// A stored scale that is NaN or infinite.
    case nonFiniteScale
    /// A stored scale whose sign bit is set.
    case negativeScale
    /// A layout that repeats the scale of a tensor holds different ones.
    case unequalScales
    /// A stored minimum that is NaN or infinite.
    case nonFiniteMinimum
    /// A packed block that is not legal, of the tensor's profile.
    case illegalBlock(ASTCBlockFault)
    /// A plane that is not as long as its dimensions say.
    case planeByteCount(found: Int, expected: Int)
  }

  /// What is wrong.
  public var reason: Reason
  /// The plane the fault is in; nil where it is in the weights to be quantized.
  public var plane: Plane?
  /// The row of the tensor, counted from its first; nil where a whole plane is meant.
  public var row: Int?
  /// The column, or the first column of the group; nil where the whole row is meant.
  public var column: Int?

  /// An error at a place of a tensor.
  public init(_ reason: Reason, plane: Plane? = nil, row: Int? = nil, column: Int? = nil) {
    self.reason = reason
    self.plane = plane
    self.row = row
    self.column = column
  }

  /// One line: `row 3, column 17: a weight is NaN or infinite`.
  public var description: String {
    var place: [String] = []
    if let plane { place.append("plane \(plane)") }
    if let row { place.append("row \(row)") }
    if let column { place.append("column \(column)") }
    let words: String =
      switch reason {
      case .nonFiniteWeight: "a weight is NaN or infinite"
      case .outOfRange: "a weight or its scale is too large for the format"
      case .forbiddenCode: "the code -128 is not allowed"
      case .codeOutOfRange: "a code is too large for the format"
      case .inexactNumber: "a number is not exactly representable in binary16"
      case .nonzeroPadding: "the unused bits of the row are not zero"
      case .nonFiniteScale: "a scale is NaN or infinite"
      case .negativeScale: "a scale is negative"
      case .unequalScales: "the scale of the tensor differs between rows"
      case .nonFiniteMinimum: "a minimum is NaN or infinite"
      case .illegalBlock(let fault): "an illegal ASTC block: \(fault)"
      case .planeByteCount(let found, let expected): "\(found) bytes instead of \(expected)"
      }
    return place.isEmpty ? words : place.joined(separator: ", ") + ": " + words
  }
}
