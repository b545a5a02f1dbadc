import KernelContract
import PackedFormats

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension PackedProductChoice {
  /// `s8c=8,s8g32=6,…`: what `AFM_GEMM_TOKENS` may hold.
  package var text: String {
    Self.formats.map { "\($0.name)=\(self[$0])" }.joined(separator: ",")
  }

  /// This choice, but for the formats that a text names.
  package func replacing(_ text: String) throws(SelectionError) -> PackedProductChoice {
    var choice = self
    for item in text.split(separator: ",", omittingEmptySubsequences: false) {
      let sides = item.split(separator: "=", omittingEmptySubsequences: false)
      guard sides.count == 2, let format = WeightFormat(name: String(sides[0])),
        PackedMatrix.supports(format), let count = Int(sides[1]), count >= 2, count <= 1 << 24
      else { throw .unknownChoice(String(item)) }
      choice[format] = count
    }
    return choice
  }

  /// What was measured at a level, but for what the environment variable `AFM_GEMM_TOKENS` says.
  static func fromEnvironment(at level: InstructionSet) throws(SelectionError)
    -> PackedProductChoice
  {
    // getenv's string stays valid: nothing in this process changes its environment.
    guard let value = unsafe getenv("AFM_GEMM_TOKENS") else { return measured(level) }
    let text = unsafe String(cString: value)
    return text.isEmpty ? measured(level) : try measured(level).replacing(text)
  }
}
