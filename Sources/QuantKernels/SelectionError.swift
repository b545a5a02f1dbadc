import KernelContract

/// Why an instruction set that was asked for cannot be used.
public enum SelectionError: Error, Hashable, Sendable, CustomStringConvertible {
  /// No instruction set has that name.
  case unknownName(String)
  /// This CPU, or its operating system, lacks what the level requires.
  case unavailable(InstructionSet, available: [InstructionSet])

  /// A part of `AFM_GEMM_TOKENS` that is not a packed format, `=` and a number of at least 2.
  case unknownChoice(String)

  /// One line that says what may be asked for instead.
  public var description: String {
    func list(_ levels: [InstructionSet]) -> String {
      levels.map(\.rawValue).joined(separator: ", ")
    }
    func printable(_ text: String) -> String {
      text.unicodeScalars.map { $0.escaped(asASCII: true) }.joined()
    }
    switch self {
    case .unknownName(let name):
      return "no instruction set is named '\(printable(name))'; known: "
        + list(InstructionSet.allCases)
    case .unknownChoice(let item):
      let example = PackedProductChoice.measured(.portable).text
      return "AFM_GEMM_TOKENS has '\(printable(item))', where it may have \(example)"
    case .unavailable(let level, let available):
      return "this CPU cannot run instruction set \(level.rawValue); available: \(list(available))"
    }
  }
}
