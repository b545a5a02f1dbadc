#include "CAllocationGuard.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "CProcess.h"

#if defined(__GLIBC__) && !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) && \
    !__has_feature(memory_sanitizer)

_Bool cag_is_active(void) { return 1; }

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

/// What an allocator returned; ends the program where that is nothing.
static inline void *checked(void *address, size_t byte_count) {
  // Before the program has installed its handlers, the caller sees the failure, as ever.
  if (__builtin_expect(address == NULL, 0) && cpr_is_installed()) cpr_end_out_of_memory(byte_count);
  return address;
}

void *malloc(size_t byte_count) { return checked(__libc_malloc(byte_count), byte_count); }

void *calloc(size_t count, size_t byte_count) {
  size_t total;
  if (__builtin_mul_overflow(count, byte_count, &total)) total = (size_t)-1;
  return checked(__libc_calloc(count, byte_count), total);
}

void *realloc(void *address, size_t byte_count) {
  void *const result = __libc_realloc(address, byte_count);
  // Zero bytes of something are a free.
  return byte_count == 0 ? result : checked(result, byte_count);
}

void *memalign(size_t alignment, size_t byte_count) {
  return checked(__libc_memalign(alignment, byte_count), byte_count);
}

void *aligned_alloc(size_t alignment, size_t byte_count) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
    errno = EINVAL;
    return NULL;
  }
  return checked(__libc_memalign(alignment, byte_count), byte_count);
}

int posix_memalign(void **result, size_t alignment, size_t byte_count) {
  if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) {
    return EINVAL;
  }
  void *const address = checked(__libc_memalign(alignment, byte_count), byte_count);
  if (address == NULL) return ENOMEM;
  *result = address;
  return 0;
}

void *valloc(size_t byte_count) { return memalign((size_t)getpagesize(), byte_count); }

#else

_Bool cag_is_active(void) { return 0; }

#endif
