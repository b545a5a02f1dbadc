import CQuantKernels
import Foundation
import QuantKernelsC
import TestSupport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension Oracle {
  /// The folder that tools/build-c-library has filled.
  static let cLibrary = Oracle(
    location: ProcessInfo.processInfo.environment["AFM_C_LIBRARY"].flatMap {
      $0.isEmpty ? nil : $0
    }, missing: "AFM_C_LIBRARY names no folder of tools/build-c-library")
}

/// The functions of afm_kernels.h, of one of the two builds that there are.
@safe struct CLibrary: Sendable {
  /// Which build: Swift's own, part of this program, or Embedded Swift's, a shared library.
  enum Build: String, CaseIterable {
    case package
    case sharedLibrary
  }

  /// The builds to test: the shared library where there is one, or where one is required.
  static let builds = Build.allCases.filter {
    $0 == .package || Oracle.cLibrary.isPresent || Oracle.mustRun
  }

  typealias Create = @convention(c) (afm_level, UnsafeMutablePointer<OpaquePointer?>?) -> afm_error
  typealias Destroy = @convention(c) (OpaquePointer?) -> Void
  typealias MatrixBytes =
    @convention(c) (afm_format, Int64, Int64, UnsafeMutablePointer<Int>?) -> afm_error
  typealias ScratchBytes =
    @convention(c) (afm_format, Int64, Int64, Int64, UnsafeMutablePointer<Int>?) -> afm_error
  typealias PlaneBytes =
    @convention(c) (afm_format, Int64, Int64, UnsafeMutablePointer<afm_planes>?) -> afm_error
  typealias Pack =
    @convention(c) (
      UnsafePointer<afm_matrix>?, Int64, Int64, UnsafePointer<Float>?, Int,
      UnsafePointer<afm_pack_options>?
    ) -> afm_error
  typealias PackPlanes =
    @convention(c) (
      UnsafePointer<afm_matrix>?, Int64, Int64, UnsafePointer<afm_planes>?
    ) -> afm_error
  typealias DequantizeRow =
    @convention(c) (
      UnsafePointer<afm_matrix>?, Int64, UnsafeMutablePointer<Float>?, Int
    ) -> afm_error
  typealias Quantize =
    @convention(c) (
      OpaquePointer?, OpaquePointer?, UnsafePointer<afm_activations>?, UnsafePointer<Float>?, Int,
      Int64
    ) -> afm_error
  typealias QuantizeTokens =
    @convention(c) (
      OpaquePointer?, UnsafePointer<afm_activations>?, Int64, Int64, UnsafePointer<Float>?, Int,
      Int64
    ) -> afm_error
  typealias Multiply =
    @convention(c) (
      OpaquePointer?, OpaquePointer?, UnsafePointer<afm_matrix>?, UnsafePointer<afm_activations>?,
      UnsafeMutablePointer<Float>?, Int, Int64, UnsafeMutableRawPointer?, Int
    ) -> afm_error
  typealias MultiplyRows =
    @convention(c) (
      OpaquePointer?, UnsafePointer<afm_matrix>?, UnsafePointer<afm_activations>?, Int64, Int64,
      UnsafeMutablePointer<Float>?, Int, Int64, UnsafeMutableRawPointer?, Int
    ) -> afm_error
  typealias ShareRows =
    @convention(c) (
      Int64, Int64, Int64, UnsafeMutablePointer<Int64>?, UnsafeMutablePointer<Int64>?
    ) -> afm_error
  typealias PoolCreate = @convention(c) (Int64, UnsafeMutablePointer<OpaquePointer?>?) -> afm_error
  typealias CheckMatrix =
    @convention(c) (UnsafePointer<afm_matrix>?, Int64, Int64) -> afm_error
  typealias PoolCreateWith =
    @convention(c) (
      UnsafePointer<afm_pool_options>?, UnsafeMutablePointer<OpaquePointer?>?
    ) -> afm_error
  typealias PoolThreads = @convention(c) (OpaquePointer?) -> Int64
  typealias Level = @convention(c) (OpaquePointer?) -> afm_level
  typealias ErrorText = @convention(c) (afm_error) -> UnsafePointer<CChar>?
  typealias KernelName =
    @convention(c) (OpaquePointer?, afm_format, Int64) -> UnsafePointer<CChar>?

  let build: Build
  let version: @convention(c) () -> Int32
  let errorText: ErrorText
  let availableLevels: @convention(c) () -> UInt32
  let levelName: ErrorText
  let create: Create
  let destroy: Destroy
  let level: Level
  let kernelName: KernelName
  let matrixBytes: MatrixBytes
  let pack: Pack
  let planeBytes: PlaneBytes
  let packPlanes: PackPlanes
  let checkMatrix: CheckMatrix
  let dequantizeRow: DequantizeRow
  let activationBytes: MatrixBytes
  let quantize: Quantize
  let quantizeTokens: QuantizeTokens
  let scratchBytes: ScratchBytes
  let multiply: Multiply
  let multiplyRows: MultiplyRows
  let shareRows: ShareRows
  let poolCreate: PoolCreate
  let poolCreateWith: PoolCreateWith
  let poolDestroy: Destroy
  let poolThreads: PoolThreads

  init(_ build: Build) throws {
    self.build = build
    var handle: UnsafeMutableRawPointer?
    if build == .sharedLibrary {
      let path = try Oracle.cLibrary.path() + "/lib/libafm_kernels.so"
      unsafe handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)
      guard unsafe handle != nil else { throw Oracle.Failure(description: "cannot load \(path)") }
    }
    /// The shared library's function of that name, or the package's. Both have the header's type.
    func find<Function>(_ name: String, _ linked: Function) throws -> Function {
      guard let handle = unsafe handle else { return linked }
      guard let address = unsafe dlsym(handle, name) else {
        throw Oracle.Failure(description: "the library has no \(name)")
      }
      return unsafe unsafeBitCast(address, to: Function.self)
    }
    version = try find("afm_version", afm_version)
    unsafe errorText = try find("afm_error_text", afm_error_text as ErrorText)
    availableLevels = try find("afm_available_levels", afm_available_levels)
    unsafe levelName = try find("afm_level_name", afm_level_name as ErrorText)
    unsafe create = try find("afm_library_create", afm_library_create as Create)
    unsafe destroy = try find("afm_library_destroy", afm_library_destroy as Destroy)
    unsafe level = try find("afm_library_level", afm_library_level as Level)
    unsafe kernelName = try find("afm_kernel_name", afm_kernel_name as KernelName)
    unsafe matrixBytes = try find("afm_matrix_bytes", afm_matrix_bytes as MatrixBytes)
    unsafe pack = try find("afm_pack", afm_pack as Pack)
    unsafe planeBytes = try find("afm_plane_bytes", afm_plane_bytes as PlaneBytes)
    unsafe packPlanes = try find("afm_pack_planes", afm_pack_planes as PackPlanes)
    unsafe checkMatrix = try find("afm_check_matrix", afm_check_matrix as CheckMatrix)
    unsafe dequantizeRow = try find("afm_dequantize_row", afm_dequantize_row as DequantizeRow)
    unsafe activationBytes = try find(
      "afm_activation_bytes", afm_activation_bytes as MatrixBytes)
    unsafe quantize = try find("afm_quantize", afm_quantize as Quantize)
    unsafe quantizeTokens = try find(
      "afm_quantize_tokens", afm_quantize_tokens as QuantizeTokens)
    unsafe scratchBytes = try find("afm_scratch_bytes", afm_scratch_bytes as ScratchBytes)
    unsafe multiply = try find("afm_multiply", afm_multiply as Multiply)
    unsafe multiplyRows = try find("afm_multiply_rows", afm_multiply_rows as MultiplyRows)
    unsafe shareRows = try find("afm_share_rows", afm_share_rows as ShareRows)
    unsafe poolCreate = try find("afm_pool_create", afm_pool_create as PoolCreate)
    unsafe poolCreateWith = try find(
      "afm_pool_create_with", afm_pool_create_with as PoolCreateWith)
    unsafe poolDestroy = try find("afm_pool_destroy", afm_pool_destroy as Destroy)
    unsafe poolThreads = try find("afm_pool_threads", afm_pool_threads as PoolThreads)
  }

  /// What a size query answers.
  @safe func bytes(_ query: (UnsafeMutablePointer<Int>?) -> afm_error) -> Int {
    var bytes = -1
    let error = unsafe withUnsafeMutablePointer(to: &bytes) { unsafe query($0) }
    return error == 0 ? bytes : -1
  }

  /// Calls with the kernels of a level.
  @safe func withKernels<Result>(
    _ level: afm_level, _ body: (OpaquePointer) throws -> Result
  ) throws -> Result {
    var handle: OpaquePointer?
    let error = unsafe create(level, &handle)
    guard error == 0, let handle = unsafe handle else {
      throw Oracle.Failure(description: "afm_library_create(\(level)) gave \(error)")
    }
    defer { unsafe destroy(handle) }
    return try unsafe body(handle)
  }
}
