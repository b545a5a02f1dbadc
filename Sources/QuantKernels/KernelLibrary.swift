import KernelContract
import Kernels
import PackedFormats

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The kernels of one instruction set, chosen once.
@safe public final class KernelLibrary: Sendable {
  /// The level that was forced, or the best this CPU has.
  public let instructionSet: InstructionSet

  /// What the CPU has beside the level.
  public let features: CPUFeatures

  /// The names of all chosen kernels, in the registry's order.
  public let selectedKernelNames: [String]

  /// From how many tokens on GEMM multiplies.
  package let choice: PackedProductChoice

  private let tokenQuantization, chunkQuantization, blockQuantization: QuantizationFunction
  private let gemv: ProductSelection
  private let gemm: ProductSelection

  /// Chooses the kernels of a level, or of the best one this CPU has.
  ///
  /// - Throws: `SelectionError.unavailable` where the CPU lacks what the level requires.
  public convenience init(forcing level: InstructionSet? = nil) throws(SelectionError) {
    try self.init(forcing: level, choosing: PackedProductChoice.measured)
  }

  /// The same, choosing between GEMV and GEMM as a function of the level says.
  package init(
    forcing level: InstructionSet?,
    choosing choice: (InstructionSet) throws(SelectionError) -> PackedProductChoice
  ) throws(SelectionError) {
    let features = CPUFeatures.detect()
    let available = InstructionSet.available(on: features)
    let instructionSet = level ?? available.max() ?? .portable
    guard available.contains(instructionSet) else {
      throw .unavailable(instructionSet, available: available)
    }
    self.features = features
    self.instructionSet = instructionSet
    self.choice = try choice(instructionSet)
    var names: [String] = []
    tokenQuantization = Self.choose(
      from: KernelRegistry.quantizations, .quantizePerToken, nil, instructionSet, features, &names)
    chunkQuantization = Self.choose(
      from: KernelRegistry.quantizations, .quantizePerChunk, nil, instructionSet, features, &names)
    blockQuantization = Self.choose(
      from: KernelRegistry.quantizations, .quantizePerBlock, nil, instructionSet, features, &names)
    gemv = ProductSelection(.gemv, instructionSet, features, &names)
    gemm = ProductSelection(.gemm, instructionSet, features, &names)
    selectedKernelNames = names
  }

  /// The preferred kernel of a list, whose name is added.
  fileprivate static func choose<Function>(
    from list: [KernelEntry<Function>], _ operation: KernelOperation, _ weights: WeightFormat?,
    _ level: InstructionSet, _ features: CPUFeatures, _ names: inout [String]
  ) -> Function {
    guard let entry = list.selected(operation, weights, at: level, on: features) else {
      preconditionFailure("\(operation) has no portable kernel")
    }
    names.append(entry.name)
    return entry.function
  }

  package func quantization(_ grouping: ActivationGrouping) -> QuantizationFunction {
    switch grouping {
    case .perToken: tokenQuantization
    case .perChunk: chunkQuantization
    case .perBlock: blockQuantization
    }
  }

  package func product(_ operation: KernelOperation, _ format: WeightFormat)
    -> PackedProductFunction
  {
    operation == .gemv ? gemv[format] : gemm[format]
  }

  /// The level that the environment variable `AFM_ISA` names, or the best one without it.
  ///
  /// `AFM_GEMM_TOKENS` says from how many tokens on products take GEMM, such as `u2c=6,s8c=8`; what
  /// it does not name is as it was measured for the level.
  ///
  /// - Throws: `SelectionError`, for a name that does not exist and a level that the CPU lacks.
  public static func fromEnvironment() throws(SelectionError) -> KernelLibrary {
    // getenv's string stays valid: nothing in this process changes its environment.
    let name = unsafe getenv("AFM_ISA").map { unsafe String(cString: $0) } ?? ""
    let level = try name.isEmpty ? nil : self.level(name)
    return try KernelLibrary(
      forcing: level, choosing: PackedProductChoice.fromEnvironment(at:))
  }

  /// The level of that name; without one, what `AFM_ISA` says, or the machine's best.
  ///
  /// - Throws: `SelectionError`, as `fromEnvironment` does.
  package static func named(_ name: String?) throws(SelectionError) -> KernelLibrary {
    guard let name else { return try fromEnvironment() }
    return try KernelLibrary(
      forcing: level(name), choosing: PackedProductChoice.fromEnvironment(at:))
  }

  private static func level(_ name: String) throws(SelectionError) -> InstructionSet {
    guard let level = InstructionSet(rawValue: name) else { throw .unknownName(name) }
    return level
  }
}

/// The chosen kernels of one operation, a format each.
@safe private struct ProductSelection: Sendable {
  private let s8c, s8g32, u4g32, u4c, u2c, u2g64, astcLDR, astcHDR: PackedProductFunction

  init(
    _ operation: KernelOperation, _ level: InstructionSet, _ features: CPUFeatures,
    _ names: inout [String]
  ) {
    func choose(_ format: WeightFormat) -> PackedProductFunction {
      KernelLibrary.choose(
        from: KernelRegistry.packedProducts, operation, format, level, features, &names)
    }
    s8c = choose(.s8c)
    s8g32 = choose(.s8g32)
    u4g32 = choose(.u4g32)
    u4c = choose(.u4c)
    u2c = choose(.u2c)
    u2g64 = choose(.u2g64)
    astcLDR = choose(.astc6x6LDR)
    astcHDR = choose(.astc6x6HDR)
  }

  subscript(format: WeightFormat) -> PackedProductFunction {
    switch format {
    case .s8c: s8c
    case .s8g32: s8g32
    case .u4g32: u4g32
    case .u4c: u4c
    // The layout repeats the one scale of u2t for every row.
    case .u2c, .u2t: u2c
    case .u2g64: u2g64
    case .astc6x6LDR: astcLDR
    case .astc6x6HDR: astcHDR
    case .f32, .f16:
      preconditionFailure("there are no kernels for \(format.name)")
    }
  }
}
