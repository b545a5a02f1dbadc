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

int32_t cp_thread_start(void *(*body)(void *), void *argument, uintptr_t *thread) {
  sigset_t all, before;
  sigfillset(&all);
  // A thread begins with the mask of the one that starts it.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t started;
  const int error = pthread_create(&started, NULL, body, argument);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error == 0) *thread = (uintptr_t)started;
  return error;
}

void cp_thread_join(uintptr_t thread) { pthread_join((pthread_t)thread, NULL); }
