import CQuantKernels
import KernelContract
import Kernels
import PackedFormats

extension WeightFormat {
  /// The formats that this library multiplies, as callers name them.
  init(_ format: afm_format) throws(CallError) {
    guard let raw = UInt16(exactly: format), let known = WeightFormat(rawValue: raw) else {
      throw .format
    }
    switch known {
    case .s8c, .s8g32, .u4g32, .u4c, .u2c, .u2g64, .astc6x6LDR, .astc6x6HDR: self = known
    // The one scale of u2t belongs to all rows, but matrices are packed in parts.
    case .f32, .f16, .u2t: throw .format
    }
  }
}

extension InstructionSet {
  /// The number of a level in the header.
  var number: afm_level {
    switch self {
    case .portable: 1
    case .avx2: 2
    case .avx512vnni: 3
    case .avx2vnni: 4
    }
  }

  var text: StaticString {
    switch self {
    case .portable: "portable"
    case .avx2: "avx2"
    case .avx2vnni: "avx2vnni"
    case .avx512vnni: "avx512vnni"
    }
  }

  init?(number: afm_level) {
    guard let level = Self.allCases.first(where: { $0.number == number }) else { return nil }
    self = level
  }
}

/// A chosen kernel and its name, which ends with a zero byte.
@safe struct NamedProduct {
  let function: PackedProductFunction
  let name: UnsafeMutablePointer<CChar>

  init(
    _ operation: KernelOperation, _ format: WeightFormat, _ level: InstructionSet,
    _ features: CPUFeatures
  ) {
    let list = KernelRegistry.packedProducts
    guard let entry = list.selected(operation, format, at: level, on: features) else {
      preconditionFailure("every list has a portable kernel")
    }
    function = entry.function
    let count = entry.name.utf8.count
    unsafe name = .allocate(capacity: count + 1)
    var place = 0
    for byte in entry.name.utf8 {
      unsafe name[place] = CChar(bitPattern: byte)
      place += 1
    }
    unsafe name[count] = 0
  }
}

/// The products of one format.
@safe struct ProductPair {
  let gemv: NamedProduct
  let gemm: NamedProduct

  init(_ format: WeightFormat, _ level: InstructionSet, _ features: CPUFeatures) {
    gemv = NamedProduct(.gemv, format, level, features)
    gemm = NamedProduct(.gemm, format, level, features)
  }

  func deallocate() {
    unsafe gemv.name.deallocate()
    unsafe gemm.name.deallocate()
  }
}

/// What `afm_library` is: the kernels of one level.
@safe struct KernelSelection {
  let level: InstructionSet
  private let perToken, perChunk, perBlock: QuantizationFunction
  private let s8c, s8g32, u4g32, u4c, u2c, u2g64, astcLDR, astcHDR: ProductPair
  /// What ASTC kernels look up.
  let tables: UnsafeMutableRawPointer

  /// The level is one that this CPU runs.
  init(_ level: InstructionSet) {
    let features = CPUFeatures.detect()
    func quantization(_ operation: KernelOperation) -> QuantizationFunction {
      let entry = KernelRegistry.quantizations.selected(operation, at: level, on: features)
      guard let entry else { preconditionFailure("every list has a portable kernel") }
      return entry.function
    }
    self.level = level
    perToken = quantization(.quantizePerToken)
    perChunk = quantization(.quantizePerChunk)
    perBlock = quantization(.quantizePerBlock)
    s8c = ProductPair(.s8c, level, features)
    s8g32 = ProductPair(.s8g32, level, features)
    u4g32 = ProductPair(.u4g32, level, features)
    u4c = ProductPair(.u4c, level, features)
    u2c = ProductPair(.u2c, level, features)
    u2g64 = ProductPair(.u2g64, level, features)
    astcLDR = ProductPair(.astc6x6LDR, level, features)
    astcHDR = ProductPair(.astc6x6HDR, level, features)
    unsafe tables = .allocate(byteCount: ASTCKernelTables.byteCount, alignment: 64)
    // As many bytes as it fills.
    unsafe ASTCKernelTables.fill(tables)
  }

  func quantization(_ grouping: ActivationGrouping) -> QuantizationFunction {
    switch grouping {
    case .perToken: perToken
    case .perChunk: perChunk
    case .perBlock: perBlock
    }
  }

  /// Whether a product of so many tokens runs GEMM.
  func usesGEMM(_ format: WeightFormat, tokenCount: Int) -> Bool {
    PackedProductChoice.measured(level).usesGEMM(format, tokenCount: tokenCount)
  }

  func product(_ format: WeightFormat, tokenCount: Int) -> NamedProduct {
    let pair =
      switch format {
      case .s8c: s8c
      case .s8g32: s8g32
      case .u4g32: u4g32
      case .u4c: u4c
      case .u2g64: u2g64
      case .astc6x6LDR: astcLDR
      case .astc6x6HDR: astcHDR
      // `WeightFormat.init(_:)` lets no others in.
      default: u2c
      }
    return usesGEMM(format, tokenCount: tokenCount) ? pair.gemm : pair.gemv
  }

  func deallocate() {
    s8c.deallocate()
    s8g32.deallocate()
    u4g32.deallocate()
    u4c.deallocate()
    u2c.deallocate()
    u2g64.deallocate()
    astcLDR.deallocate()
    astcHDR.deallocate()
    unsafe tables.deallocate()
  }
}

/// The library behind a handle: one that `afm_library_create` returned and nobody has destroyed.
func selection(_ library: OpaquePointer?) throws(CallError) -> UnsafePointer<KernelSelection> {
  guard let library = unsafe library else { throw .null }
  return unsafe UnsafePointer(library)
}

@c @implementation
package func afm_available_levels() -> UInt32 {
  InstructionSet.available(on: .detect()).reduce(0) { $0 | 1 << UInt32($1.number) }
}

@c @implementation
package func afm_level_name(_ level: afm_level) -> UnsafePointer<CChar>? {
  guard let set = InstructionSet(number: level) else { return nil }
  // Static strings end with a zero byte and stay where they are.
  return unsafe UnsafeRawPointer(set.text.utf8Start).assumingMemoryBound(to: CChar.self)
}

@c @implementation
package func afm_library_create(
  _ level: afm_level, _ library: UnsafeMutablePointer<OpaquePointer?>?
) -> afm_error {
  result { () throws(CallError) in
    guard let library = unsafe library else { throw .null }
    unsafe library.pointee = nil
    let available = InstructionSet.available(on: .detect())
    let wanted = level == 0 ? available.max() : InstructionSet(number: level)
    guard let wanted else { throw .level }
    guard available.contains(wanted) else { throw .unavailable }
    let selection = UnsafeMutablePointer<KernelSelection>.allocate(capacity: 1)
    unsafe selection.initialize(to: KernelSelection(wanted))
    unsafe library.pointee = OpaquePointer(selection)
  }
}

@c @implementation
package func afm_library_destroy(_ library: OpaquePointer?) {
  guard let library = unsafe library else { return }
  let selection = unsafe UnsafeMutablePointer<KernelSelection>(library)
  unsafe selection.pointee.deallocate()
  unsafe selection.deinitialize(count: 1)
  unsafe selection.deallocate()
}

@c @implementation
package func afm_library_level(_ library: OpaquePointer?) -> afm_level {
  guard let library = unsafe library else { return 0 }
  return unsafe UnsafePointer<KernelSelection>(library).pointee.level.number
}

@c @implementation
package func afm_kernel_name(
  _ library: OpaquePointer?, _ format: afm_format, _ tokens: Int64
) -> UnsafePointer<CChar>? {
  do throws(CallError) {
    let kernels = unsafe try selection(library)
    let tokenCount = try checked(tokens, atMost: Limits.tokens)
    let product = unsafe kernels.pointee.product(
      try WeightFormat(format), tokenCount: tokenCount)
    return unsafe UnsafePointer(product.name)
  } catch {
    return nil
  }
}
