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
  case iq2XXS = 16
  case iq2XS = 17
  case iq3XXS = 18
  case iq1S = 19
  case iq4NL = 20
  case iq3S = 21
  case iq2S = 22
  case iq4XS = 23
  case i8 = 24
  case i16 = 25
  case i32 = 26
  case i64 = 27
  case f64 = 28
  case iq1M = 29
  case bf16 = 30
  case tq1_0 = 34
  case tq2_0 = 35
  case mxfp4 = 39
  case nvfp4 = 40

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
    case .iq2XXS: "IQ2_XXS"
    case .iq2XS: "IQ2_XS"
    case .iq2S: "IQ2_S"
    case .iq3XXS: "IQ3_XXS"
    case .iq3S: "IQ3_S"
    case .iq1S: "IQ1_S"
    case .iq1M: "IQ1_M"
    case .tq1_0: "TQ1_0"
    case .tq2_0: "TQ2_0"
    case .mxfp4: "MXFP4"
    case .nvfp4: "NVFP4"
    case .i8: "I8"
    case .i16: "I16"
    case .i32: "I32"
    case .i64: "I64"
    case .f64: "F64"
    case .bf16: "BF16"
    }
  }

  /// Consecutive elements of a row that are stored as one unit; the row is a multiple of it.
  package var unitElementCount: Int {
    switch self {
    case .f32, .f16, .bf16, .f64, .i8, .i16, .i32, .i64: 1
    case .q4_0, .q4_1, .q5_0, .q5_1, .q8_0, .iq4NL, .mxfp4: 32
    case .nvfp4: 64
    case .q2K, .q3K, .q4K, .q5K, .q6K, .iq4XS, .iq2XXS, .iq2XS, .iq2S, .iq3XXS, .iq3S, .iq1S,
      .iq1M, .tq1_0, .tq2_0:
      256
    }
  }

  /// Bytes of one unit.
  package var unitByteCount: Int {
    switch self {
    case .f64, .i64: 8
    case .f32, .i32: 4
    case .f16, .bf16, .i16: 2
    case .i8: 1
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
    case .iq2XXS, .tq2_0: 66
    case .iq2XS: 74
    case .iq2S: 82
    case .iq3XXS: 98
    case .iq3S: 110
    case .iq1S: 50
    case .iq1M: 56
    case .tq1_0: 54
    case .mxfp4: 17
    case .nvfp4: 36
    }
  }
}
