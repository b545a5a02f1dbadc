/// How GGUF stores the elements of a tensor; the raw value is the number in the file.
///
/// Only the types that `GGUFDequantizer` reads are listed; any other number is refused by name.
package enum GGUFTensorType: UInt32, CaseIterable, Hashable, Sendable {
  case f32 = 0
  case f16 = 1
  case q4_0 = 2
  case q4_1 = 3
  case q5_0 = 6
  case q5_1 = 7
  case q8_0 = 8
  case q2K = 10
  case q3K = 11
  case q4K = 12
  case q5K = 13
  case q6K = 14
  case iq4NL = 20
  case iq4XS = 23
  case bf16 = 30

  /// The name GGUF's own tools print.
  package var name: String {
    switch self {
    case .f32: "F32"
    case .f16: "F16"
    case .q4_0: "Q4_0"
    case .q4_1: "Q4_1"
    case .q5_0: "Q5_0"
    case .q5_1: "Q5_1"
    case .q8_0: "Q8_0"
    case .q2K: "Q2_K"
    case .q3K: "Q3_K"
    case .q4K: "Q4_K"
    case .q5K: "Q5_K"
    case .q6K: "Q6_K"
    case .iq4NL: "IQ4_NL"
    case .iq4XS: "IQ4_XS"
    case .bf16: "BF16"
    }
  }

  /// Consecutive elements of a row that are stored as one unit; the row is a multiple of it.
  package var unitElementCount: Int {
    switch self {
    case .f32, .f16, .bf16: 1
    case .q4_0, .q4_1, .q5_0, .q5_1, .q8_0, .iq4NL: 32
    case .q2K, .q3K, .q4K, .q5K, .q6K, .iq4XS: 256
    }
  }

  /// Bytes of one unit.
  package var unitByteCount: Int {
    switch self {
    case .f32: 4
    case .f16, .bf16: 2
    case .q4_0, .iq4NL: 18
    case .q4_1: 20
    case .q5_0: 22
    case .q5_1: 24
    case .q8_0: 34
    case .q2K: 84
    case .q3K: 110
    case .q4K: 144
    case .q5K: 176
    case .q6K: 210
    case .iq4XS: 136
    }
  }
}
