import TestSupport

/// A program in C over the shared library: what only another process, or libc in its place, can
/// see.
enum CProgram {
  /// Compiles it, with warnings as errors, and runs it.
  static func run(
    _ source: String, _ arguments: [String] = [], seconds: Double = 60
  ) throws -> Program.Result {
    let folder = try Oracle.cLibrary.path()
    let scratch = try TemporaryFolder()
    try source.write(to: scratch.url("main.c"), atomically: true, encoding: .utf8)
    _ = try Oracle.tool("cc").run([
      "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-I\(folder)/include",
      scratch.file("main.c"), "-L\(folder)/lib", "-lafm_kernels", "-Wl,-rpath,\(folder)/lib",
      "-ldl", "-lm", "-o", scratch.file("program"),
    ])
    return try Program.run(scratch.file("program"), arguments, seconds: seconds)
  }

  /// The beginning of every program: a packed matrix, quantized tokens and their product.
  static let prelude = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <errno.h>
    #include <math.h>
    #include <pthread.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/wait.h>
    #include <unistd.h>
    #include "afm_kernels.h"

    enum { ROWS = 512, COLUMNS = 512, TOKENS = 3 };
    static float weights[ROWS * COLUMNS], input[TOKENS * COLUMNS];
    static afm_library *library;
    static afm_matrix w;
    static afm_activations x;
    static void *scratch;
    static size_t scratch_bytes;

    static void check(afm_error error) {
      if (error != AFM_OK) { puts(afm_error_text(error)); _exit(1); }
    }

    static void *allocate(size_t bytes) { return aligned_alloc(64, (bytes + 127) / 64 * 64); }

    /// Everything for products of a format, for as many threads as a pool may have here.
    static void prepare(afm_level level, afm_format format, int64_t tokens) {
      for (int i = 0; i < ROWS * COLUMNS; i += 1) weights[i] = (float)(i % 37) - 18;
      for (int i = 0; i < TOKENS * COLUMNS; i += 1) input[i] = (float)(i % 29) - 14;
      check(afm_library_create(level, &library));
      w = (afm_matrix){format, ROWS, COLUMNS, NULL, 0};
      check(afm_matrix_bytes(format, ROWS, COLUMNS, &w.memory_bytes));
      w.memory = allocate(w.memory_bytes);
      check(afm_pack(&w, 0, ROWS, weights, sizeof weights, NULL));
      x = (afm_activations){format, tokens, COLUMNS, NULL, 0};
      check(afm_activation_bytes(format, tokens, COLUMNS, &x.memory_bytes));
      x.memory = allocate(x.memory_bytes);
      check(afm_quantize(library, NULL, &x, input, sizeof input, COLUMNS));
      check(afm_scratch_bytes(format, tokens, COLUMNS, 8, &scratch_bytes));
      scratch = allocate(scratch_bytes);
    }

    static void multiply(afm_pool *pool, float *output) {
      check(afm_multiply(
          library, pool, &w, &x, output, sizeof(float) * TOKENS * ROWS, ROWS, scratch,
          scratch_bytes));
    }

    """
}
