/// What the thread pool and probes need from Linux and from C's atomics: futexes, affinity, pause.
#pragma once

#include <stdint.h>
#include <time.h>

/// Sleeps while *word equals expected; returns on a wake, a signal, or where it differs already.
void cp_futex_wait(uint32_t *_Nonnull word, uint32_t expected);

/// Wakes up to count sleepers on word.
void cp_futex_wake(uint32_t *_Nonnull word, int32_t count);

/// Starts a thread that receives no signals and calls `body` with the argument; 0, or an errno.
int32_t cp_thread_start(
    void *_Nullable (*_Nonnull body)(void *_Nullable), void *_Nullable argument,
    uintptr_t *_Nonnull thread);

/// Waits until a thread has ended.
void cp_thread_join(uintptr_t thread);

/// The number of CPUs this process may run on, at least 1.
int32_t cp_available_core_count(void);

/// Pins the calling thread to the index-th CPU (modulo their number) that the process may run on;
/// 0, or an errno where the system refuses.
int32_t cp_pin_to_core(int32_t index);

/// CLOCK_MONOTONIC; about 20 ns.
static inline uint64_t cp_monotonic_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/// Tells the CPU that this thread is spinning.
static inline void cp_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static inline uint32_t cp_load_acquire(const uint32_t *_Nonnull word) {
  return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline uint32_t cp_load(const uint32_t *_Nonnull word) {
  return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static inline void cp_store(uint32_t *_Nonnull word, uint32_t value) {
  __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

/// Adds and returns the value before.
static inline uint32_t cp_fetch_add(uint32_t *_Nonnull word, uint32_t value) {
  return __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);
}

static inline uint64_t cp_load64_acquire(const uint64_t *_Nonnull word) {
  return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void cp_store64(uint64_t *_Nonnull word, uint64_t value) {
  __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

/// Replaces the expected value and returns true, or returns false where the word holds another one.
static inline _Bool cp_replace64(
    uint64_t *_Nonnull word, uint64_t expected, uint64_t desired) {
  return __atomic_compare_exchange_n(
      word, &expected, desired, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}
