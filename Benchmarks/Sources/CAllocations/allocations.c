// glibc lets a program define these functions, and has its own under names that stay reachable.
// Those of a program come before every library's.
#include "allocations.h"

#include <errno.h>
#include <stddef.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static uint64_t count;

static void counted(void) { __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED); }

uint64_t allocation_count(void) { return __atomic_load_n(&count, __ATOMIC_RELAXED); }

void *malloc(size_t bytes) {
  counted();
  return __libc_malloc(bytes);
}

void *calloc(size_t number, size_t bytes) {
  counted();
  return __libc_calloc(number, bytes);
}

void *realloc(void *memory, size_t bytes) {
  counted();
  return __libc_realloc(memory, bytes);
}

void *memalign(size_t alignment, size_t bytes) {
  counted();
  return __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) {
  counted();
  return __libc_memalign(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  counted();
  *memory = __libc_memalign(alignment, bytes);
  return *memory ? 0 : ENOMEM;
}
