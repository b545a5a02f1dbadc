import KernelContract

/// Why an instruction set that was asked for cannot be used.
public enum SelectionError: Error, Hashable, Sendable, CustomStringConvertible {
  /// No instruction set has that name.
  case unknownName(String)
  /// This CPU, or its operating system, lacks what the level requires.
  case unavailable(InstructionSet, available: [InstructionSet])

  /// One line that says what may be asked for instead.
  public var description: String {
    func list(_ levels: [InstructionSet]) -> String {
      levels.map(\.rawValue).joined(separator: ", ")
    }
    switch self {
    case .unknownName(let name):
      let printable = name.unicodeScalars.map { $0.escaped(asASCII: true) }.joined()
      return "no instruction set is named '\(printable)'; known: \(list(InstructionSet.allCases))"
    case .unavailable(let level, let available):
      return "this CPU cannot run instruction set \(level.rawValue); available: \(list(available))"
    }
  }
}
