/// Packs a matrix with 2, 4 and 8 bits, multiplies it with tokens at every level of this CPU, on one
/// thread, on the library's and on the program's own, and holds the results against the formula:
///
///     $ tools/build-c-library build
///     $ example=Documentation/Examples/packed_product.c
///     $ cc -std=c11 -Ibuild/include $example build/lib/libafm_kernels.a -o packed_product
///     $ ./packed_product
///     avx2     gemv_f32_s8t_u2c_r16_avx2                 1 token    0.31 of the bound
///     avx2     gemm_f32_s8t_u2c_r16t6_avx2              12 tokens   0.35 of the bound
///     ...
///
/// The bound is what rounding activations to int8 can do: half a step for each column.
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "afm_kernels.h"

enum { ROWS = 200, COLUMNS = 300, MANY_TOKENS = 12, THREADS = 3 };

/// Ends the program where a call fails.
static void check(afm_error error, const char *call) {
  if (error == AFM_OK) return;
  fprintf(stderr, "%s: %s\n", call, afm_error_text(error));
  exit(1);
}
#define CHECK(CALL) check((CALL), #CALL)

/// Memory that the kernels can use: its byte count is a multiple of 64.
static void *allocate(size_t bytes) {
  void *memory = aligned_alloc(64, bytes);
  if (memory == NULL) abort();
  return memory;
}

/// A number between -1 and 1.
static float next(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (float)(int32_t)(*state >> 32) * 0x1p-31f;
}

/// What one of the program's own threads does: its share of the rows.
typedef struct share {
  const afm_library *library;
  const afm_matrix *w;
  const afm_activations *x;
  int64_t thread;
  float *y;
  size_t y_bytes;
} share;

static void *run_share(void *argument) {
  const share *s = argument;
  int64_t begin, end;
  CHECK(afm_share_rows(ROWS, s->thread, THREADS, &begin, &end));
  size_t scratch_bytes;
  CHECK(afm_scratch_bytes(s->w->format, s->x->tokens, COLUMNS, 1, &scratch_bytes));
  void *scratch = scratch_bytes > 0 ? allocate(scratch_bytes) : NULL;
  CHECK(afm_multiply_rows(
      s->library, s->w, s->x, begin, end, s->y, s->y_bytes, ROWS, scratch, scratch_bytes));
  free(scratch);
  return NULL;
}

/// The largest error of the products over what quantizing the activations allows.
static double worst(const afm_matrix *w, const float *x, const float *y, int64_t tokens) {
  static float row[COLUMNS];
  double worst = 0;
  for (int64_t r = 0; r < ROWS; r += 1) {
    CHECK(afm_dequantize_row(w, r, row, sizeof row));
    for (int64_t t = 0; t < tokens; t += 1) {
      double sum = 0, weights = 0, largest = 0;
      for (int64_t c = 0; c < COLUMNS; c += 1) {
        const double v = x[t * COLUMNS + c], magnitude = row[c] < 0 ? -row[c] : row[c];
        sum += row[c] * v;
        weights += magnitude;
        if (v > largest || -v > largest) largest = v < 0 ? -v : v;
      }
      const double step = largest / 127, error = y[t * ROWS + r] - sum;
      // A hundredth more, for the roundings of the f32 sums.
      const double ratio = (error < 0 ? -error : error) / (weights * step * 0.505);
      // Not a number is worst of all.
      if (!(ratio <= worst)) worst = ratio;
    }
  }
  return worst;
}

/// All ways to multiply one packed matrix with some tokens at one level.
static int run(const afm_library *library, afm_pool *pool, const afm_matrix *w, int64_t tokens) {
  uint64_t state = 2;
  static float floats[MANY_TOKENS * COLUMNS];
  for (int i = 0; i < MANY_TOKENS * COLUMNS; i += 1) floats[i] = next(&state);

  afm_activations x = {.format = w->format, .tokens = tokens, .columns = COLUMNS};
  CHECK(afm_activation_bytes(x.format, x.tokens, x.columns, &x.memory_bytes));
  x.memory = allocate(x.memory_bytes);
  CHECK(afm_quantize(library, NULL, &x, floats, sizeof floats, COLUMNS));

  size_t scratch_bytes;
  CHECK(afm_scratch_bytes(w->format, tokens, COLUMNS, afm_pool_threads(pool), &scratch_bytes));
  void *scratch = scratch_bytes > 0 ? allocate(scratch_bytes) : NULL;
  static float y[3][MANY_TOKENS * ROWS];
  memset(y, 0xFF, sizeof y);
  CHECK(afm_multiply(library, NULL, w, &x, y[0], sizeof y[0], ROWS, scratch, scratch_bytes));
  CHECK(afm_multiply(library, pool, w, &x, y[1], sizeof y[1], ROWS, scratch, scratch_bytes));
  pthread_t threads[THREADS];
  share shares[THREADS];
  for (int i = 0; i < THREADS; i += 1) {
    shares[i] = (share){library, w, &x, i, y[2], sizeof y[2]};
    if (pthread_create(&threads[i], NULL, run_share, &shares[i]) != 0) abort();
  }
  for (int i = 0; i < THREADS; i += 1) pthread_join(threads[i], NULL);

  const double error = worst(w, floats, y[0], tokens);
  const size_t bytes = (size_t)tokens * ROWS * sizeof(float);
  const int is_equal = memcmp(y[0], y[1], bytes) == 0 && memcmp(y[0], y[2], bytes) == 0;
  printf(
      "%-12s %-44s %3" PRId64 " token%c %6.2f of the bound%s\n",
      afm_level_name(afm_library_level(library)), afm_kernel_name(library, w->format, tokens),
      tokens, tokens == 1 ? ' ' : 's', error, is_equal ? "" : ", threads differ");
  free(x.memory);
  free(scratch);
  return error <= 1 && is_equal;
}

int main(void) {
  static float weights[ROWS * COLUMNS];
  uint64_t state = 1;
  for (int i = 0; i < ROWS * COLUMNS; i += 1) weights[i] = next(&state);
  static const afm_format formats[] = {AFM_FORMAT_U2C,   AFM_FORMAT_U2G64, AFM_FORMAT_U4G32,
                                       AFM_FORMAT_U4C,   AFM_FORMAT_S8C,   AFM_FORMAT_S8G32};
  afm_pool *pool;
  CHECK(afm_pool_create(0, &pool));
  int is_right = 1;
  for (size_t f = 0; f < sizeof formats / sizeof *formats; f += 1) {
    afm_matrix w = {.format = formats[f], .rows = ROWS, .columns = COLUMNS};
    CHECK(afm_matrix_bytes(w.format, w.rows, w.columns, &w.memory_bytes));
    w.memory = allocate(w.memory_bytes);
    CHECK(afm_pack(&w, 0, ROWS, weights, sizeof weights, NULL));
    for (afm_level level = AFM_LEVEL_PORTABLE; afm_level_name(level) != NULL; level += 1) {
      afm_library *library;
      const afm_error error = afm_library_create(level, &library);
      if (error == AFM_ERROR_UNAVAILABLE) continue;
      check(error, "afm_library_create");
      is_right &= run(library, pool, &w, 1) & run(library, pool, &w, MANY_TOKENS);
      afm_library_destroy(library);
    }
    free(w.memory);
  }
  afm_pool_destroy(pool);
  puts(is_right ? "all right" : "wrong");
  return is_right ? 0 : 1;
}
