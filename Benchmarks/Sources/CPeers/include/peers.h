/// What a library of others' products must offer to be timed beside ours.
///
/// It comes as a shared object of its own, so that its symbols, its compiler and its flags meet
/// nothing of ours; `peers_load` opens it.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

#if defined(__clang__)
// What may be NULL and what not, for Swift.
#pragma clang assume_nonnull begin
#define PEERS_NULLABLE _Nullable
#define PEERS_NONNULL _Nonnull
#else
#define PEERS_NULLABLE
#define PEERS_NONNULL
#endif

/// Threads of the other library, which wait as it has them wait.
typedef struct peer_threads peer_threads;

/// A product y = W · x over and over, of weights that change with every call.
typedef struct peer_product peer_product;

/// What is multiplied. Both pointers stay valid as long as the product.
typedef struct peer_operands {
  int64_t rows;
  int64_t columns;
  int64_t tokens;
  /// f32 [distinct_rows][columns]; the matrix repeats them from its first row on.
  const float *weights;
  int64_t distinct_rows;
  /// f32 [tokens][columns].
  const float *input;
  /// The weights are laid out again until they take so many bytes.
  size_t total_bytes;
} peer_operands;

typedef struct peer_functions {
  /// The library's name and version; valid for ever.
  const char *PEERS_NONNULL (*PEERS_NONNULL name)(void);
  /// The name of the index-th type that has products, NULL after the last; valid for ever.
  const char *PEERS_NULLABLE (*PEERS_NONNULL type_name)(int32_t index);
  /// So many threads, the caller included.
  peer_threads *PEERS_NONNULL (*PEERS_NONNULL start_threads)(int32_t count);
  /// Puts them to sleep until the next product.
  void (*PEERS_NONNULL rest_threads)(peer_threads *threads);
  /// After the last product that uses them is gone.
  void (*PEERS_NONNULL end_threads)(peer_threads *threads);
  /// NULL where there is no such type, or the columns are no multiple of its packed block's.
  peer_product *PEERS_NULLABLE (*PEERS_NONNULL make_product)(
      peer_threads *threads, const char *type, const peer_operands *operands);
  void (*PEERS_NONNULL free_product)(peer_product *product);
  /// Bytes of one copy of the weights.
  size_t (*PEERS_NONNULL weight_bytes)(const peer_product *product);
  /// What the library calls the memory that it would keep such weights in.
  const char *PEERS_NONNULL (*PEERS_NONNULL place)(const peer_product *product);
  /// The values that a row's codes stand for.
  void (*PEERS_NONNULL dequantize_row)(const peer_product *product, int64_t row, float *values);
  /// So many products, one after the other, each of them from f32 to f32.
  void (*PEERS_NONNULL multiply)(peer_product *product, int64_t count);
  /// The last product's result, f32 [tokens][rows].
  const float *PEERS_NONNULL (*PEERS_NONNULL output)(const peer_product *product);
} peer_functions;

/// The one symbol of such a library.
#define PEERS_SYMBOL "peers_functions"

/// Opens a library, which is never closed again. NULL where that fails, with the reason in `*error`.
const peer_functions *PEERS_NULLABLE peers_load(
    const char *path, const char *PEERS_NULLABLE *PEERS_NULLABLE error);

#if defined(__clang__)
#pragma clang assume_nonnull end
#endif

#if defined(__cplusplus)
}
#endif
