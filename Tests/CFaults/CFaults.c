#define _GNU_SOURCE
#include "CFaults.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "CProcess.h"

static volatile int zero;
static volatile char sink;

__attribute__((noinline)) static int overflow(volatile char *above) {
  volatile char frame[4096];
  frame[0] = above[0];
  // Never so, which the compiler cannot know.
  if (zero != 0) return 0;
  return overflow(frame) + frame[0];
}

static void *touch_nothing(void *argument) {
  *(volatile int *)(uintptr_t)(16 + zero) = 1;
  return argument;
}

static void read_shortened(const char *path) {
  const int file = open(path, O_RDWR);
  const volatile char *bytes = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
  if (ftruncate(file, 0) == 0) sink = bytes[0];
}

static void end(cf_way way, const char *mapped) {
  switch (way) {
    case CF_NULL_POINTER: touch_nothing(NULL); break;
    case CF_TRAP: __builtin_trap();
    case CF_ABORT: abort();
    // Not every CPU traps where it divides by zero.
    case CF_DIVISION: raise(SIGFPE); break;
    case CF_STACK_OVERFLOW: sink = (char)overflow(&sink); break;
    case CF_SHORTENED_FILE: read_shortened(mapped); break;
    case CF_OUT_OF_MEMORY: cpr_end_out_of_memory(12345);
    case CF_SIGNAL_OF_ANOTHER: {
      if (fork() == 0) {
        kill(getppid(), SIGSEGV);
        _exit(0);
      }
      while (1) pause();
    }
    case CF_TERMINATION: raise(SIGTERM); break;
    case CF_QUIT: raise(SIGQUIT); break;
    case CF_TIME_LIMIT: raise(SIGXCPU); break;
    case CF_FAULT_OF_A_THREAD: {
      pthread_t thread;
      if (pthread_create(&thread, NULL, touch_nothing, NULL) == 0) pthread_join(thread, NULL);
      break;
    }
  }
  _exit(99);
}

int32_t cf_end_child(
    cf_way way, const char *partial, const char *mapped, char *text, size_t capacity) {
  int ends[2];
  if (pipe(ends) != 0) return 1000;
  const pid_t child = fork();
  if (child < 0) return 1001;
  if (child == 0) {
    const struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    // A test's thread may block signals, and its process ignore them.
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int number = 1; number < 32; number += 1) signal(number, SIG_DFL);
    unsetenv("AFM_DEBUG_SIGNALS");
    cpr_install("program");
    cpr_note_partial(partial);
    end(way, mapped);
  }
  close(ends[1]);
  size_t length = 0;
  ssize_t count;
  while (length + 1 < capacity && (count = read(ends[0], text + length, capacity - length - 1)) > 0) {
    length += (size_t)count;
  }
  text[length] = 0;
  close(ends[0]);
  int status = 0;
  if (waitpid(child, &status, 0) != child) return 1002;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}
