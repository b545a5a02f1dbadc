import Foundation
import TestSupport
import Testing

/// What the page for other engines says.
@Suite struct OtherEnginesTests {
  static let page = Repository.file(
    "Sources/QuantKernels/QuantKernels.docc/OtherEngines.md")

  /// The file sizes of the page, within a quarter: they move with every change of a kernel.
  @Test(.needs(.cLibrary)) func filesHaveAboutTheSizesOfThePage() throws {
    let text = try String(contentsOf: Self.page, encoding: .utf8)
    let folder = try Oracle.cLibrary.path()
    var count = 0
    for match in text.matches(of: /built build\/(lib\/\S+) \((\d+) KB\)/) {
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(match.1)")
      let size = try #require(attributes[.size] as? Int) / 1000
      let said = try #require(Int(match.2))
      #expect(abs(size - said) * 4 < said, "\(match.1) has \(size) KB, the page says \(said)")
      count += 1
    }
    #expect(count == 2)
  }

  /// The page's functions, on blocks of random bytes, against the formulas of GGUF.
  @Test(.needs(.cLibrary, .tool("cc"))) func weightsOfGGUFComeThroughExactly() throws {
    let text = try String(contentsOf: Self.page, encoding: .utf8)
    let block = try #require(text.firstMatch(of: /```c\n((?:.|\n)*?)```/))
    let source =
      CProgram.prelude + block.1 + """

        /// A number that binary16 holds, as bits and as a float.
        static float half(uint16_t *bits, int number) {
          const int exponent = number % 12 - 6, fraction = number * 37 % 1024;
          const int sign = number % 3 == 0;
          *bits = (uint16_t)(sign << 15 | (exponent + 15) << 10 | fraction);
          return (sign ? -1 : 1) * ldexpf(1 + (float)fraction / 1024, exponent);
        }

        static void pack(afm_matrix *m, afm_format format, const afm_planes *planes) {
          *m = (afm_matrix){format, 1, COLUMNS, NULL, 0};
          check(afm_matrix_bytes(format, 1, COLUMNS, &m->memory_bytes));
          m->memory = allocate(m->memory_bytes);
          check(afm_pack_planes(m, 0, 1, planes));
          check(afm_check_matrix(m, 0, 1));
        }

        int main(void) {
          enum { BLOCKS = COLUMNS / 32 };
          static uint8_t q4[BLOCKS * 20], q8[BLOCKS * 34], codes[COLUMNS];
          static uint16_t scales[BLOCKS], minimums[BLOCKS];
          static float expected[2][COLUMNS], found[COLUMNS];
          for (int b = 0; b < BLOCKS; b += 1) {
            uint16_t d, m;
            // Scales are not negative.
            const float scale = fabsf(half(&d, b * 5 + 1)), minimum = half(&m, b * 7 + 2);
            d &= 0x7FFF;
            memcpy(q4 + 20 * b, &d, 2);
            memcpy(q4 + 20 * b + 2, &m, 2);
            memcpy(q8 + 34 * b, &d, 2);
            for (int i = 0; i < 32; i += 1) {
              const int q = (b * 31 + i * 7) % 16, s = (b * 29 + i * 11) % 255 - 127;
              q4[20 * b + 4 + i % 16] |= (uint8_t)(q << (i < 16 ? 0 : 4));
              q8[34 * b + 2 + i] = (uint8_t)(int8_t)s;
              volatile const float product = (float)q * scale;
              expected[0][32 * b + i] = product + minimum;
              expected[1][32 * b + i] = (float)s * scale;
            }
          }
          afm_matrix matrix;
          planes_of_q4_1(q4, COLUMNS, codes, scales, minimums);
          pack(&matrix, AFM_FORMAT_U4G32, &(afm_planes){
              codes, COLUMNS / 2, scales, sizeof scales, minimums, sizeof minimums});
          check(afm_dequantize_row(&matrix, 0, found, sizeof found));
          if (memcmp(found, expected[0], sizeof found) != 0) return 2;
          planes_of_q8_0(q8, COLUMNS, (int8_t *)codes, scales);
          pack(&matrix, AFM_FORMAT_S8G32, &(afm_planes){
              codes, COLUMNS, scales, sizeof scales, NULL, 0});
          check(afm_dequantize_row(&matrix, 0, found, sizeof found));
          if (memcmp(found, expected[1], sizeof found) != 0) return 3;
          // What the others of this file's programs use.
          (void)prepare;
          (void)multiply;
          puts("exact");
          return 0;
        }
        """
    let result = try CProgram.run(source)
    #expect(result.status == 0 && result.outputText == "exact\n", "\(result)")
  }
}
