import CPlatform
import CQuantKernels

/// Why a call was refused: the errors of the header.
enum CallError: Int32, Error, CaseIterable {
  case null = 1
  case notPositive = 2
  case tooLarge = 3
  case shortBuffer = 4
  case alignment = 5
  case overlap = 6
  case format = 7
  case level = 8
  case unavailable = 9
  case mismatch = 10
  case rows = 11
  case weight = 12
  case planes = 13
  case option = 14
  case busy = 15
  case threads = 16
  case blocks = 17

  /// One line, kept by the program text.
  var text: StaticString {
    switch self {
    case .null: "a pointer is NULL"
    case .notPositive: "a number is zero or negative"
    case .tooLarge: "a number is beyond the limits, or a product of numbers does not fit"
    case .shortBuffer: "a buffer is too short"
    case .alignment: "an address is not aligned"
    case .overlap: "a buffer that is written overlaps another one"
    case .format: "an unknown format, or one without kernels"
    case .level: "an unknown level"
    case .unavailable: "this CPU cannot run the level"
    case .mismatch: "the activations do not fit the weights, or are not quantized as they say"
    case .rows: "rows or tokens that do not exist, or rows that are no whole tiles"
    case .weight: "a weight is NaN, infinite or too large for the format"
    case .planes: "planes or packed memory break a rule of their format"
    case .option: "an option has no meaning"
    case .busy: "the pool is serving another caller"
    case .threads: "the system gives no more threads"
    case .blocks: "a block of a mode that tiles do not hold"
    }
  }
}

/// The error that a body ends with, or none.
///
/// The body runs in the floating-point mode that programs begin with, whatever the caller's is: in
/// another one results would differ from level to level, and traps would end the process.
@inline(__always)
func result(_ body: () throws(CallError) -> Void) -> afm_error {
  let mode = cp_enter_default_float_mode()
  defer { cp_leave_default_float_mode(mode) }
  do throws(CallError) {
    try body()
    return 0
  } catch {
    return error.rawValue
  }
}

@c @implementation
package func afm_error_text(_ error: afm_error) -> UnsafePointer<CChar>? {
  let text: StaticString =
    error == 0 ? "no error" : CallError(rawValue: error)?.text ?? "an unknown error"
  // Static strings end with a zero byte and stay where they are.
  return unsafe UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}

@c @implementation
package func afm_version() -> Int32 { AFM_VERSION }
