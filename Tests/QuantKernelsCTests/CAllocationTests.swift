import Foundation
import TestSupport
import Testing

/// What the shared library asks the system for, seen by a program that counts.
@Suite struct CAllocationTests {
  /// Every allocation of Embedded Swift is a `posix_memalign`, and this program's own comes before
  /// the C library's.
  static let program = """
    #define _GNU_SOURCE
    #include <errno.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include "afm_kernels.h"

    enum { ROWS = 96, COLUMNS = 512, TOKENS = 40 };
    static int count;

    int posix_memalign(void **memory, size_t alignment, size_t bytes) {
      __atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST);
      *memory = aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
      return *memory == NULL ? ENOMEM : 0;
    }

    static void check(afm_error error) {
      if (error != AFM_OK) { puts(afm_error_text(error)); exit(1); }
    }

    int main(void) {
      static float weights[ROWS * COLUMNS], input[TOKENS * COLUMNS], output[TOKENS * ROWS];
      static const afm_format formats[] = {16, 17, 32, 33, 48, 49};
      for (int i = 0; i < ROWS * COLUMNS; i += 1) weights[i] = (float)(i % 37) - 18;
      for (int i = 0; i < TOKENS * COLUMNS; i += 1) input[i] = (float)(i % 29) - 14;
      afm_pool *pool;
      check(afm_pool_create(0, &pool));
      int before = 0, during = 0, packing = 0;
      for (afm_level level = 1; level <= 4; level += 1) {
        afm_library *library;
        if (afm_library_create(level, &library) == AFM_ERROR_UNAVAILABLE) continue;
        before += count;
        for (int f = 0; f < 6; f += 1) {
          afm_matrix w = {formats[f], ROWS, COLUMNS, NULL, 0};
          check(afm_matrix_bytes(w.format, ROWS, COLUMNS, &w.memory_bytes));
          w.memory = aligned_alloc(64, w.memory_bytes);
          count = 0;
          check(afm_pack(&w, 0, ROWS, weights, sizeof weights, NULL));
          packing += count;
          for (int64_t tokens = 1; tokens <= TOKENS; tokens += 13) {
            afm_activations x = {w.format, tokens, COLUMNS, NULL, 0};
            check(afm_activation_bytes(x.format, tokens, COLUMNS, &x.memory_bytes));
            x.memory = aligned_alloc(64, x.memory_bytes);
            size_t bytes;
            check(afm_scratch_bytes(w.format, tokens, COLUMNS, afm_pool_threads(pool), &bytes));
            void *scratch = aligned_alloc(64, bytes + 64);
            count = 0;
            check(afm_quantize(library, pool, &x, input, sizeof input, COLUMNS));
            check(afm_quantize_tokens(library, &x, 0, 1, input, sizeof input, COLUMNS));
            check(afm_multiply(library, pool, &w, &x, output, sizeof output, ROWS, scratch, bytes));
            check(afm_multiply(library, NULL, &w, &x, output, sizeof output, ROWS, scratch, bytes));
            check(afm_multiply_rows(
                library, &w, &x, 16, 48, output, sizeof output, ROWS, scratch, bytes));
            check(afm_dequantize_row(&w, 7, output, sizeof output));
            if (afm_kernel_name(library, w.format, tokens) == NULL) return 1;
            during += count;
          }
        }
        afm_library_destroy(library);
        count = 0;
      }
      printf("%d %d %d\\n", before > 0, packing > 0, during);
      return 0;
    }
    """

  @Test(.needs(.cLibrary, .tool("cc"))) func noCallAfterPackingAllocates() throws {
    let folder = try Oracle.cLibrary.path()
    let scratch = try TemporaryFolder()
    try Self.program.write(to: scratch.url("main.c"), atomically: true, encoding: .utf8)
    _ = try Oracle.tool("cc").run([
      "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-I\(folder)/include",
      scratch.file("main.c"), "-L\(folder)/lib", "-lafm_kernels", "-Wl,-rpath,\(folder)/lib",
      "-o", scratch.file("program"),
    ])
    let result = try Program.run(scratch.file("program"), [])
    // Choosing kernels and packing do, which shows that the count works.
    #expect(result.status == 0 && result.outputText == "1 1 0\n", "\(result)")
  }
}
