#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CPlatform.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void cp_futex_wait(uint32_t *word, uint32_t expected) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

void cp_futex_wake(uint32_t *word, int32_t count) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

/// The CPUs of a machine with up to this many are seen; with more the system call refuses.
enum { CORE_LIMIT = 8192 };

typedef union {
  cpu_set_t first;
  unsigned long words[CORE_LIMIT / (8 * sizeof(unsigned long))];
} core_set;

int32_t cp_available_core_count(void) {
  core_set set = {0};
  if (sched_getaffinity(0, sizeof set, &set.first) != 0) return 1;
  const int count = CPU_COUNT_S(sizeof set, &set.first);
  return count > 0 ? count : 1;
}

int32_t cp_pin_to_core(int32_t index) {
  core_set set = {0};
  if (index < 0) return EINVAL;
  if (sched_getaffinity(0, sizeof set, &set.first) != 0) return errno;
  const int count = CPU_COUNT_S(sizeof set, &set.first);
  if (count <= 0) return EINVAL;
  int32_t left = index % count;
  for (int core = 0; core < CORE_LIMIT; core += 1) {
    if (!CPU_ISSET_S(core, sizeof set, &set.first) || left-- > 0) continue;
    core_set one = {0};
    CPU_SET_S(core, sizeof one, &one.first);
    return sched_setaffinity(0, sizeof one, &one.first) == 0 ? 0 : errno;
  }
  return EINVAL;
}

/// Refused threads in the lower half, the errno of the last refusal in the upper.
static uint64_t refusals;

int32_t cp_thread_start(void *(*body)(void *), void *argument, uintptr_t *thread) {
  sigset_t blocked, before;
  sigfillset(&blocked);
  // A fault of the thread's own must find its handler: blocked, it would end the process unseen.
  const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS};
  for (size_t index = 0; index < sizeof faults / sizeof *faults; index += 1) {
    sigdelset(&blocked, faults[index]);
  }
  // A thread begins with the mask of the one that starts it.
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  pthread_t started;
  const int error = pthread_create(&started, NULL, body, argument);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error == 0) {
    *thread = (uintptr_t)started;
  } else {
    const uint64_t count = (uint32_t)__atomic_load_n(&refusals, __ATOMIC_RELAXED) + 1;
    __atomic_store_n(&refusals, (uint64_t)(uint32_t)error << 32 | count, __ATOMIC_RELAXED);
  }
  return error;
}

uint32_t cp_refused_thread_count(int32_t *error) {
  const uint64_t value = __atomic_load_n(&refusals, __ATOMIC_RELAXED);
  *error = (int32_t)(value >> 32);
  return (uint32_t)value;
}

void cp_thread_join(uintptr_t thread) { pthread_join((pthread_t)thread, NULL); }

int32_t cp_process(void) { return getpid(); }

uint32_t *cp_fork_mark_create(void) {
  void *page = mmap(
      NULL, sizeof(uint32_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return NULL;
  if (madvise(page, sizeof(uint32_t), MADV_WIPEONFORK) != 0) {
    munmap(page, sizeof(uint32_t));
    return NULL;
  }
  *(uint32_t *)page = 1;
  return page;
}

void cp_fork_mark_destroy(uint32_t *mark) { munmap(mark, sizeof(uint32_t)); }
