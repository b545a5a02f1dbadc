/// A low-rank addition to a stored matrix: the model's weight is the matrix plus B · A.
///
/// Numbers are places in the tensor directory. B is [rows, rank] and A is [rank, columns].
public struct LowRankAdapter: Hashable, Sendable {
  /// The matrix that is added to.
  public let tensor: Int
  /// The factor that reads the input: rank × columns.
  public let a: Int
  /// The factor that writes the output: rows × rank.
  public let b: Int

  package init(tensor: Int, a: Int, b: Int) {
    self.tensor = tensor
    self.a = a
    self.b = b
  }

  /// What the packer names the factors of a tensor; readers go by the section, not by names.
  package static func nameOfA(_ tensor: String) -> String { tensor + ".adapter_a" }
  /// See `nameOfA`.
  package static func nameOfB(_ tensor: String) -> String { tensor + ".adapter_b" }
}
