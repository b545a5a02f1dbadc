#define _GNU_SOURCE
#include "CFuzz.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

// The interface of the sanitizers' allocator (sanitizer/allocator_interface.h); not there where the
// program is built without the address sanitizer, and then nothing is counted.
__attribute__((weak)) size_t __sanitizer_get_allocated_size(const volatile void *address);
__attribute__((weak)) int __sanitizer_install_malloc_and_free_hooks(
    void (*malloc_hook)(const volatile void *, size_t), void (*free_hook)(const volatile void *));

static atomic_llong held, peak;

static void allocated(const volatile void *address, size_t count) {
  long long now = atomic_fetch_add(&held, (long long)count) + (long long)count;
  long long before = atomic_load(&peak);
  while (now > before && !atomic_compare_exchange_weak(&peak, &before, now)) {
  }
}

static void freed(const volatile void *address) {
  if (address == NULL) return;
  atomic_fetch_sub(&held, (long long)__sanitizer_get_allocated_size(address));
}

void allocations_start(void) {
  static int installed;
  if (!installed && __sanitizer_install_malloc_and_free_hooks) {
    installed = 1;
    __sanitizer_install_malloc_and_free_hooks(allocated, freed);
  }
  // What was allocated before and is freed from here on counts as negative.
  atomic_store(&held, 0);
  atomic_store(&peak, 0);
}

size_t allocations_peak(void) { return (size_t)atomic_load(&peak); }

int has_address_sanitizer(void) { return __sanitizer_install_malloc_and_free_hooks != NULL; }

double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int memory_file(void) { return memfd_create("fuzz", 0); }
