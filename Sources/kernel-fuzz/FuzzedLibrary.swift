import CQuantKernels
import QuantKernelsC

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The functions of afm_kernels.h that are fuzzed: those linked in, or a shared library's.
@safe struct FuzzedLibrary {
  typealias Create = @convention(c) (afm_level, UnsafeMutablePointer<OpaquePointer?>?) -> afm_error
  typealias Bytes =
    @convention(c) (afm_format, Int64, Int64, UnsafeMutablePointer<Int>?) -> afm_error
  typealias ScratchBytes =
    @convention(c) (afm_format, Int64, Int64, Int64, UnsafeMutablePointer<Int>?) -> afm_error
  typealias PackPlanes =
    @convention(c) (
      UnsafePointer<afm_matrix>?, Int64, Int64, UnsafePointer<afm_planes>?
    ) -> afm_error
  typealias CheckMatrix =
    @convention(c) (UnsafePointer<afm_matrix>?, Int64, Int64) -> afm_error
  typealias DequantizeRow =
    @convention(c) (
      UnsafePointer<afm_matrix>?, Int64, UnsafeMutablePointer<Float>?, Int
    ) -> afm_error
  typealias Quantize =
    @convention(c) (
      OpaquePointer?, OpaquePointer?, UnsafePointer<afm_activations>?, UnsafePointer<Float>?, Int,
      Int64
    ) -> afm_error
  typealias MultiplyRows =
    @convention(c) (
      OpaquePointer?, UnsafePointer<afm_matrix>?, UnsafePointer<afm_activations>?, Int64, Int64,
      UnsafeMutablePointer<Float>?, Int, Int64, UnsafeMutableRawPointer?, Int
    ) -> afm_error

  let availableLevels: @convention(c) () -> UInt32
  let create: Create
  let matrixBytes: Bytes
  let packPlanes: PackPlanes
  let checkMatrix: CheckMatrix
  let dequantizeRow: DequantizeRow
  let activationBytes: Bytes
  let quantize: Quantize
  let scratchBytes: ScratchBytes
  let multiplyRows: MultiplyRows

  /// Nil where the library at a path, or one of its functions, is not there.
  init?(path: String?) {
    var handle: UnsafeMutableRawPointer?
    if let path {
      unsafe handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)
      guard unsafe handle != nil else { return nil }
    }
    var isComplete = true
    /// The shared library's function of that name, or the one linked in. Both have the header's
    /// type.
    func find<Function>(_ name: String, _ linked: Function) -> Function {
      guard let handle = unsafe handle else { return linked }
      guard let address = unsafe dlsym(handle, name) else {
        isComplete = false
        return linked
      }
      return unsafe unsafeBitCast(address, to: Function.self)
    }
    availableLevels = find("afm_available_levels", afm_available_levels)
    unsafe create = find("afm_library_create", afm_library_create as Create)
    unsafe matrixBytes = find("afm_matrix_bytes", afm_matrix_bytes as Bytes)
    unsafe packPlanes = find("afm_pack_planes", afm_pack_planes as PackPlanes)
    unsafe checkMatrix = find("afm_check_matrix", afm_check_matrix as CheckMatrix)
    unsafe dequantizeRow = find("afm_dequantize_row", afm_dequantize_row as DequantizeRow)
    unsafe activationBytes = find("afm_activation_bytes", afm_activation_bytes as Bytes)
    unsafe quantize = find("afm_quantize", afm_quantize as Quantize)
    unsafe scratchBytes = find("afm_scratch_bytes", afm_scratch_bytes as ScratchBytes)
    unsafe multiplyRows = find("afm_multiply_rows", afm_multiply_rows as MultiplyRows)
    guard isComplete else { return nil }
  }

  /// The kernels of a level; nil where this CPU lacks it.
  func kernels(_ level: afm_level) -> OpaquePointer? {
    var handle: OpaquePointer?
    return unsafe create(level, &handle) == 0 ? handle : nil
  }

  /// What a size query answers.
  @safe func bytes(_ query: (UnsafeMutablePointer<Int>?) -> afm_error) -> Int {
    var bytes = 0
    let error = unsafe withUnsafeMutablePointer(to: &bytes) { unsafe query($0) }
    precondition(error == 0, "sizes of a shape that is in range")
    return bytes
  }
}
