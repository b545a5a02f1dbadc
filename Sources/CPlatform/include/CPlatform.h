/// What the thread pool and probes need from Linux and from C's atomics: futexes, affinity, pause.
#pragma once

#include <stdint.h>
#include <time.h>

/// Sleeps while *word equals expected; returns on a wake, a signal, or where it differs already.
void cp_futex_wait(uint32_t *_Nonnull word, uint32_t expected);

/// Wakes up to count sleepers on word.
void cp_futex_wake(uint32_t *_Nonnull word, int32_t count);

/// Starts a thread that calls `body` with the argument; 0, or an errno. It receives no signals but
/// those of its own faults.
int32_t cp_thread_start(
    void *_Nullable (*_Nonnull body)(void *_Nullable), void *_Nullable argument,
    uintptr_t *_Nonnull thread);

/// The number of threads that cp_thread_start could not start so far, and the errno of the last one.
uint32_t cp_refused_thread_count(int32_t *_Nonnull error);

/// Waits until a thread has ended.
void cp_thread_join(uintptr_t thread);

/// The number of CPUs this process may run on, at least 1.
int32_t cp_available_core_count(void);

/// Pins the calling thread to the index-th CPU (modulo their number) that the process may run on;
/// 0, or an errno where the system refuses.
int32_t cp_pin_to_core(int32_t index);

/// The number of this process.
int32_t cp_process(void);

/// A word that is 1 in this process and 0 in every process that is forked from it afterwards: a page
/// that the kernel clears at a fork (Linux 4.14). NULL where there is none.
uint32_t *_Nullable cp_fork_mark_create(void);
void cp_fork_mark_destroy(uint32_t *_Nonnull mark);

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

/// Gives the calling thread the floating-point mode that programs begin with (to nearest even,
/// subnormal numbers as they are, no traps) and returns the one before. A few cycles where it is that.
static inline uint64_t cp_enter_default_float_mode(void) {
#if defined(__x86_64__)
  const uint32_t before = __builtin_ia32_stmxcsr();
  // The lowest six bits are the flags of exceptions that have happened.
  if ((before & ~0x3Fu) != 0x1F80) __builtin_ia32_ldmxcsr(0x1F80);
  return before;
#elif defined(__aarch64__)
  uint64_t before;
  __asm__ volatile("mrs %0, fpcr" : "=r"(before));
  if (before != 0) __asm__ volatile("msr fpcr, %0" ::"r"((uint64_t)0) : "memory");
  return before;
#else
  return 0;
#endif
}

/// Gives the mode back, with its flags, that cp_enter_default_float_mode returned.
static inline void cp_leave_default_float_mode(uint64_t before) {
#if defined(__x86_64__)
  if ((before & ~0x3Fu) != 0x1F80) __builtin_ia32_ldmxcsr((uint32_t)before);
#elif defined(__aarch64__)
  if (before != 0) __asm__ volatile("msr fpcr, %0" ::"r"(before) : "memory");
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
