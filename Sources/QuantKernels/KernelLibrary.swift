import KernelContract
import Kernels

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The kernels of one instruction set, chosen once.
public final class KernelLibrary: Sendable {
  /// The level that was forced, or the best this CPU has.
  public let instructionSet: InstructionSet

  /// What the CPU has beside the level.
  public let features: CPUFeatures

  /// Chooses the kernels of a level, or of the best one this CPU has.
  ///
  /// - Throws: `SelectionError.unavailable` where the CPU lacks what the level requires.
  public init(forcing level: InstructionSet? = nil) throws(SelectionError) {
    let features = CPUFeatures.detect()
    let available = InstructionSet.available(on: features)
    let instructionSet = level ?? available.max() ?? .portable
    guard available.contains(instructionSet) else {
      throw .unavailable(instructionSet, available: available)
    }
    self.features = features
    self.instructionSet = instructionSet
  }

  /// The level that the environment variable `AFM_ISA` names, or the best one without it.
  ///
  /// - Throws: `SelectionError`, for a name that does not exist and a level that the CPU lacks.
  public static func fromEnvironment() throws(SelectionError) -> KernelLibrary {
    // getenv's string stays valid: nothing in this process changes its environment.
    guard let value = unsafe getenv("AFM_ISA") else { return try KernelLibrary() }
    let name = unsafe String(cString: value)
    if name.isEmpty { return try KernelLibrary() }
    guard let level = InstructionSet(rawValue: name) else { throw .unknownName(name) }
    return try KernelLibrary(forcing: level)
  }
}
