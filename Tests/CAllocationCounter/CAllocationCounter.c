#include "CAllocationCounter.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static atomic_bool is_counting;
static _Atomic(uint64_t) count;

void ac_start(void) {
  atomic_store(&count, 0);
  atomic_store(&is_counting, true);
}

uint64_t ac_stop(void) {
  atomic_store(&is_counting, false);
  return atomic_load(&count);
}

#if defined(__GLIBC__)
// The program's own functions come before those of the C library, for the program and for all that
// it loads. The library's are still there under their second names.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static void note(void) {
  if (atomic_load_explicit(&is_counting, memory_order_relaxed)) {
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
  }
}

bool ac_is_available(void) { return true; }

void *malloc(size_t size) {
  note();
  return __libc_malloc(size);
}

void *calloc(size_t items, size_t size) {
  note();
  return __libc_calloc(items, size);
}

void *realloc(void *old, size_t size) {
  note();
  return __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size) {
  note();
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **result, size_t alignment, size_t size) {
  enum { INVALID = 22, NO_MEMORY = 12 };
  if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0) return INVALID;
  void *memory = memalign(alignment, size);
  if (!memory) return NO_MEMORY;
  *result = memory;
  return 0;
}
#else
bool ac_is_available(void) { return false; }
#endif
